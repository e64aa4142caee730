//! Test files that fit where they go, and what is said where they do not.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use insta::assert_snapshot;
use iotax_testing::needs_root;
use serde_json::Value;
use support::{Desk, Said};

const STACK: &str = "file(size=1G) + ext4";
const REFUSED: &str = "On this machine, iotax would currently refuse this run";

fn planned(desk: &Desk, args: &[&str]) -> Value {
    let said = desk.run(&[&["plan"], args, &["--format", "json"]].concat());
    let plan: Value = serde_json::from_str(&said.out).unwrap();
    let is_refused = plan["refused_here"].as_array().is_some_and(|reasons| !reasons.is_empty());
    assert_eq!(said.code, if is_refused { 2 } else { 0 }, "{said}");
    plan
}

/// What a plan says under a title.
fn told(desk: &Desk, title: &str, args: &[&str]) -> String {
    let said = desk.run(&[&["plan"], args].concat());
    assert_eq!(said.code, if title == REFUSED { 2 } else { 0 }, "{said}");
    let (_, rest) = said.out.split_once(&format!("{title}\n")).expect(title);
    rest.split("\n\n").next().unwrap().trim_end().to_owned()
}

#[test]
fn a_stack_takes_the_default_workload_and_the_record_says_what_it_took() {
    let desk = Desk::new();
    if !needs_root() {
        return;
    }
    let args = ["run", "randread-4k", STACK, "--time", "300ms", "--ramp", "0s", "--seed", "1"];
    let said = desk.run(&[&args[..], &["-n", "1", "--out", "out"]].concat());
    assert_eq!(said.code, 0, "{said}");
    assert_snapshot!(said.err.lines().next().unwrap(), @"note: test files shrunk from 1G to 832M, because target has room for only 857M");
    let record = fs::read_to_string(desk.path().join("out/experiment.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let plan = planned(&desk, &[&args[..], &["-n", "1"]].concat());
    assert_eq!(plan["spec"], record["spec"], "a plan and a run are one resolution");
    assert_snapshot!(plan["spec"]["fitted"], @r#"{"arm":0,"free_bytes":899258774,"from_bytes":1073741824,"scale":null,"to_bytes":872415232}"#);
    assert!(said.out.contains("size of the test files"), "{said}");
}

#[test]
fn all_arms_get_what_the_smallest_has_room_for() {
    let desk = Desk::new();
    let arms = ["compare", "-w", "randread-4k", "large=file(size=4G) + ext4"];
    let small = format!("small={STACK}");
    assert_snapshot!(told(&desk, "Files", &[&arms[..], &[&small]].concat()), @"  test files shrunk from 1G to 832M, because small has room for only 857M");
}

#[test]
fn a_search_engine_shrinks_by_its_scale() {
    let desk = Desk::new();
    let plan = planned(&desk, &["run", "driver-searcher", "file(size=2G) + ext4"]);
    assert_snapshot!(plan["spec"]["fitted"], @r#"{"arm":0,"free_bytes":1865626412,"from_bytes":118161932288,"scale":0.03,"to_bytes":1742733312}"#);
    assert_eq!(plan["spec"]["phases"][0]["time_ns"], 3_000_000_000_u64);
}

/// What was asked for is obeyed or refused, in a plan as in a run.
#[test]
fn what_was_asked_for_is_refused_with_what_would_do() {
    let desk = Desk::new();
    let said = |args: &[&str]| {
        let run: Said = desk.run(&[&["run"], args].concat());
        let plan = planned(&desk, &[&["run"], args].concat());
        assert_eq!(plan["spec"]["fitted"], Value::Null);
        let refused = plan["refused_here"][0].as_str().unwrap().to_owned();
        let shown = refused.replace(&desk.path().display().to_string(), "DESK");
        assert_eq!((run.code, run.err.trim_end()), (2, format!("error: {shown}").as_str()));
        // Who may not make file systems is told that, too.
        let lines = refused.lines().filter(|line| !line.contains("needs root"));
        lines.map(|line| line.trim_start().to_owned() + "\n").collect::<String>()
    };
    let asked = said(&["randread-4k", STACK, "--set", "size=2G"]);
    let scaled = said(&["driver-searcher", STACK, "--scale", "0.1"]);
    let published = said(&["driver-searcher-published", STACK]);
    if needs_root() {
        assert_snapshot!(asked, @"
        arm target: the test files need 2 GiB, but the stack has only 1 GiB
        use a stack of size=2560M, or file sizes of at most 857M in total
        ");
        assert_snapshot!(scaled, @"
        arm target: the test files need 5.6 GiB, but the stack has only 1 GiB
        use a stack of size=6656M, or --scale 0.01
        ");
        assert_snapshot!(published, @"
        arm target: the test files need 110 GiB, but the stack has only 1 GiB
        use a stack of size=128G
        ");
    }
}

#[test]
fn below_the_floor_it_is_refused() {
    let desk = Desk::new();
    let small = told(&desk, REFUSED, &["run", "randread-4k", "file(size=64M) + ext4"]);
    if needs_root() {
        assert_snapshot!(small, @"
        arm target: the test files need 1 GiB, but the stack has only 64 MiB
        randread-4k cannot shrink its test files below 64M, because the results would
          be meaningless; use a stack of size=96M
        ");
    }
}
