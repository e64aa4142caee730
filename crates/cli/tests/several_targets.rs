//! Several targets in one trial: what is asked, what is told, and what is left.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use insta::assert_snapshot;
use iotax_testing::{needs_program, needs_root};
use serde_json::Value;
use support::{Desk, Said};

/// Two drives, as fast as they go.
const DRIVES: &str = "[global]\nrw=randread\nbs=4k\nsize=4m\ntime_based\nruntime=1\niodepth=16\n\
                      ioengine=libaio\n[slow]\ndirectory=/mnt/e\n[fast]\ndirectory=/mnt/f\n";

fn desk() -> Desk {
    let desk = Desk::new();
    fs::write(desk.path().join("drives.fio"), DRIVES).unwrap();
    for name in ["e", "f"] {
        fs::create_dir(desk.path().join(name)).unwrap();
    }
    desk
}

fn json(said: &Said) -> Value {
    assert_eq!(said.code, 0, "{said}");
    serde_json::from_str(&said.out).unwrap()
}

/// Rates of the targets by name, and of all together.
fn rates(report: &Value) -> Vec<(String, f64)> {
    let arm = &report["iotax"]["arms"][0];
    let rate = |of: &Value| of["iops"].as_f64().unwrap();
    let targets = arm["targets"].as_array().unwrap().iter();
    let targets = targets.map(|t| (t["name"].as_str().unwrap().to_owned(), rate(&t["rates"])));
    targets.chain([("together".to_owned(), rate(&arm["together"]))]).collect()
}

