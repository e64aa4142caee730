//! The main job, end to end, on in-process disks and in real directories: results, what stays on
//! disk when things go wrong, and that nothing else does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use support::{Desk, catches_ctrl_c, wait_for};

/// Short trials: what is tested is the path, not the precision.
const SHORT: [&str; 4] = ["--time", "300ms", "--ramp", "50ms"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

#[test]
fn a_comparison_names_arm_and_metric_and_leaves_its_results_alone() {
    let desk = Desk::new();
    let arms =
        ["base=mem(size=16M) + delay(latency=200us)", "slow=mem(size=16M) + delay(latency=400us)"];
    let options = ["compare", "--quick", "-w", "randread-4k", "--format", "json", "--out", "out"];
    let said = desk.run(&[&options[..], &["--max-blocks", "4"], &SHORT, &arms].concat());
    assert_eq!(said.code, 0, "{said}");
    let first = &json(&said.out)["comparisons"][0];
    assert_eq!((&first["arm"], &first["metric"]), (&"slow".into(), &"throughput".into()));
    assert!(first["verdict"].is_string() && first["tax"].is_f64(), "{first}");
    assert_eq!(desk.names(), ["out"]);
    assert!(desk.path().join("out/report.html").exists());
}

#[test]
fn a_peel_names_each_layer_their_interaction_and_the_total() {
    let desk = Desk::new();
    let stack = "mem(size=16M) + delay(latency=300us) + delay(latency=300us)";
    let options = ["peel", stack, "--max-blocks", "3", "--format", "json", "-w", "randread-4k"];
    let said = desk.run(&[&options[..], &SHORT].concat());
    assert_eq!(said.code, 0, "{said}");
    let result = json(&said.out);
    let has = |key: &str, wanted: Value| {
        let all = result["comparisons"].as_array().unwrap();
        let is_there = all.iter().any(|comparison| comparison[key] == wanted);
        assert!(is_there, "no {key} {wanted} in {result:#}");
    };
    has("layer", "delay".into());
    has("layer", "delay#2".into());
    has("layers", ["delay", "delay#2"].into());
    has("subject", "total".into());
}

#[test]
fn a_run_speaks_fio() {
    let desk = Desk::new();
    let options = ["run", "mixed-70-30", "mem(size=16M)", "--format", "json"];
    let said = desk.run(&[&options[..], &SHORT].concat());
    assert_eq!(said.code, 0, "{said}");
    let job = &json(&said.out)["jobs"][0];
    for direction in ["read", "write"] {
        let numbers = &job[direction];
        assert!(numbers["iops"].as_f64().unwrap() > 0.0, "{direction}");
        assert!(numbers["bw_bytes"].as_f64().unwrap() > 0.0, "{direction}");
        assert!(numbers["clat_ns"]["percentile"]["99.000000"].as_f64().unwrap() > 0.0);
        assert!(!numbers["lat_ns"]["bins"].as_object().unwrap().is_empty());
        assert!(numbers["cpu_ns_per_io"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn rendering_again_offline_says_the_same() {
    let desk = Desk::new();
    let options = ["run", "randread-4k", "mem(size=16M) + aes", "-n", "2", "--out", "out"];
    let first = desk.run(&[&options[..], &SHORT].concat());
    let again = desk.run(&["report", "out"]);
    assert_eq!((again.code, &again.out), (0, &first.out));
    for format in ["json", "markdown", "csv"] {
        let said = desk.run(&["report", "out", "--format", format]);
        assert_eq!(said.code, 0, "{said}");
        assert!(!said.out.is_empty());
    }
}

#[test]
fn a_directory_is_measured_and_left_as_it_was() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("data")).unwrap();
    fs::write(desk.path().join("data/mine"), "precious").unwrap();
    for workload in ["randread-4k", "randwrite-4k"] {
        let options = ["run", workload, "data", "--set", "size=8M", "--set", "direct=false"];
        let said = desk.run(&[&options[..], &SHORT].concat());
        assert_eq!(said.code, 0, "{said}");
    }
    let left: Vec<_> = fs::read_dir(desk.path().join("data")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read_to_string(desk.path().join("data/mine")).unwrap(), "precious");
}

/// The speed of memory is measured: two measurements would differ.
#[test]
fn the_machine_is_looked_at_once() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("data")).unwrap();
    let options = ["run", "randread-4k", "data", "--set", "size=8M", "--set", "direct=false"];
    let said = desk.run(&[&options[..], &["--out", "out"], &SHORT].concat());
    assert_eq!(said.code, 0, "{said}");
    let head = fs::read_to_string(desk.path().join("out/experiment.json")).unwrap();
    let head: Value = serde_json::from_str(&head).unwrap();
    let host = &head["hosts"][0];
    assert!(host["environment"]["memory_copy_bytes_per_s"].is_f64(), "{head:#}");
    assert_eq!(host["environment"], host["machine"]["environment"]);
}

#[test]
fn eio_in_the_middle_is_reported_and_the_rest_is_kept() {
    let desk = Desk::new();
    let stack = "mem(size=16M) + delay(latency=1ms) + fault(eio=0.05, after=20)";
    let options = ["run", "randread-4k", stack, "-n", "2", "--out", "out"];
    let said = desk.run(&[&options[..], &SHORT].concat());
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.contains("Input/output error"), "{said}");
    assert_eq!(lines(&desk.path().join("out/trials.jsonl")), 2);
}

