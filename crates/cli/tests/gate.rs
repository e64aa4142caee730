//! Rules that results may break: exit codes, and what is told in which format.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::process::Stdio;

use insta::assert_snapshot;

use support::{Desk, Said};

const RUN: [&str; 8] =
    ["run", "randread-4k", "mem(size=16M)", "--time", "100ms", "--ramp", "0", "--set"];

/// A run in memory with some rules; whatever this machine is, it does more than one I/O per second
/// and fewer than a billion.
fn run(desk: &Desk, more: &[&str]) -> Said {
    desk.run(&[&RUN, &["size=4M"][..], more].concat())
}

#[test]
fn a_broken_rule_is_told_first_and_is_exit_code_1() {
    let desk = Desk::new();
    let said = run(&desk, &["--fail-if", "iops < 1000M", "--fail-if", "iops < 1", "--out", "out"]);
    assert_eq!(said.code, 1, "{said}");
    let told: Vec<&str> = said.out.lines().filter(|line| line.contains("Rule ")).collect();
    assert!(told[0].starts_with("  Rule broken: `iops < 1000000000`: target has "), "{said}");
    assert!(told[1].starts_with("  Rule passed: `iops < 1`: target has "), "{said}");
    assert!(said.out.contains("Stopped: every rule has a verdict."), "{said}");

    // The record keeps its rules, and others can be asked of it.
    assert_eq!(desk.run(&["report", "out"]).code, 1);
    let other = desk.run(&["report", "out", "--fail-if", "iops < 1", "--format", "json"]);
    assert_eq!(other.code, 0, "{other}");
    let json: serde_json::Value = serde_json::from_str(&other.out).unwrap();
    assert_eq!(json["iotax"]["rules"][0]["outcome"], "pass", "{json:#}");
}

/// A p99 below its limit that so few operations cannot prove.
const UNDECIDED: [&str; 4] = ["-n", "3", "--fail-if", "p99 > 1h"];