fn within(found: &[(String, f64)], expected: &[(&str, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((name, rate), (of, cap)) in found.iter().zip(expected) {
        assert_eq!(name, of, "{found:?}");
        assert!((0.85 * cap..1.06 * cap).contains(rate), "{found:?}");
    }
}

#[test]
fn two_buckets_add_up_and_below_a_common_cap_they_do_not() {
    let desk = desk();
    let run = |more: &str| {
        let e = format!("e=mem(size=4M) + throttle(iops=300){more}");
        let f = format!("f=mem(size=4M) + throttle(iops=1200){more}");
        json(&desk.run(&["run", "drives.fio", &e, &f, "--ramp", "1s", "--format", "json"]))
    };
    let alone = run("");
    within(&rates(&alone), &[("e", 300.0), ("f", 1200.0), ("together", 1500.0)]);
    let bound = |report: &Value| -> Vec<String> {
        let rows = report["iotax"]["documented"].as_array().cloned().unwrap_or_default();
        rows.iter().map(|row| row["target"].as_str().unwrap().to_owned()).collect()
    };
    is_told_of(&rates(&alone), &[("e", 300.0), ("f", 1200.0)], &bound(&alone), &["e", "f"]);
    let shared = run(" + throttle(iops=900, group=vm)");
    within(&rates(&shared), &[("e", 300.0), ("f", 600.0), ("together", 900.0)]);
    let named = ["e", "f", "e and f together"];
    is_told_of(&rates(&shared), &[("together", 900.0)], &bound(&shared), &named);
}

/// Each rate that reached its cap is reported as bound by it; on a busy machine, a rate may stay
/// below. Only those in `named` are reported.
fn is_told_of(found: &[(String, f64)], caps: &[(&str, f64)], told: &[String], named: &[&str]) {
    for (of, cap) in caps {
        let (_, rate) = found.iter().find(|(name, _)| name == of).unwrap();
        let is_told = told.iter().any(|target| target.split(' ').any(|word| word == *of));
        assert!(is_told || *rate < 0.98 * cap, "{of}: {rate} of {cap}, {told:?}");
    }
    assert!(told.iter().all(|target| named.contains(&target.as_str())), "{told:?}");
}

#[test]
fn drives_of_diskspd_are_directories_of_their_own_and_nothing_is_left() {
    let desk = desk();
    let line = r"diskspd -b64K -d1 -W0 -o4 -t1 -w100 -g1000 -c4M e:\io.tst f:\io.tst";
    let said = desk.run(&["run", line, "e=e", "f=f", "--out", "out"]);
    assert_eq!(said.code, 0, "{said}");
    for name in ["e", "f"] {
        assert_eq!(fs::read_dir(desk.path().join(name)).unwrap().count(), 0);
        assert!(said.out.contains(&format!("{name}: ")), "{said}");
    }
    assert!(said.out.contains("on 2 targets at the same time: "), "{said}");
    assert_eq!(desk.journals().len(), 0);
    // The same is told again, and row by row.
    let again = desk.run(&["report", "out"]);
    let report = |text: &str| text.split("\nReport: ").next().unwrap().to_owned();
    assert_eq!(report(&again.out), report(&said.out));
    let rows = desk.run(&["report", "out", "--format", "csv"]).out;
    let targets: Vec<_> = rows.lines().map(|row| row.rsplit(',').next().unwrap()).collect();
    assert_eq!(targets, ["target", "", "e", "f"], "{rows}");
    // The bundle's script has one place for each arm.
    assert_snapshot!(desk.run(&["repro", "out"]), @"
    error: the jobs in this record use several targets at the same time, but a bundle supports only one target per arm; use `iotax run ... --engine fio`, or run each job alone
    [exit 2]
    ");
}

#[test]
fn jobs_for_several_targets_that_get_one_say_so() {
    let desk = desk();
    let said = desk.run(&["run", "drives.fio", "mem(size=4M)", "--time", "1s"]);
    assert_eq!(said.code, 0, "{said}");
    let warning = said.err.lines().find(|line| line.starts_with("warning: the jobs"));
    assert_snapshot!(warning.unwrap(), @"warning: the jobs name 2 targets (e, f), but all jobs use the only target given; give a target for each name: e=TARGET f=TARGET");
}

#[test]
fn what_is_wrong_with_targets_is_said() {
    let desk = desk();
    let run = |targets: &[&str]| {
        let args: Vec<&str> = ["run", "drives.fio"].iter().chain(targets).copied().collect();
        desk.run(&args)
    };
    assert_snapshot!(run(&["e=e"]), @"
    error: job `fast` has no target: `f` is not given
    add f=TARGET, or give one target for all jobs
    [exit 2]
    ");
    assert_snapshot!(run(&["e=e", "g=f"]), @"
    error: unknown target `g`
    known targets: e, f, slow, fast
    [exit 2]
    ");
    assert_snapshot!(run(&["e", "f"]), @"
    error: `e` is one of several targets, but has no name
    give each target the name that its jobs use, as in e=/mnt/e f=/mnt/f, or give only one target for all jobs
    [exit 2]
    ");
    assert_snapshot!(run(&["e=e", "f=nowhere"]), @"
    error: arm f: DESK/nowhere: does not exist; create the directory first, or check the spelling
    [exit 2]
    ");
    assert_snapshot!(run(&["e=e", "f=f", "--precondition"]), @"
    error: preconditioning supports only one target per trial, but there are several
    precondition each target in a separate run, and leave `precondition` out of this one
    [exit 2]
    ");
    assert_snapshot!(run(&["e=e", "f=mem(size=4M)", "--engine", "fio"]), @"
    error: arm target: fio cannot use mem(size=4M), a virtual disk inside iotax; mount it (iotax disk up) and name its mount point, or use --engine native
    [exit 2]
    ");
    assert_snapshot!(desk.run(&["run", "randread-4k", "x=e"]), @"
    error: no job of this workload has a target called `x`
    give one target without NAME= for all jobs, or give JOB=TARGET for each of these jobs: io; if a path contains `=`, specify it as ./a=b
    [exit 2]
    ");
    assert_eq!(desk.names(), ["drives.fio", "e", "f"]);
}

#[test]
fn a_plan_says_which_job_goes_where() {
    let desk = desk();
    let said = desk.run(&["plan", "run", "drives.fio", "e=e", "f=mem(size=4M)", "--seed", "1"]);
    assert_snapshot!(said, @"
    Workload drives
      every trial: 0s ramp, then 1s measured
      slow (compared): 1 thread, shuffled 4k reads, over 4M on e, io_uring depth 16
        buffered (cold cache)
      fast: 1 thread, shuffled 4k reads, over 4M on f, io_uring depth 16 buffered
        (cold cache)
      drives.fio, line 8: ioengine=libaio: iotax uses io_uring; in fio, buffered
        libaio does one I/O at a time
      drives.fio, line 10: directory=/mnt/e: replaced by TARGET
      drives.fio, line 12: directory=/mnt/f: replaced by TARGET

    Arms
      target  e=DESK/e, f=mem(size=4M)

    Stops
      after 1 trial of each arm

    Schedule, seed 1
      1 block of 1 trial, 1s, not including switching between arms
      block  1: target
    [exit 0]
    ");
}

#[test]
fn arms_of_an_experiment_file_may_have_several_targets() {
    let desk = desk();
    let arm = |slow: u32| {
        format!("{{ e = \"mem(size=4M) + throttle(iops={slow})\", f = \"mem(size=4M)\" }}")
    };
    let text = format!(
        "workload = {{ fio = \"drives.fio\" }}\nmax-blocks = 4\nramp = \"1s\"\n\
         [arms]\nbase = {}\nother = {}\n",
        arm(600),
        arm(300)
    );
    fs::write(desk.path().join("two.toml"), text).unwrap();
    let report: Value = {
        let said = desk.run(&["compare", "two.toml", "--format", "json"]);
        assert_eq!(said.code, 0, "{said}");
        serde_json::from_str(&said.out).unwrap()
    };
    let tax = report["comparisons"][0]["tax"].as_f64().unwrap();
    assert!((0.4..0.6).contains(&tax), "{tax}");
    let arms = report["arms"].as_array().unwrap();
    assert!(arms.iter().all(|arm| arm["targets"].as_array().unwrap().len() == 2), "{arms:?}");
}

#[test]
fn fio_drives_several_directories_too() {
    // Root, for fio's logs.
    if !needs_program("fio") || !needs_root() {
        return;
    }
    let desk = desk();
    let args = ["run", "drives.fio", "e=e", "f=f", "--engine", "fio", "--format", "json"];
    let rates = rates(&json(&desk.run(&args)));
    assert!(rates.iter().all(|(_, rate)| *rate > 0.0), "{rates:?}");
    for name in ["e", "f"] {
        assert_eq!(fs::read_dir(desk.path().join(name)).unwrap().count(), 0);
    }
}
