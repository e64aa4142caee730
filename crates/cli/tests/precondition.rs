//! `--precondition`: what is written before anything is measured, recorded and told.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::process::{Command, Stdio};

use serde_json::Value;
use support::{Desk, Said, wait_for};

/// Rounds of a tenth of a second on files of 4 MiB.
const SHORT: [&str; 11] = [
    "--precondition", "--ramp", "0", "--time", "100ms", "--set", "size=4M", "--set",
    "engine=psync", "--set", "direct=false",
];

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said}"))
}

/// Runs it, with its record in `out`. On a busy machine a round of a tenth of a second may pass
/// without CPU for the load; it fails then, and its arm has a round less: it is run again.
fn run(desk: &Desk, words: &[&str]) -> Said {
    let out = desk.path().join("out");
    let trials = out.join("precondition/trials.jsonl");
    for _ in 0..5 {
        let said = desk.run(&[words, &SHORT].concat());
        let trials = std::fs::read_to_string(&trials).unwrap_or_default();
        if !trials.contains("no I/O completed in the measured window") {
            return said;
        }
        std::fs::remove_dir_all(&out).unwrap();
    }
    panic!("no I/O completes here in a tenth of a second")
}

/// SNIA's rule over the last five rounds.
fn is_steady(rounds: &[f64]) -> bool {
    let Some(last) = rounds.last_chunk::<5>() else { return false };
    let mean = last.iter().sum::<f64>() / 5.0;
    let [a, b, _, d, e] = *last;
    let (high, low) = last.iter().fold((f64::MIN, f64::MAX), |(h, l), v| (h.max(*v), l.min(*v)));
    let slope = (2.0 * (e - a) + (d - b)) / 10.0;
    high - low <= 0.2 * mean && 4.0 * slope.abs() <= 0.1 * mean
}

fn rounds(arm: &Value) -> Vec<f64> {
    arm["rounds"].as_array().unwrap().iter().map(|round| round.as_f64().unwrap()).collect()
}

/// Rounds end as soon as all arms are steady, or after 25; how many it takes is the machine's
/// affair.
fn assert_ended_by_the_rule(arms: &[Value]) {
    let of_each: Vec<Vec<f64>> = arms.iter().map(rounds).collect();
    let count = of_each[0].len();
    assert!((5..=25).contains(&count), "{count} rounds");
    let all_steady = |after: usize| of_each.iter().all(|own| is_steady(&own[..after]));
    assert!(
        (5..count).all(|after| !all_steady(after)),
        "they should have ended before: {of_each:?}"
    );
    assert!(count == 25 || all_steady(count), "they should go on: {of_each:?}");
    for (arm, own) in arms.iter().zip(&of_each) {
        assert_eq!(own.len(), count, "all arms go on until all are steady");
        assert_eq!(arm["steady"], is_steady(own), "{arm}");
    }
}

#[test]
fn a_directory_is_written_twice_and_then_in_rounds_and_every_format_tells() {
    let desk = Desk::new();
    let said = run(&desk, &["run", "randwrite-4k", ".", "--out", "out", "--format", "json"]);
    assert_eq!(said.code, 0, "{said}");
    let arms = json(&said)["iotax"]["preconditioned"].as_array().unwrap().clone();
    assert_eq!((&arms[0]["passes"], &arms[0]["written_bytes"]), (&2.into(), &(8 << 20).into()));
    assert_ended_by_the_rule(&arms);
    assert!(desk.path().join("out/precondition/trials.jsonl").exists());
    // Another time, from the record alone.
    for format in ["text", "markdown", "json"] {
        let told = desk.run(&["report", "out", "--format", format]);
        assert!(told.out.contains("reconditioned: 2 passes, "), "{told}");
    }
    let html = std::fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    assert!(html.contains("reconditioned: 2 passes, "));
}

#[test]
fn a_workload_that_only_reads_gets_its_span_written_and_no_rounds() {
    let desk = Desk::new();
    let said = run(&desk, &["run", "randread-4k", ".", "--out", "out", "--format", "json"]);
    assert_eq!(said.code, 0, "{said}");
    let arm = &json(&said)["iotax"]["preconditioned"][0];
    assert_eq!((&arm["passes"], &arm["steady"], rounds(arm)), (&2.into(), &Value::Null, vec![]));
    let text = desk.run(&["report", "out"]).out;
    assert!(text.contains("no rounds: the workload only reads"), "{text}");
}

