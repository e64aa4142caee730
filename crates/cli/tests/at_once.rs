//! Many of one kind started at once in one directory: every one keeps its results. `IOTAX_AT_ONCE`
//! says how many.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};

use support::Desk;

const AT_ONCE: usize = 16;

fn at_once() -> usize {
    let number = std::env::var("IOTAX_AT_ONCE").ok().and_then(|number| number.parse().ok());
    number.unwrap_or(AT_ONCE)
}

/// Starts the same command so many times, and expects each of them to end well.
fn all_at_once(desk: &Desk, args: &[&str]) {
    let start = |_| {
        let mut command = desk.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<Child> = (0..at_once()).map(start).collect();
    let ended: Vec<_> =
        started.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in ended {
        assert!(output.status.success(), "{}", desk.said(&output));
    }
}

fn directories(desk: &Desk, start: &str) -> BTreeSet<String> {
    let is_one = |name: &String| name.starts_with(start) && desk.path().join(name).is_dir();
    desk.names().into_iter().filter(is_one).collect()
}

#[test]
fn comparisons_in_one_directory_in_one_second_all_live() {
    let desk = Desk::new();
    let arms = ["-w", "randread-4k", "a=mem(size=1M)", "b=mem(size=1M)"];
    let short = ["--time", "1s", "--ramp", "0", "--max-blocks", "2"];
    all_at_once(&desk, &[&["compare"], &arms[..], &short, &["--no-depth-check"]].concat());
    let made = directories(&desk, "iotax-compare-");
    assert_eq!(made.len(), at_once(), "{made:?}");
    for dir in made {
        let dir = desk.path().join(dir);
        let trials = fs::read_to_string(dir.join("trials.jsonl")).unwrap();
        assert_eq!(trials.lines().count(), 4, "{}", dir.display());
        assert!(dir.join("report.html").exists());
    }
}

#[test]
fn bundles_of_one_record_at_once_are_all_whole() {
    let desk = Desk::new();
    let run = ["run", "randread-4k", "mem(size=1M)", "--time", "1s", "--ramp", "0"];
    let said = desk.run(&[&run[..], &["--out", "rec"]].concat());
    assert_eq!(said.code, 0, "{said}");
    all_at_once(&desk, &["repro", "rec"]);
    let made = directories(&desk, "iotax-repro-");
    assert_eq!(made.len(), at_once(), "{made:?}");
    let files = |dir: &str| fs::read_dir(desk.path().join(dir)).unwrap().count();
    for dir in &made {
        assert_eq!(files(dir), files(made.first().unwrap()), "{dir}");
        assert!(desk.path().join(format!("{dir}.tar.gz")).exists(), "{dir}");
    }
}
