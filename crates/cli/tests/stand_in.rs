//! Where a sandbox forbids `io_uring`, `libaio` stands in for it, is named, and is compared with no
//! other.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use serde_json::Value;
use support::Desk;

/// Forbids what container runtimes forbid by default.
fn forbid_io_uring(command: &mut Command) {
    /// The same on all architectures.
    const IO_URING: [i64; 3] = [425, 426, 427];
    let filter = SeccompFilter::new(
        IO_URING.map(|call| (call, Vec::new())).into(),
        SeccompAction::Allow,
        SeccompAction::Errno(1),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    let forbid = move || apply_filter(&program).map_err(std::io::Error::other);
    // SAFETY: two system calls, which are async-signal-safe; nothing is allocated unless one fails.
    #[expect(unsafe_code, reason = "safe Rust cannot run code between fork and exec")]
    unsafe {
        command.pre_exec(forbid)
    };
}

/// Runs random reads in a directory for a moment: the engine in the record, and what is noted.
fn driven(desk: &Desk, out: &str, is_allowed: bool, more: &[&str]) -> (String, String) {
    let load = ["run", "randread-4k", "d", "--time", "100ms", "--ramp", "0", "--set", "depth=8"];
    let brief = ["--set", "size=1M", "--out", out, "--format", "json"];
    let mut command = desk.command(&[&load[..], &brief, more].concat());
    if !is_allowed {
        forbid_io_uring(&mut command);
    }
    let output = command.output().unwrap();
    let (told, noted) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{noted}");
    let told: Value = serde_json::from_slice(&told).unwrap();
    let trials = std::fs::read_to_string(desk.path().join(out).join("trials.jsonl")).unwrap();
    let trial: Value = serde_json::from_str(trials.lines().next().unwrap()).unwrap();
    let job = &trial["load"]["jobs"][0];
    assert_eq!(job["queue_depth"], 8, "{told}");
    (job["engine"].as_str().unwrap().to_owned(), noted)
}

#[test]
fn libaio_stands_in_for_io_uring_where_that_is_forbidden_and_is_not_compared_with_it() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path().join("d")).unwrap();
    let forbidden = "a sandbox blocks io_uring here";
    let (engine, noted) = driven(&desk, "with", true, &[]);
    if engine == "libaio" {
        // This machine is such a sandbox.
        assert!(noted.contains(forbidden), "{noted}");
        return;
    }
    assert_eq!(engine, "io_uring");
    assert!(!noted.contains(forbidden), "{noted}");
    let (engine, noted) = driven(&desk, "without", false, &[]);
    assert_eq!(engine, "libaio");
    assert!(noted.contains(forbidden), "{noted}");
    // Nobody stands in for what was asked for.
    let (engine, noted) = driven(&desk, "asked", false, &["--set", "engine=libaio"]);
    assert_eq!(engine, "libaio");
    assert!(!noted.contains(forbidden), "{noted}");

    let report = std::fs::read_to_string(desk.path().join("without/report.html")).unwrap();
    assert!(report.contains("blocked"));
    driven(&desk, "with-2", true, &[]);
    driven(&desk, "without-2", false, &[]);
    let said = desk.run(&["compare", "a=with", "a=with-2", "b=without", "b=without-2"]);
    assert!(said.out.contains("engine=libaio"), "{said}");
    // What was asked for may be compared, with whatever.
    for other in ["with", "without"] {
        let said = desk.run(&["compare", "asked=asked", &format!("other={other}")]);
        assert!(!said.out.contains("engine=libaio"), "{said}");
    }
}
