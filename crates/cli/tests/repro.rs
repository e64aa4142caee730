//! A record to a bundle, and the bundle run by a shell and fio alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use iotax_testing::needs_program;
use serde_json::{Value, json};
use support::Desk;

/// A record of two short trials of each of two directories.
fn record(desk: &Desk) {
    for arm in ["a", "b"] {
        fs::create_dir(desk.path().join(arm)).unwrap();
    }
    let load = ["--time", "200ms", "--ramp", "50ms", "--max-blocks", "2", "--seed", "7"];
    let job = ["-w", "mixed-70-30", "--set", "engine=psync", "--set", "size=4M"];
    let options = ["compare", "base=a", "other=b", "--set", "direct=false", "--out", "rec"];
    let said = desk.run(&[&options[..], &load, &job].concat());
    assert_eq!(said.code, 0, "{said}");
}

/// Runs the bundle's script with the shell of the system.
fn script(desk: &Desk, bundle: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.arg(desk.path().join(bundle).join("run.sh")).args(args).current_dir(desk.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(desk: &Desk, bundle: &str, args: &[&str]) -> Output {
    script(desk, bundle, args).output().unwrap()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).unwrap().next().is_none()
}

/// Changes the head of the record.
fn edit(desk: &Desk, change: impl Fn(&mut Value)) {
    let path = desk.path().join("rec/experiment.json");
    let mut head: Value = serde_json::from_str(&read(&path)).unwrap();
    change(&mut head);
    fs::write(path, head.to_string()).unwrap();
}

#[test]
fn a_bundle_makes_the_recorded_trials_with_fio() {
    let desk = Desk::new();
    record(&desk);
    let said = desk.run(&["repro", "rec", "--out", "bundle"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(desk.path().join("bundle.tar.gz").exists());
    let expected = read(&desk.path().join("bundle/expected.txt"));
    assert!(expected.contains("IOPS") && expected.contains("p99.9 us"), "{expected}");
    if !needs_program("fio") {
        return;
    }
    let output = run(&desk, "bundle", &["base=a", "other=b", "--out", "out"]);
    assert!(output.status.success(), "{output:?}");
    let order = read(&desk.path().join("bundle/order.txt"));
    assert_eq!(order.lines().count(), 4, "{order}");
    for line in order.lines() {
        let [block, _, arm, _] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let block: u32 = block.parse().unwrap();
        let result = read(&desk.path().join(format!("out/{arm}-{block:03}.json")));
        let result: Value = serde_json::from_str(&result[result.find('{').unwrap()..]).unwrap();
        let job = &result["jobs"][0];
        let options = &job["job options"];
        let done = ["rw", "bs", "iodepth", "numjobs", "ioengine", "size", "rwmixread"];
        let done = done.map(|option| options[option].as_str().unwrap_or_default());
        assert_eq!(done, ["randrw", "4k", "1", "1", "psync", "4M", "70"]);
        for way in ["read", "write"] {
            assert!(job[way]["total_ios"].as_u64().unwrap() > 0, "{way} {line}");
            assert!(!job[way]["clat_ns"]["bins"].as_object().unwrap().is_empty());
        }
    }
    let summary = read(&desk.path().join("out/summary.txt"));
    let head = |text: &str| text.lines().find(|line| line.starts_with("arm ")).map(str::to_owned);
    assert_eq!(head(&summary), head(&expected), "the same columns");
    for arm in ["base", "other"] {
        let row = summary.lines().find(|line| line.starts_with(arm)).unwrap();
        let figures = row.split_whitespace().skip(2).map(|figure| figure.parse::<f64>().unwrap());
        let figures: Vec<f64> = figures.collect();
        assert!(figures.len() == 6 && figures.iter().all(|figure| *figure > 0.0), "{summary}");
    }
    assert!(is_empty(&desk.path().join("a")) && is_empty(&desk.path().join("b")));
}

#[test]
fn the_script_is_plain_posix_shell() {
    let desk = Desk::new();
    record(&desk);
    assert_eq!(desk.run(&["repro", "rec", "--out", "bundle"]).code, 0);
    if needs_program("shellcheck") {
        let path = desk.path().join("bundle/run.sh");
        let output = Command::new("shellcheck").args(["-s", "sh"]).arg(path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn a_job_that_would_be_another_one_is_left_out() {
    let desk = Desk::new();
    record(&desk);
    edit(&desk, |head| {
        head["spec"]["phases"][0]["jobs"][0]["fio"] = json!([
            { "name": "rw", "value": "randtrim", "place": "a.fio, line 2", "beyond": "trims" },
        ]);
    });
    let said = desk.run(&["repro", "rec", "--out", "bundle"]);
    insta::assert_snapshot!(said, @"
    error: fio cannot run any job in this record:
    job io is left out because it needs option rw: bundles use only fio options that access nothing outside the target
    [exit 2]
    ");
    assert!(!desk.path().join("bundle").exists());
}

#[test]
fn names_in_a_record_break_out_of_nothing() {
    let desk = Desk::new();
    record(&desk);
    let hostile =
        "x'\"; touch pwned; `touch pwned` $(touch pwned)\n[y]\nexec_prerun=touch pwned\t|";
    let option = |name: &str, value: &str| json!({ "name": name, "value": value, "place": hostile, "beyond": null });
    edit(&desk, |head| {
        head["spec"]["phases"][0]["name"] = hostile.into();
        head["spec"]["phases"][0]["notes"] = json!([hostile]);
        head["spec"]["phases"][0]["primary"] = hostile.into();
        head["command"] = json!([hostile]);
        let job = &mut head["spec"]["phases"][0]["jobs"][0];
        job["name"] = hostile.into();
        job["files"] = json!({ "shared": format!("../{hostile}") });
        job["fio"] = json!([
            option("exec_prerun", "touch pwned"),
            option("description", hostile),
            option("ioengine", "exec"),
            option("filename", "/etc/passwd"),
            option("description", "${HOME}"),
            option(hostile, "1"),
        ]);
        for arm in 0..2 {
            head["spec"]["arms"][arm]["name"] = format!("{hostile}{arm}").into();
            head["sites"][arm]["target"] = hostile.into();
            head["sites"][arm]["kind"] = hostile.into();
        }
    });
    let path = desk.path().join("rec/trials.jsonl");
    let rename = |line: &str| {
        let mut trial: Value = serde_json::from_str(line).unwrap();
        let arm = usize::from(trial["arm"] == "other");
        trial["arm"] = format!("{hostile}{arm}").into();
        format!("{trial}\n")
    };
    let trials: String = read(&path).lines().map(rename).collect();
    fs::write(&path, trials).unwrap();

    let said = desk.run(&["repro", "rec", "--out", "bundle", "--format", "json"]);
    assert_eq!(said.code, 0, "{said}");
    let told: Value = serde_json::from_str(&said.out).unwrap();
    let arms = told["arms"].as_array().unwrap();
    let given: Vec<String> = arms
        .iter()
        .zip(["a", "b"])
        .map(|(arm, dir)| format!("{}={dir}", arm["id"].as_str().unwrap()))
        .collect();
    let job_file = read(&desk.path().join("bundle/jobs/01-directory.fio"));
    assert_eq!(job_file.lines().filter(|line| line.starts_with('[')).count(), 1, "{job_file}");
    for line in job_file.lines().filter(|line| !line.starts_with('#')) {
        let breaks_out = line.starts_with("exec") || line.starts_with("description");
        assert!(!breaks_out && !line.contains("/etc") && !line.contains('$'), "{job_file}");
    }
    assert_eq!(read(&desk.path().join("bundle/arms.txt")).lines().count(), 2);
    if needs_program("fio") {
        let arguments = [&given[0], &given[1], "--out", "out"];
        let output = run(&desk, "bundle", &arguments);
        assert!(output.status.success(), "{output:?}");
    }
    let pwned = files_below(desk.path());
    let pwned: Vec<_> = pwned.iter().filter(|path| path.ends_with("pwned")).collect();
    assert!(pwned.is_empty(), "{pwned:?}");
}

#[test]
fn who_and_where_is_redacted_everywhere_unless_it_is_to_be_kept() {
    let desk = Desk::new();
    record(&desk);
    edit(&desk, |head| {
        head["hosts"][0]["environment"]["host"] = "topsecret7".into();
        head["hosts"][0]["environment"]["kernel"] = "6.1 (builder@topsecret8)".into();
        head["command"] = json!(["iotax", "compare", "base=/home/jdoe/a", "other=b"]);
        head["sites"][0]["target"] = "/home/jdoe/a".into();
        head["sites"][0]["notes"] = json!(["filer9:/export from 10.9.8.7, fd00:9::1", "of jdoe"]);
        head["spec"]["arms"][0]["target"] = json!({ "path": "/home/jdoe/a" });
        head["spec"]["arms"][1]["target"] =
            json!({ "path": "/mnt/topsecret7/i-0abc1234def567890" });
    });
    assert_eq!(desk.run(&["repro", "rec", "--out", "bundle"]).code, 0);
    let kept = desk.run(&["repro", "rec", "--out", "kept", "--no-redact"]);
    assert_eq!(kept.code, 0, "{kept}");
    let all = |bundle: &str| -> String {
        files_below(&desk.path().join(bundle)).iter().map(|path| read(path)).collect()
    };
    let (redacted, kept) = (all("bundle"), all("kept"));
    for secret in ["topsecret7", "topsecret8", "jdoe", "filer9", "10.9.8.7", "fd00:9", "0abc1234"] {
        assert!(!redacted.contains(secret), "{secret}");
        assert!(kept.contains(secret), "{secret}");
    }
    let arms = read(&desk.path().join("bundle/arms.txt"));
    assert!(arms.contains("/home/user-1/a") && arms.contains("/mnt/host-1/path-"), "{arms}");
    let key: Value = serde_json::from_str(&read(&desk.path().join("bundle.key.json"))).unwrap();
    assert_eq!((&key["host-1"], &key["user-1"]), (&json!("topsecret7"), &json!("jdoe")));
    assert!(!desk.path().join("kept.key.json").exists(), "nothing was replaced");
}

#[test]
fn an_interrupted_script_leaves_nothing() {
    if !needs_program("fio") {
        return;
    }
    let desk = Desk::new();
    record(&desk);
    assert_eq!(desk.run(&["repro", "rec", "--out", "bundle"]).code, 0);
    let jobs = desk.path().join("bundle/jobs/01-directory.fio");
    fs::write(&jobs, read(&jobs).replace("runtime=200000us", "runtime=600s")).unwrap();
    let child = script(&desk, "bundle", &["base=a", "other=b", "--out", "out"]).spawn().unwrap();
    // fio opens the file of its results when a trial begins.
    let results = ["base", "other"].map(|arm| desk.path().join(format!("out/{arm}-001.json")));
    let started = Instant::now();
    while !results.iter().any(|result| result.exists()) {
        assert!(started.elapsed() < Duration::from_mins(2), "waited two minutes for a trial");
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = terminate(child);
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(is_empty(&desk.path().join("a")) && is_empty(&desk.path().join("b")));
    assert!(!desk.path().join("out").exists());
}

fn terminate(child: Child) -> Output {
    // TERM, not INT: whoever starts the tests may have it ignored, which children inherit.
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    child.wait_with_output().unwrap()
}

#[test]
fn nothing_is_written_over() {
    let desk = Desk::new();
    record(&desk);
    assert_eq!(desk.run(&["repro", "rec", "--out", "bundle"]).code, 0);
    let again = desk.run(&["repro", "rec", "--out", "bundle"]);
    assert_eq!(again.code, 2);
    insta::assert_snapshot!(again.err, @"error: bundle already exists, and iotax does not overwrite it; choose another directory with --out");
    if !needs_program("fio") {
        return;
    }
    fs::write(desk.path().join("data"), vec![1; 8 << 20]).unwrap();
    let output = run(&desk, "bundle", &["base=data", "other=b"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("all data on data would be lost"), "{said}");
    let unchanged = fs::read(desk.path().join("data")).unwrap();
    assert!(unchanged.iter().all(|byte| *byte == 1));
    let allowed = ["base=data", "other=b", "--destroy", "data", "--blocks", "1"];
    let output = run(&desk, "bundle", &allowed);
    assert!(output.status.success(), "{output:?}");
    assert!(fs::read(desk.path().join("data")).unwrap().iter().any(|byte| *byte != 1));
    let output = run(&desk, "bundle", &["base=a", "other=b", "--blocks", "1"]);
    assert_eq!(output.status.code(), Some(3), "results are not written over: {output:?}");
}
