//! What holds in every row that is printed, whatever was measured; and what each of these reports
//! says, so that a change of words cannot hide one of meaning.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{analyses, pages, trials};
use iotax_record::ExperimentHead;
use iotax_report::{SearchResult, Style, experiment, json_compare, json_run, search_json, text};
use serde_json::{Value, json};

/// What figures that belong together may be apart, as a share.
const LITTLE: f64 = 0.05;
const ROUNDED: f64 = 1e-3;

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn rows<'a>(of: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    of[list].as_array().into_iter().flatten()
}

/// Each object within a value, and where it is.
fn objects<'a>(value: &'a Value, path: &str, found: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                objects(item, &format!("{path}[{at}]"), found);
            }
        }
        Value::Object(fields) => {
            found.push((path.to_owned(), value));
            for (key, field) in fields {
                objects(field, &format!("{path}.{key}"), found);
            }
        }
        _ => {}
    }
}

/// Throughput times mean latency is what is in flight, unless the report itself doubts that.
fn littles_law(head: &ExperimentHead, shown: &Value) -> Vec<String> {
    let workload = head.spec.workload();
    let asked = workload.primary_job().filter(|_| !workload.is_open_loop());
    let is_doubted = |arm: &Value| {
        rows(shown, "warnings")
            .any(|one| one["check"] == "littles_law" && one["arm"] == arm["name"])
    };
    let mut pairs = Vec::new();
    for arm in rows(shown, "arms").filter(|arm| !is_doubted(arm)) {
        let of_syncs = arm["sync"]["mean_ns"].as_f64().unwrap_or(0.0);
        let each_ns = arm["mean_latency_ns"].as_f64().unwrap() + of_syncs;
        let in_flight = arm["iops"].as_f64().unwrap() * each_ns / 1e9;
        // A trial that completed nothing has a rate and no latency.
        if let Some(job) = asked.filter(|_| in_flight > 0.0 && arm["stalled_trials"].is_null()) {
            // A thread waits for each of its syncs.
            let most = if of_syncs > 0.0 { job.threads } else { job.in_flight() };
            pairs.push((arm["name"].to_string(), in_flight, f64::from(most)));
        }
    }
    for arm in rows(shown, "depths") {
        for level in rows(arm, "levels") {
            let [asked, iops, each_ns] =
                ["in_flight", "iops", "mean_latency_ns"].map(|key| level[key].as_f64().unwrap());
            pairs.push((format!("{} at {asked}", arm["arm"]), iops * each_ns / 1e9, asked));
        }
    }
    let wrong = pairs.into_iter().filter(|(_, has, asked)| (has / asked - 1.0).abs() > LITTLE);
    wrong.map(|(of, has, asked)| format!("in flight: {of} has {has} of {asked}")).collect()
}

/// Parts add up to the whole: layers to the stack, operations to all of them, reads and writes to
/// I/Os, bins to 100 %.
fn shares(shown: &Value) -> Vec<String> {
    let mut sums: Vec<(String, Vec<f64>, f64)> = Vec::new();
    let numbers = |of: &Value| -> Vec<f64> {
        of.as_object().into_iter().flatten().filter_map(|(_, n)| n.as_f64()).collect()
    };
    if let Some(total) = shown["attribution"]["total_ns"]["value"].as_f64() {
        let layers = rows(&shown["attribution"], "layers");
        let each: Option<Vec<f64>> =
            layers.map(|one| one["shapley_ns"]["value"].as_f64()).collect();
        sums.extend(each.map(|each| ("layers".to_owned(), each, total)));
    }
    for arm in rows(shown, "arms") {
        let each = rows(arm, "operations").filter_map(|done| done["share"].as_f64());
        sums.push((format!("operations of {}", arm["name"]), each.collect(), 1.0));
        if let Some(together) = arm["together"]["iops"].as_f64() {
            let each = rows(arm, "targets").filter_map(|one| one["rates"]["iops"].as_f64());
            sums.push((format!("targets of {}", arm["name"]), each.collect(), together));
        }
    }
    for job in rows(shown, "jobs") {
        let units = ["latency_ns", "latency_us", "latency_ms"];
        let bins = units.into_iter().flat_map(|unit| numbers(&job[unit]));
        sums.push(("latencies".to_owned(), bins.collect(), 100.0));
        sums.push(("depths".to_owned(), numbers(&job["iodepth_level"]), 100.0));
        let ios = ["read", "write", "trim"].map(|way| job[way]["total_ios"].as_f64().unwrap());
        let rates = ["read", "write", "trim"].map(|way| job[way]["iops"].as_f64().unwrap());
        let seconds = job["read"]["runtime"].as_f64().unwrap() / 1e3;
        sums.push(("I/Os".to_owned(), ios.to_vec(), rates.iter().sum::<f64>() * seconds));
    }
    let mut wrong = Vec::new();
    for (what, parts, whole) in sums.into_iter().filter(|(_, parts, _)| !parts.is_empty()) {
        let sum: f64 = parts.iter().sum();
        if (sum - whole).abs() > ROUNDED * whole {
            wrong.push(format!("sum: {what} come to {sum} of {whole}"));
        }
    }
    wrong
}

