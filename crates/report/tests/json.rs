//! JSON: like fio's, as documented, and complete.

mod common;

use common::{analyses, trials, troubled};
use iotax_analyze::{Analysis, Metric};
use iotax_record::ExperimentHead;
use iotax_report::{COMPARE_FORMAT, json_compare, json_run};
use iotax_wording::verdict::verdict;
use serde_json::Value;

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn run(open_loop: bool) -> Value {
    parse(&json_run(&common::run(), &analyses::run(), &trials::run(open_loop)))
}

fn fio() -> Value {
    parse(include_str!("fixtures/fio-3.33.json"))
}

/// Keys that fio has and we lack, or have with another type, below `path`.
fn missing(fio: &Value, ours: &Value, path: &str, found: &mut Vec<String>) {
    let kind = |v: &Value| match v {
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        _ => "other",
    };
    if kind(fio) != kind(ours) {
        found.push(format!("{path}: {} instead of {}", kind(ours), kind(fio)));
    }
    // Their keys depend on what was asked for and measured.
    if ["bins", "job options"].contains(&path.rsplit('.').next().unwrap_or_default()) {
        return;
    }
    if let (Some(fio), Some(ours)) = (fio.as_object(), ours.as_object()) {
        for (key, value) in fio {
            match ours.get(key) {
                Some(our) => missing(value, our, &format!("{path}.{key}"), found),
                None => found.push(format!("{path}.{key}: missing")),
            }
        }
    }
}

#[test]
fn every_key_of_a_real_fio_output_is_there() {
    let (fio, ours) = (fio(), run(false));
    let mut found = Vec::new();
    let strip = |mut root: Value| {
        root["jobs"] = Value::Array(Vec::new());
        root
    };
    missing(&strip(fio.clone()), &strip(ours.clone()), "", &mut found);
    let (mut theirs, mut our) = (fio["jobs"][0].clone(), ours["jobs"][0].clone());
    // This run did no fsync: then neither program has percentiles for it.
    theirs["sync"]["lat_ns"]
        .as_object_mut()
        .unwrap()
        .retain(|k, _| k != "percentile" && k != "bins");
    assert!(our["sync"]["lat_ns"].get("percentile").is_none());
    missing(&theirs, &our, "jobs[0]", &mut found);
    assert_eq!(found, [""; 0]);
    our.as_object_mut().unwrap().remove("read");
    missing(&theirs, &our, "jobs[0]", &mut found);
    assert_eq!(found, ["jobs[0].read: missing"], "the comparison itself works");
}

#[test]
fn percentile_keys_are_fios_in_fios_order() {
    let keys = |text: &str| -> Vec<String> {
        let inner = text.split("\"percentile\"").nth(1).unwrap().split('}').next().unwrap();
        let lines = inner.lines().filter_map(|line| line.trim().strip_prefix('"'));
        lines.filter_map(|line| Some(line.split_once('"')?.0.to_owned())).collect()
    };
    let ours = keys(&json_run(&common::run(), &analyses::run(), &trials::run(false)));
    assert_eq!(ours, keys(include_str!("fixtures/fio-3.33.json")));
    assert_eq!(ours.len(), 17);
}

#[test]
fn what_parsers_of_fio_read_has_the_right_value() {
    let root = run(false);
    let read = &root["jobs"][0]["read"];
    assert_eq!(root["fio version"], "iotax-0.1.0");
    // Three usable trials of two seconds; the interrupted one does not count.
    assert_eq!(read["total_ios"], 21_000);
    assert_eq!(read["io_bytes"], 21_000 * 4096);
    assert_eq!(read["runtime"], 6_000);
    assert_eq!(read["iops"], 3_500.0);
    assert_eq!(read["bw_bytes"], 3_500 * 4096);
    assert_eq!(read["bw"], 14_000, "KiB/s");
    assert_eq!(read["iops_mean"], 3_500.0);
    assert_eq!((&read["iops_samples"], &read["iops_stddev"]), (&6.into(), &0.0.into()));
    assert_eq!(read["bw_mean"], 14_000.0);
    let p99 = read["clat_ns"]["percentile"]["99.000000"].as_u64().unwrap();
    assert!((29_600..=30_000).contains(&p99), "{p99}");
    assert_eq!(read["clat_ns"]["N"], 21_000);
    let bins = read["clat_ns"]["bins"].as_object().unwrap();
    assert_eq!(bins.values().filter_map(Value::as_u64).sum::<u64>(), 21_000);
    assert_eq!(read["cpu_ns_per_io"], 2_000.0, "3 x 20 ms for 30,000 I/Os");
    let job = &root["jobs"][0];
    assert_eq!((&job["error"], &read["errors"]), (&5.into(), &1.into()));
    assert_eq!(job["first_error"], "read at 4096: Input/output error");
    assert_eq!(job["iodepth_level"]["4"], 100.0);
    assert_eq!(job["job_runtime"], 12_000);
    assert_eq!(job["trim"]["total_ios"], 0);
    assert!(job["trim"]["clat_ns"].get("percentile").is_none());
    assert_eq!(job["trim"]["cpu_ns_per_io"], Value::Null);
}

