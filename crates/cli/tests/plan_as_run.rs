//! A plan and a run are one resolution: what a run refuses, a plan refuses in the same words, and
//! what this machine lacks for a run, a plan says in the same words.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;
use support::Desk;

fn desk() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("data")).unwrap();
    fs::write(desk.path().join("trace.fio"), "[replay]\nread_iolog=trace\nsize=1M\n").unwrap();
    fs::write(desk.path().join("net.fio"), "[net]\nioengine=net\nrw=read\nsize=1M\n").unwrap();
    desk
}

#[test]
fn what_a_run_refuses_a_plan_refuses_in_the_same_words() {
    let desk = desk();
    let refused: [&[&str]; 6] = [
        &["run", "trace.fio", "data", "--engine", "fio"],
        &["run", "trace.fio", "data"],
        &["run", "net.fio", "data", "--engine", "fio"],
        &["run", "driver-searcher", "data", "--engine", "fio"],
        &["run", "randread-4k", "mem(size=4M)", "--engine", "fio"],
        &["compare", "-w", "randread-4k", "a=data", "b=data", "--set", "engine=vdisk"],
    ];
    for args in refused {
        let run = desk.run(args);
        let plan = desk.run(&[&["plan"], args].concat());
        assert_ne!(run.code, 0, "{args:?}: {run}");
        assert_eq!((run.code, run.err), (plan.code, plan.err), "{args:?}");
    }
    assert_snapshot!(desk.run(&["plan", "run", "trace.fio", "data", "--engine", "fio"]), @"
    error: trace.fio:2:12: read_iolog: cannot open DESK/trace: No such file or directory (os error 2)
      2 | read_iolog=trace
        |            ^^^^^
    [exit 2]
    ");
    assert_snapshot!(desk.run(&["plan", "run", "net.fio", "data", "--engine", "fio"]), @"
    error: arm target: job `net`: option ioengine (net.fio, line 2) is not passed to fio: it uses the network; remove it
    [exit 2]
    ");
}

#[test]
fn what_this_machine_lacks_is_said_in_the_plan() {
    let desk = desk();
    let arms = ["-w", "randread-4k", "a=data", "b=/no/such/b", "c=/no/such/c", "--seed", "1"];
    let run = desk.run(&[&["compare"], &arms[..]].concat());
    let planned = desk.run(&[&["plan", "compare"], &arms[..], &["--format", "json"]].concat());
    assert_eq!((run.code, planned.code), (2, 2), "{run}\n{planned}");
    let plan: Value = serde_json::from_str(&planned.out).unwrap();
    let said = plan["refused_here"][0].as_str().unwrap();
    let told = desk.path().display().to_string();
    assert!(run.err.contains(&said.replace(&told, "DESK")), "{said}\n{run}");
    let text = desk.run(&[&["plan", "compare"], &arms[..]].concat()).out;
    let (_, lacks) = text.split_once("\nOn this machine, ").unwrap();
    assert_snapshot!(lacks, @"
    iotax would currently refuse this run
      2 targets cannot be used:
        arm b: /no/such/b: does not exist; create the directory first, or check
        the spelling
        arm c: /no/such/c: does not exist; create the directory first, or check
        the spelling
    ");
    fs::create_dir(desk.path().join("out")).unwrap();
    fs::write(desk.path().join("out/experiment.json"), "{}").unwrap();
    let there = ["plan", "run", "randread-4k", "data", "--out", "out"];
    let text = desk.run(&there).out;
    assert!(text.contains("already contains a record"), "{text}");
}

#[test]
fn a_plan_says_which_engine_has_no_effect() {
    let plan = ["plan", "run", "randread-4k", "mem(size=4M)", "--seed", "1"];
    let text = |more: &[&str]| desk().run(&[&plan[..], more].concat()).out;
    assert!(text(&["--set", "engine=psync"]).contains("ignore engine=psync"));
    assert!(!text(&[]).contains("ignore"));
}