/// Every interval holds its estimate.
fn intervals(shown: &Value) -> Vec<String> {
    let mut all = Vec::new();
    objects(shown, "", &mut all);
    let mut held: Vec<(String, f64, [f64; 2])> = Vec::new();
    for (path, one) in all {
        let ends = one["lo"].as_f64().zip(one["hi"].as_f64());
        let mut estimates = ["value", "tax", "cap", "phi"].into_iter();
        let estimate = estimates.find_map(|key| one[key].as_f64());
        held.extend(estimate.zip(ends).map(|(of, (lo, hi))| (path.clone(), of, [lo, hi])));
        // The ends alone, where an estimate would hide that it depends on something.
        if let (None, Some((lo, hi))) = (estimate, ends) {
            held.push((path.clone(), f64::midpoint(lo, hi), [lo, hi]));
        }
        for (estimate, ends) in [
            ("iops", "iops_interval"),
            ("bytes_per_s", "bytes_per_s_interval"),
            ("latency_ns", "latency_interval_ns"),
        ] {
            if let (Some(of), [Some(lo), Some(hi)]) =
                (one[estimate].as_f64(), [0, 1].map(|end| one[ends][end].as_f64()))
            {
                held.push((format!("{path}.{estimate}"), of, [lo, hi]));
            }
        }
        if let [Some(of), Some(lo), Some(hi)] = [0, 1, 2].map(|at| one["found"][at].as_f64()) {
            held.push((format!("{path}.found"), of, [lo, hi]));
        }
    }
    let wrong = held.into_iter().filter(|(_, of, [lo, hi])| !(lo <= of && of <= hi));
    wrong.map(|(path, of, ends)| format!("interval: {path} is {of} in {ends:?}")).collect()
}

/// Percentiles ascend, up to the longest.
fn percentiles(shown: &Value) -> Vec<String> {
    let mut all = Vec::new();
    objects(shown, "", &mut all);
    let mut wrong = Vec::new();
    for (path, one) in all {
        let mut points: Vec<(f64, f64)> = rows(one, "latency")
            .filter_map(|point| point["q"].as_f64().zip(point["latency_ns"].as_f64()))
            .collect();
        let of_fio = one["percentile"].as_object().into_iter().flatten();
        points.extend(of_fio.filter_map(|(q, ns)| q.parse().ok().zip(ns.as_f64())));
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let named = [(0.99, "p99_latency_ns"), (0.99, "p99_ns"), (0.999, "p999_latency_ns")];
        points.extend(named.iter().filter_map(|(q, key)| Some((*q, one[*key].as_f64()?))));
        let mut latencies: Vec<f64> = points.iter().map(|(_, ns)| *ns).collect();
        latencies
            .extend(one["max_ns"].as_f64().or(one["max"].as_f64()).filter(|_| !points.is_empty()));
        if !latencies.is_sorted() {
            wrong.push(format!("percentiles: {path} has {latencies:?}"));
        }
    }
    wrong
}

/// How many blocks, or how much time, would decide: told once on a page.
fn forecasts(page: &str) -> Vec<String> {
    let text = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let words =
        ["takes about", "would probably take", "would be enough for a verdict", "more such block"];
    let told: usize = words.iter().map(|words| text.matches(words).count()).sum();
    if told > 1 { vec![format!("forecast: told {told} times")] } else { Vec::new() }
}