#[test]
fn a_target_that_disappears_ends_the_run_and_keeps_its_trials() {
    let desk = Desk::new();
    let victim = desk.path().join("victim");
    fs::write(&victim, vec![1u8; 4 << 20]).unwrap();
    let options = ["run", "randread-4k", "./victim", "-n", "30", "--out", "out"];
    let more = ["--set", "direct=false", "--set", "engine=psync"];
    let child = desk
        .command(&[&options[..], &more, &SHORT].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("two trials", || lines(&desk.path().join("out/trials.jsonl")) >= 2);
    fs::remove_file(&victim).unwrap();
    let said = desk.said(&child.wait_with_output().unwrap());
    assert_eq!(said.code, 3, "{said}");
    assert!(said.out.contains("failed 3 times in a row"), "{said}");
    assert!(said.out.contains("DESK/victim"), "{said}");
    assert!(lines(&desk.path().join("out/trials.jsonl")) >= 5);
}

#[test]
fn ctrl_c_finishes_with_the_results_so_far() {
    let desk = Desk::new();
    let options = ["run", "randread-4k", "mem(size=16M)", "-n", "1000", "--out", "out"];
    let child = desk
        .command(&[&options[..], &SHORT].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("two trials", || lines(&desk.path().join("out/trials.jsonl")) >= 2);
    signal(&child, "-INT");
    let said = desk.said(&child.wait_with_output().unwrap());
    assert_eq!(said.code, 4, "{said}");
    assert!(said.out.contains("interrupted"), "{said}");
    assert!(desk.path().join("out/report.html").exists());
    assert_eq!(desk.names(), ["out"]);
}

#[test]
fn after_kill_9_undo_removes_what_was_left_and_the_trials_are_readable() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("data")).unwrap();
    let options = ["run", "randread-4k", "data", "-n", "1000", "--out", "out", "--set", "size=8M"];
    let more = ["--set", "direct=false"];
    let mut child = desk
        .command(&[&options[..], &more, &SHORT].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("a trial", || lines(&desk.path().join("out/trials.jsonl")) >= 1);
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert_eq!(fs::read_dir(desk.path().join("data")).unwrap().count(), 1);

    let undone = desk.run(&["undo"]);
    assert_eq!(undone.code, 0, "{undone}");
    assert!(undone.out.starts_with("removed DESK/data/.iotax-"), "{undone}");
    assert_eq!(fs::read_dir(desk.path().join("data")).unwrap().count(), 0);
    assert!(desk.run(&["undo"]).out.starts_with("Nothing to undo"));

    let report = desk.run(&["report", "out"]);
    assert_eq!(report.code, 0, "{report}");
}

#[test]
fn a_report_never_follows_a_link_out_of_the_record() {
    let desk = Desk::new();
    let run = ["run", "randread-4k", "mem(size=16M)", "--out", "out"];
    assert_eq!(desk.run(&[&run[..], &SHORT].concat()).code, 0);
    let (victim, report) = (desk.path().join("victim"), desk.path().join("out/report.html"));
    fs::write(&victim, "mine").unwrap();
    fs::remove_file(&report).unwrap();
    std::os::unix::fs::symlink(&victim, &report).unwrap();
    assert_eq!(desk.run(&["report", "out"]).code, 0);
    assert_eq!(fs::read_to_string(victim).unwrap(), "mine");
    assert!(fs::symlink_metadata(report).unwrap().is_file());
}

#[test]
fn a_record_with_an_impossible_level_is_refused() {
    let desk = Desk::new();
    let run = ["run", "randread-4k", "mem(size=16M)", "--out", "out"];
    assert_eq!(desk.run(&[&run[..], &SHORT].concat()).code, 0);
    let head = desk.path().join("out/experiment.json");
    let mut experiment = json(&fs::read_to_string(&head).unwrap());
    experiment["spec"]["stop"]["alpha"] = (-1.0).into();
    fs::write(&head, experiment.to_string()).unwrap();
    let said = desk.run(&["report", "out"]);
    assert!(said.code == 2 && said.err.contains("alpha"), "{said}");
}

#[test]
fn ctrl_c_while_files_are_laid_out_leaves_nothing_and_says_interrupted() {
    let desk = Desk::new();
    let child = desk
        .command(&["run", "randread-4k", "file(size=4G)", "--out", "out"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("the handlers", || catches_ctrl_c(&child));
    signal(&child, "-INT");
    let said = desk.said(&child.wait_with_output().unwrap());
    assert_eq!(said.code, 4, "{said}");
    assert!(desk.names().is_empty(), "{said}");
}

#[test]
fn one_block_is_too_few_but_not_nothing() {
    let desk = Desk::new();
    let compare = ["compare", "-w", "randread-4k", "a=mem(size=4M)", "b=mem(size=4M)"];
    let said = desk.run(&[&compare[..], &SHORT, &["--max-blocks", "1", "--out", "out"]].concat());
    let told = "b could not be compared with a: too few complete blocks.";
    assert!(said.out.contains(told), "{said}");
}

/// What a command prints on a terminal of 24 lines and 80 columns.
fn on_a_terminal(desk: &Desk, args: &str) -> String {
    let iotax = assert_cmd::cargo::cargo_bin!("iotax").display().to_string();
    let line = format!("stty rows 24 cols 80; {iotax} {args}");
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.current_dir(desk.path()).env("IOTAX_STATE_DIR", desk.path().join("state"));
    let output = command.env("TERM", "dumb").stdin(Stdio::null()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
}

#[test]
fn a_terminal_gets_one_screen_and_everything_on_request() {
    if !iotax_testing::needs_program("script") {
        return;
    }
    let desk = Desk::new();
    let arms = ["a=mem(size=16M)", "b=mem(size=16M) + delay(latency=1ms)"];
    let short = ["--quick", "--time", "100ms", "--ramp", "0", "--out", "out", "-w", "randread-4k"];
    let said = desk.run(&[&["compare"], &short[..], &arms].concat());
    assert_eq!(said.code, 0, "{said}");

    let screen = on_a_terminal(&desk, "report out");
    assert!(screen.lines().count() < 24, "{screen}");
    assert!(
        screen.starts_with("compare randread-4k: ") && screen.contains("Details: "),
        "{screen}"
    );
    assert!(!screen.contains("pooled over trials"), "{screen}");
    let all = on_a_terminal(&desk, "report -v out");
    assert!(all.contains("pooled over trials"), "{all}");
    assert_eq!(desk.run(&["report", "out"]).out.lines().count(), all.lines().count());

    let answer = desk.run(&["report", "-q", "out"]);
    assert_eq!((answer.code, answer.out.lines().next().unwrap().contains("b is ")), (0, true));
    assert!(!answer.out.contains("report.html") && !answer.out.contains("Arms"), "{answer}");
}