#[test]
fn arms_take_turns_and_memory_is_left_out() {
    let desk = Desk::new();
    let arms = ["a=file(size=8M)", "b=file(size=8M) + queue(workers=1)", "m=mem(size=8M)"];
    let words = ["compare", "-w", "randwrite-4k", "--quick", "--max-blocks", "3"];
    let options = ["--no-depth-check", "--out", "out", "--format", "json"];
    let said = run(&desk, &[&words[..], &options, &arms].concat());
    assert_eq!(said.code, 0, "{said}");
    let told = json(&said)["preconditioned"].as_array().unwrap().clone();
    assert_ended_by_the_rule(&told[..2]);
    assert_eq!((&told[2]["passes"], &told[2]["steady"]), (&0.into(), &Value::Null));
    let record =
        std::fs::read_to_string(desk.path().join("out/precondition/trials.jsonl")).unwrap();
    let order: Vec<(u64, String)> = record
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|trial| (trial["block"].as_u64().unwrap(), trial["arm"].as_str().unwrap().to_owned()))
        .collect();
    // Each pass and each round is one of each arm.
    for (block, turns) in (0..).zip(order.chunks(2)) {
        let mut names: Vec<&str> = turns.iter().map(|(_, arm)| arm.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b"], "{order:?}");
        assert!(turns.iter().all(|(of, _)| *of == block), "{order:?}");
    }
}

/// A burst is itself steady, so rounds may end within it; what they must not do is to end while the
/// rate falls.
#[test]
fn rounds_do_not_end_while_burst_credits_run_out() {
    let desk = Desk::new();
    let stack = "file(size=4M) + throttle(iops=400, burst_iops=1600, credits=1s)";
    let said = run(&desk, &["run", "randwrite-4k", stack, "--format", "json"]);
    assert_eq!(said.code, 0, "{said}");
    assert_ended_by_the_rule(json(&said)["iotax"]["preconditioned"].as_array().unwrap());
}

#[test]
fn what_cannot_be_preconditioned_is_refused_by_name() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("mine"), vec![7; 8 << 20]).unwrap();
    for (words, says) in [
        (&["run", "randwrite-4k", "mem(size=64M)"][..], "the target is in memory"),
        (&["run", "randread-4k", "mine"], "never writes to a file or device given by its path"),
        (&["peel", "mem(size=64M) + aes"], "all arms are in memory"),
        (&["run", "git-checkout", "."], "have no span to write"),
    ] {
        let said = desk.run(&[words, &["--precondition"]].concat());
        assert!(said.code != 0 && said.err.contains(says), "{said}");
    }
    assert_eq!(std::fs::read(desk.path().join("mine")).unwrap(), vec![7; 8 << 20]);
    let fio = r#"{"fio version": "fio-3.33", "jobs": []}"#;
    std::fs::write(desk.path().join("a.json"), fio).unwrap();
    std::fs::write(desk.path().join("b.json"), fio).unwrap();
    let said = desk.run(&["compare", "a.json", "b.json", "--precondition"]);
    assert!(said.err.starts_with("error: --precondition has no effect on saved results"), "{said}");
}

#[test]
fn a_plan_says_what_is_written_and_for_how_long() {
    let desk = Desk::new();
    let plan = |workload: &str| {
        let said = desk.run(&["plan", "run", workload, ".", "--precondition"]);
        let heading = "Side runs (times do not include switching between arms)\n";
        let beside = said.out.split_once(heading).unwrap().1.to_owned();
        beside.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(plan("randwrite-4k"), @"precondition: first, 2 passes over 1G without a time limit; then rounds of the workload until its rate is steady; at most 175s");
    insta::assert_snapshot!(plan("randread-4k"), @"precondition: first, 2 passes over 1G without a time limit; no rounds, because the workload only reads");
}

#[test]
fn an_experiment_file_asks_for_it() {
    let desk = Desk::new();
    let file = "precondition = true\nworkload = \"randwrite-4k\"\n[arms]\na = \".\"\nb = \".\"\n";
    std::fs::write(desk.path().join("x.toml"), file).unwrap();
    let said = desk.run(&["plan", "compare", "x.toml", "--format", "json"]);
    assert_eq!(json(&said)["spec"]["side_runs"]["precondition"], true, "{said}");
    assert_eq!(json(&said)["side_runs"][0]["what"], "precondition");
}

/// What was seen until then is on disk, and is told.
#[test]
fn rounds_outlive_a_program_that_is_killed_or_interrupted() {
    for signal in ["-KILL", "-INT"] {
        let desk = Desk::new();
        // Five rounds take longer than it lives.
        let words = ["run", "randwrite-4k", ".", "--out", "out", "--time", "2s"];
        let others = SHORT.into_iter().filter(|word| !["--time", "100ms"].contains(word));
        let args: Vec<&str> = words.into_iter().chain(others).collect();
        let mut command = desk.command(&args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let trials = desk.path().join("out/precondition/trials.jsonl");
        let written = || std::fs::read_to_string(&trials).unwrap_or_default().lines().count();
        wait_for("a round", || written() >= 3 || child.try_wait().unwrap().is_some());
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let status = child.wait().unwrap();
        let told = desk.run(&["report", "out", "--format", "json"]);
        let arm = &json(&told)["iotax"]["preconditioned"][0];
        assert_eq!((&arm["passes"], rounds(arm).is_empty()), (&2.into(), false), "{told}");
        assert_eq!(arm["steady"], false, "{arm}");
        let has_no_end = told.err.contains("out/precondition: the record has no end");
        assert_eq!(has_no_end, signal == "-KILL", "{told}");
        assert!(signal == "-KILL" || status.code() == Some(4), "{status}");
    }
}