#[test]
fn lat_counts_from_the_intended_start_and_clat_from_submission() {
    let mean = |root: &Value, key: &str| root["jobs"][0]["read"][key]["mean"].as_f64().unwrap();
    let closed = run(false);
    assert_eq!(mean(&closed, "lat_ns"), mean(&closed, "clat_ns"));
    let open = run(true);
    let waited = mean(&open, "lat_ns") - mean(&open, "clat_ns");
    assert!((waited - 3_000.0).abs() < 30.0, "{waited}");
}

#[test]
fn a_run_without_a_usable_trial_is_all_zeros() {
    let root = parse(&json_run(&common::run(), &analyses::run(), &[]));
    assert_eq!(root["jobs"][0]["read"]["iops"], 0.0);
    assert_eq!(root["jobs"][0]["latency_us"]["2"], 0.0);
    assert!(root["jobs"][0]["read"]["clat_ns"].get("percentile").is_none());
}

#[test]
fn a_comparison_says_who_against_whom_in_what() {
    let root = parse(&json_compare(&common::compare(), &analyses::compare()));
    assert_eq!(root["json_format"], COMPARE_FORMAT);
    assert_eq!((&root["kind"], &root["baseline"]), (&"compare".into(), &"base".into()));
    let first = &root["comparisons"][0];
    assert_eq!((&first["arm"], &first["metric"]), (&"luks".into(), &"throughput".into()));
    assert_eq!([&first["tax"], &first["lo"], &first["hi"]], [&0.2301, &0.2109, &0.249]);
    assert_eq!((&first["verdict"], &first["blocks"]), (&"slower".into(), &12.into()));
    assert!(first.get("layer").is_none());
    let overloaded = &root["comparisons"][5];
    assert_eq!((&overloaded["tax"], &overloaded["verdict"]), (&Value::Null, &"overloaded".into()));
    // What differs most comes first.
    let sentences = verdict(&common::compare(), &analyses::compare());
    assert_eq!(root["verdict"], Value::from(sentences.clone()));
    for (sentence, [arm, size]) in sentences.iter().zip([["cap ", "2.13x"], ["luks ", "23 %"]]) {
        assert!(sentence.starts_with(arm) && sentence.contains(size), "{sentence}");
    }

    let peel = parse(&json_compare(&common::peel(), &analyses::peel()));
    assert_eq!((&peel["kind"], &peel["comparisons"][0]["layer"]), (&"peel".into(), &"aes".into()));
    assert!(peel["attribution"]["layers"][0]["shapley_ns"]["value"].is_number());
}

/// The schemas list every key and allow no other, so a key without documentation fails here.
#[test]
fn outputs_keep_to_their_schemas() {
    let compare = parse(include_str!("../../../docs/schema/compare.schema.json"));
    let run_schema = parse(include_str!("../../../docs/schema/run.schema.json"));
    let check = |schema: &Value, output: &Value| {
        let validator = jsonschema::validator_for(schema).unwrap();
        let errors: Vec<_> =
            validator.iter_errors(output).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert_eq!(errors, [""; 0]);
    };
    let all: [fn() -> (ExperimentHead, Analysis); 15] = [
        || (common::peel(), analyses::peel()),
        || (common::compare(), analyses::compare()),
        || (common::compare(), troubled::warned()),
        || (common::compare(), troubled::masked()),
        || (common::compare(), troubled::ruled()),
        || (common::compare(), analyses::on_files()),
        || (common::compare(), troubled::stalled()),
        || (common::compare(), troubled::withheld()),
        || (common::compare(), common::machine::compare()),
        || (common::hostile(), troubled::hostile()),
        || (common::matrix::compare(), common::matrix::found()),
        || (common::fleet::compare(), common::fleet::found()),
        || (common::run(), analyses::run()),
        || (common::compare(), analyses::syncing(analyses::compare())),
        || (common::on_a_vm(), analyses::compare()),
    ];
    for made in all {
        let (experiment, analysis) = made();
        check(&compare, &parse(&json_compare(&experiment, &analysis)));
    }
    for output in [run(false), run(true)] {
        check(&run_schema, &output);
        check(&compare, &output["iotax"]);
    }
    let documented = &compare["$defs"]["comparison"]["properties"]["metric"]["enum"];
    let known: Vec<Value> = Metric::ALL.iter().map(|metric| metric.id().into()).collect();
    assert_eq!(documented, &Value::from(known));
    let mut wrong = run(false);
    wrong["jobs"][0]["read"]["iops"] = "many".into();
    assert!(!jsonschema::is_valid(&run_schema, &wrong), "the schema refuses what is wrong");
}