/// All that is wrong with an experiment as JSON.
fn wrong(head: &ExperimentHead, shown: &Value) -> Vec<String> {
    [littles_law(head, shown), shares(shown), intervals(shown), percentiles(shown)].concat()
}

fn runs() -> [Value; 2] {
    [false, true].map(|open_loop| {
        parse(&json_run(&common::run(), &analyses::run(), &trials::run(open_loop)))
    })
}

fn searches() -> [Value; 2] {
    let (storage, path) = (common::search::search(&[]), common::search::path());
    [storage, path].map(|(head, caps)| {
        parse(&search_json(SearchResult { head: &head, caps: &caps, end: None }))
    })
}

#[test]
fn every_printed_row_keeps_to_the_laws() {
    let mut found = Vec::new();
    for (name, head, analysis) in pages::experiments() {
        let shown = parse(&json_compare(&head, &analysis));
        let page = text(&experiment(&head, &analysis), Style::default());
        let all = [wrong(&head, &shown), forecasts(&page)].concat();
        found.extend(all.into_iter().map(|what| format!("{name}: {what}")));
    }
    for shown in runs().iter().chain(&searches()) {
        found.extend([shares(shown), intervals(shown), percentiles(shown)].concat());
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What is broken, how, and what is then said of it.
type Broken = (&'static str, fn(&mut Value), &'static str);

#[test]
fn a_row_that_breaks_one_is_noticed() {
    let broken: [Broken; 12] = [
        ("compare", |it| it["arms"][1]["iops"] = json!(70_000.0), "in flight: \"luks\""),
        ("masked", |it| it["depths"][0]["levels"][0]["iops"] = json!(1.0), "in flight: "),
        ("syncs", |it| it["arms"][0]["sync"]["mean_ns"] = json!(1.0), "in flight: \"base\""),
        (
            "peel",
            |it| it["attribution"]["layers"][0]["shapley_ns"]["value"] = json!(4_920),
            "sum: layers",
        ),
        (
            "files",
            |it| it["arms"][0]["operations"][1]["share"] = json!(0.9),
            "sum: operations of \"base\"",
        ),
        ("compare", |it| it["comparisons"][0]["tax"] = json!(0.3), "interval: .comparisons[0]"),
        (
            "peel",
            |it| it["attribution"]["total_ns"]["hi"] = json!(9_000.0),
            "interval: .attribution.total_ns",
        ),
        (
            "matrix",
            |it| it["matrix"]["shifts"][0]["iops"] = json!(0.5),
            "interval: .matrix.shifts[0].iops",
        ),
        ("ruled", |it| it["rules"][0]["found"]["lo"] = json!(0.35), "interval: .rules[0].found"),
        (
            "compare",
            |it| it["arms"][0]["latency"][9]["latency_ns"] = json!(1),
            "percentiles: .arms[0]",
        ),
        (
            "peel",
            |it| it["arms"][0]["other_jobs"][0]["p999_latency_ns"] = json!(7),
            "percentiles: .arms[0].other_jobs[0]",
        ),
        (
            "files",
            |it| it["arms"][0]["operations"][0]["max_ns"] = json!(7),
            "percentiles: .arms[0].operations[0]",
        ),
    ];
    let all = pages::experiments();
    for (name, breaks, said) in broken {
        let (_, head, analysis) = all.iter().find(|(own, ..)| *own == name).unwrap();
        let mut shown = parse(&json_compare(head, analysis));
        breaks(&mut shown);
        let found = wrong(head, &shown);
        assert!(found.iter().any(|what| what.starts_with(said)), "{name}: {said}: {found:?}");
    }
    let mut run = runs()[0].clone();
    run["jobs"][0]["read"]["total_ios"] = json!(7);
    run["jobs"][0]["iodepth_level"]["4"] = json!(90.0);
    assert_eq!(shares(&run).len(), 2, "{:?}", shares(&run));
    let mut caps = searches()[0].clone();
    caps["targets"][0]["iops"]["lo"] = json!(1e12);
    assert_eq!(intervals(&caps).len(), 1, "{:?}", intervals(&caps));
    assert_eq!(forecasts("a verdict takes about 31 blocks; 4 more such blocks decide").len(), 1);
}

/// The verdicts of a report, the exit code that its rules make, and its first figures.
fn facts(head: &ExperimentHead, shown: &Value) -> String {
    let mut verdicts: Vec<(String, usize)> = Vec::new();
    for comparison in rows(shown, "comparisons") {
        let verdict = comparison["verdict"].as_str().unwrap().to_owned();
        match verdicts.iter_mut().find(|(known, _)| *known == verdict) {
            Some((_, count)) => *count += 1,
            None => verdicts.push((verdict, 1)),
        }
    }
    let verdicts: Vec<String> = verdicts.iter().map(|(word, n)| format!("{n} {word}")).collect();
    let is_broken = rows(shown, "rules").any(|rule| rule["outcome"] == "fail");
    let first = &shown["comparisons"][0];
    let [tax, lo, hi] = ["tax", "lo", "hi"].map(|key| first[key].as_f64().unwrap_or(f64::NAN));
    let iops = shown["arms"][0]["iops"].as_f64().unwrap();
    let arms = head.spec.arms.len();
    format!(
        "exit {}; {}; {tax:.3} [{lo:.3}, {hi:.3}]; {arms} from {iops:.0} IOPS",
        u8::from(is_broken),
        verdicts.join(", ")
    )
}

#[test]
fn each_report_has_these_verdicts_and_figures() {
    let compared = "exit 0; 3 slower, 2 undecided, 1 overloaded, 2 equivalent; \
                    0.230 [0.211, 0.249]; 5 from 85312 IOPS";
    let expected = [
        ("run", "exit 0; ; NaN [NaN, NaN]; 1 from 412000 IOPS"),
        ("compare", compared),
        (
            "factors",
            "exit 0; 2 slower, 1 faster, 2 undecided, 1 equivalent; 0.860 [0.710, 0.930]; 5 from \
             85312 IOPS",
        ),
        (
            "warned",
            "exit 0; 2 slower, 4 undecided, 2 equivalent; 0.230 [0.211, 0.249]; 5 from 85312 IOPS",
        ),
        ("masked", "exit 0; 1 masked; 0.001 [-0.002, 0.004]; 5 from 85312 IOPS"),
        ("ruled", &compared.replace("exit 0", "exit 1")),
        (
            "stalled",
            "exit 0; 1 slower, 1 undecided, 1 no information, 1 effect changed; NaN [NaN, NaN]; 5 \
             from 85312 IOPS",
        ),
        (
            "withheld",
            "exit 0; 3 undecided, 1 effect changed; -0.200 [-0.220, -0.180]; 5 from 85312 IOPS",
        ),
        ("files", compared),
        ("syncs", &compared.replace("85312", "5566")),
        ("machine", compared),
        ("cloud", compared),
        ("two", "exit 0; 2 slower; 0.230 [0.211, 0.249]; 2 from 85312 IOPS"),
        ("peel", "exit 0; 6 slower, 1 equivalent; 0.128 [0.109, 0.147]; 4 from 128000 IOPS"),
        ("matrix", "exit 0; 1 undecided, 4 slower; -0.033 [-0.053, -0.013]; 6 from 85312 IOPS"),
        ("fleet", "exit 0; 17 equivalent, 2 slower; 0.003 [-0.017, 0.023]; 20 from 84745 IOPS"),
        ("nodes-2", "exit 0; 1 faster, 1 slower; -0.449 [-0.469, -0.429]; 2 from 83595 IOPS"),
        (
            "nodes-5",
            "exit 0; 3 equivalent, 1 slower, 1 undecided; 0.017 [-0.003, 0.037]; 5 from 83595 IOPS",
        ),
        ("nodes-24", "exit 0; ; NaN [NaN, NaN]; 24 from 83595 IOPS"),
    ];
    let found: Vec<_> = pages::experiments()
        .iter()
        .map(|(name, head, analysis)| (*name, facts(head, &parse(&json_compare(head, analysis)))))
        .collect();
    let found: Vec<_> = found.iter().map(|(name, facts)| (*name, facts.as_str())).collect();
    assert_eq!(found, expected);
}