#[test]
fn an_undecided_rule_has_an_exit_code_of_its_own_unless_it_counts_as_kept_or_broken() {
    let desk = Desk::new();
    let rated = ["size=4M", "--set", "rate=100"];
    let ask = |more: &[&str]| desk.run(&[&RUN, &rated[..], &UNDECIDED, more].concat());
    let said = ask(&["--out", "out"]);
    assert_eq!(said.code, 6, "{said}");
    let told = "Rule undecided: `latency.p99 > 1h`";
    assert!(said.out.contains(told) && said.out.contains("detectable"), "{said}");
    assert!(said.err.contains(told) && said.err.contains("error: 1 rule is undecided"), "{said}");

    let said = ask(&["--undecided", "pass", "--out", "kept"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.err.contains(told) && said.err.contains("warning: 1 rule is undecided"), "{said}");
    let said = ask(&["--undecided", "fail", "--format", "markdown"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.err.starts_with(told), "{said}");

    // A record keeps what it was asked for, and can be asked for something else.
    let report = |more: &[&str]| desk.run(&[&["report"], more].concat());
    let again = report(&["kept"]);
    assert!(again.code == 0 && again.err.contains("exit code 0 does not mean"), "{again}");
    assert_eq!(report(&["kept", "--undecided", "fail"]).code, 1);
    assert_eq!(report(&["out", "--undecided", "pass"]).code, 0);
    assert_eq!(report(&["kept", "out"]).code, 6, "several at once");

    let json = report(&["out", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &shown["iotax"]["undecided"]), (6, &1.into()), "{json}");
    let rule = &shown["iotax"]["rules"][0];
    assert_eq!(rule["outcome"], "undecided", "{rule:#}");
    assert!(rule["detectable"].is_null(), "ten operations tell of no tail: {rule:#}");

    let github = |more: &[&str]| report(&[&["out", "--format", "github"], more].concat());
    let said = github(&[]);
    assert!(
        said.code == 6 && said.out.starts_with("::warning title=iotax::Rule undecided: "),
        "{said}"
    );
    assert!(github(&["--undecided", "pass"]).out.starts_with("::warning "));
    assert!(github(&["--undecided", "fail"]).out.starts_with("::error "));
    for (undecided, code, tag) in
        [(None, 6, "<error "), (Some("pass"), 0, "<skipped "), (Some("fail"), 1, "<failure ")]
    {
        let more = undecided.map_or_else(Vec::new, |undecided| vec!["--undecided", undecided]);
        let said = report(&[&["out", "--format", "junit"], &more[..]].concat());
        assert!(said.code == code && said.out.contains(tag), "{said}");
    }
}

#[test]
fn an_experiment_file_says_what_undecided_rules_count_as() {
    let desk = Desk::new();
    let ask = |undecided: &str, more: &[&str]| {
        let text = format!(
            "workload = \"randread-4k\"\ntime = \"100ms\"\nramp = \"0\"\nmax-blocks = 4\nfail-if = \
             [\"a: p99 > 1h\"]\n{undecided}\n[set]\nrate = 100\nsize = \"4M\"\n[arms]\na = \
             \"mem(size=16M)\"\nb = \"mem(size=16M)\"\n"
        );
        std::fs::write(desk.path().join("gate.toml"), text).unwrap();
        desk.run(&[&["compare", "gate.toml", "--no-depth-check"], more].concat())
    };
    assert_eq!(ask("", &[]).code, 6);
    let kept = ask("undecided = \"pass\"", &[]);
    assert!(kept.code == 0 && kept.err.contains("warning: 1 rule is undecided"), "{kept}");
    let broken = ask("undecided = \"fail\"", &[]);
    assert!(broken.code == 1 && broken.err.contains("but treated as broken, "), "{broken}");
    assert_eq!(
        ask("undecided = \"fail\"", &["--undecided", "pass"]).code,
        0,
        "the option comes first"
    );
}

#[test]
fn a_rule_that_nothing_can_decide_is_refused_before_anything_is_measured() {
    let desk = Desk::new();
    let short = ["--time", "300ms", "--ramp", "0", "--fail-if"];
    let compare = |more: &[&str]| {
        let arms = ["compare", "-w", "randread-4k", "a=mem(size=64M)", "b=mem(size=64M)"];
        desk.run(&[&arms[..], &short, &["slower by 5%"], more].concat())
    };
    assert_snapshot!(run(&desk, &["-n", "1", "--fail-if", "iops < 100000"]), @"
    error: `iops < 100000` can never be decided with -n 1: it needs at least 3 trials, and more if trials vary; use -n 10, or leave -n out
    [exit 2]
    ");
    assert_eq!(run(&desk, &["-n", "2", "--fail-if", "iops < 100000"]).code, 2);
    assert_snapshot!(compare(&["--max-blocks", "2"]), @"
    error: `slower by 5%` can never be decided with --max-blocks 2: it needs at least 4 blocks, and more if trials vary; use --max-blocks 10, or leave --max-blocks out
    [exit 2]
    ");
    assert_snapshot!(compare(&["--max-time", "1s"]), @"
    error: `slower by 5%` can never be decided within --max-time 1s: it needs at least 4 blocks, which take 2400ms; use --max-time 6s or shorter trials (--time)
    [exit 2]
    ");
    let plan = ["plan", "run", "randread-4k", "mem(size=16M)", "-n", "2", "--fail-if", "iops < 9"];
    assert_eq!(desk.run(&plan).code, 2, "a plan refuses what a run does");
    assert_eq!(std::fs::read_dir(desk.path()).unwrap().count(), 0, "nothing was measured");
}

/// Each read takes four times as long, which a busy machine does not hide.
#[test]
fn a_planted_delay_breaks_a_rule_about_the_median() {
    let desk = Desk::new();
    let arm = |name, latency| format!("{name}=mem(size=16M) + delay(latency={latency})");
    let arms = [arm("old", "1ms"), arm("new", "4ms")];
    let said = desk.run(&[
        "compare", "-w", "randread-4k", "--set", "size=4M", "--quick", "--ramp", "0", "--time",
        "200ms", &arms[0], &arms[1], "--fail-if", "p50 slower by 10%", "--out", "out",
    ]);
    assert_eq!(said.code, 1, "{said}");
    let told: Vec<&str> = said.out.lines().filter(|line| line.contains("Rule ")).collect();
    assert!(told[0].starts_with("  Rule broken: `p50 slower by 10%`: new is "), "{said}");
    let read = |format| desk.run(&["report", "out", "--format", format]).out;
    let json: serde_json::Value = serde_json::from_str(&read("json")).unwrap();
    let compared = json["comparisons"].as_array().unwrap();
    let p50 = compared.iter().find(|c| c["metric"] == "p50").unwrap();
    assert!((1.0..4.0).contains(&p50["tax"].as_f64().unwrap()), "{p50:#}");
    let csv = read("csv");
    let at = csv.lines().next().unwrap().split(',').position(|name| name == "p50_ns").unwrap();
    // On a busy machine, no I/O may complete in a slice.
    let medians = csv.lines().skip(1).map(|line| line.split(',').nth(at).unwrap());
    let medians: Vec<u64> =
        medians.filter(|ns| !ns.is_empty()).map(|ns| ns.parse().unwrap()).collect();
    assert!(!medians.is_empty(), "{csv}");
    assert!(medians.iter().all(|ns| (1_000_000..100_000_000).contains(ns)), "{csv}");
    let refused = ["plan", "compare", "-w", "tcp-stream", "a=loopback", "b=loopback", "--fail-if"];
    let said = desk.run(&[&refused[..], &["p50 slower by 5%"]].concat());
    assert!(said.code == 2 && said.err.contains("in bytes, not in operations"), "{said}");
}

#[test]
fn tests_and_workflows_get_a_line_for_each_rule() {
    let desk = Desk::new();
    let rules = ["--fail-if", "iops < 1000M", "--fail-if", "iops < 1"];
    let said = run(&desk, &[&rules[..], &["--format", "junit"]].concat());
    assert_eq!(said.code, 1, "{said}");
    assert!(said.out.contains("tests=\"2\"") && said.out.contains("failures=\"1\""), "{said}");

    let summary = desk.path().join("summary.md");
    let mut command =
        desk.command(&[&RUN, &["size=4M"][..], &rules, &["--format", "github"]].concat());
    let said = desk.said(&command.env("GITHUB_STEP_SUMMARY", &summary).output().unwrap());
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].starts_with("::error title=iotax::Rule broken: "), "{said}");
    assert!(lines[1].starts_with("::notice title=iotax::Rule passed: "), "{said}");
    assert!(std::fs::read_to_string(summary).unwrap().contains("Rules"), "the report");
}

#[test]
fn rules_that_are_none_are_refused_before_anything_is_measured() {
    let desk = Desk::new();
    assert_snapshot!(run(&desk, &["--fail-if", "fast"]), @"
    error: option --fail-if: `fast` is not a rule
    specify the condition that breaks the rule, as in 'slower by 5%', 'sync.p99 > 10ms' or 'new: iops < 5000'
    [exit 2]
    ");
    assert_snapshot!(run(&desk, &["--fail-if", "slower by 5%"]), @"
    error: option --fail-if: `slower by 5%`: a run has only one arm and no baseline
    set a limit, as in 'sync.p99 > 10ms', or use `iotax compare`
    [exit 2]
    ");
    assert_snapshot!(run(&desk, &["--fail-if", "sync.p99 > 10ms"]), @"
    error: option --fail-if: `sync.p99 > 10ms`: job `io` does not sync during the run
    no job syncs during the run; use another metric
    [exit 2]
    ");
    assert_snapshot!(run(&desk, &["--format", "junit"]), @"
    error: --format junit shows the outcome of rules, but there are none; add --fail-if
    [exit 2]
    ");
    assert_snapshot!(run(&desk, &["--undecided", "fail"]), @"
    error: --undecided needs a rule; add --fail-if
    [exit 2]
    ");
    let search = desk.run(&["limits", "mem(size=16M)", "--format", "github"]);
    assert_snapshot!(search, @"
    error: --format github shows the outcome of rules, but there are none; add --fail-if
    [exit 2]
    ");
}

#[test]
fn a_broken_rule_is_exit_code_1_even_if_nobody_reads_on() {
    let desk = Desk::new();
    let out = ["--fail-if", "iops < 1000M", "--out", "out"];
    let mut command = desk.command(&[&RUN, &["size=4M"][..], &out].concat());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(desk.path().join("out/report.html").exists());
}
