//! Reports of several experiments in one page, and pages that are opened.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use support::{Desk, wait_for};

/// A run, a comparison of two phases, and a search for caps.
fn desk_with_results() -> Desk {
    let desk = Desk::new();
    let jobs = "[global]\nbs=4k\nsize=1M\nioengine=psync\ntime_based\nruntime=300ms\n\
                [reads]\nrw=randread\n[writes]\nstonewall\nrw=write\n";
    fs::write(desk.path().join("two.fio"), jobs).unwrap();
    let run = ["run", "randread-4k", "mem(size=4M)", "--time", "300ms", "--ramp", "0s", "-n", "2"];
    let slow = "slow=mem(size=4M) + delay(latency=300us)";
    let compare = ["compare", "-w", "two.fio", "base=mem(size=4M)", slow, "--max-blocks", "3"];
    let limits = ["limits", "mem(size=64M) + throttle(iops=2000)", "--quick"];
    for (command, out) in [(&run[..], "run"), (&compare[..], "compared"), (&limits[..], "caps")] {
        let said = desk.run(&[command, &["--out", out]].concat());
        assert_eq!(said.code, 0, "{said}");
    }
    desk
}

#[test]
fn several_experiments_are_one_page() {
    let desk = desk_with_results();
    let said = desk.run(&["report", "run", "compared", "caps", "--out", "all"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.starts_with("3 experiments\n"), "{said}");
    for name in ["1 of 3: run", "2 of 3: compared", "Phase 1 of 2", "3 of 3: caps"] {
        assert!(said.out.contains(&format!("\n{name}\n")), "{name}: {said}");
    }
    assert!(said.out.ends_with("\nReport: all/report.html\n"), "{said}");
    let page = fs::read_to_string(desk.path().join("all/report.html")).unwrap();
    assert_eq!(page.matches("<details class=\"chapter\"").count(), 3 + 2, "phases are folded, too");
    assert!(page.contains("id=\"part-2-part-1\""));
    let kinds = ["experiment", "search"].map(|kind| format!("data-kind=\"{kind}\""));
    assert!(kinds.iter().all(|kind| page.contains(kind)), "each draws its own");

    let quiet = desk.run(&["report", "run", "caps", "--out", "quiet", "-q"]);
    assert!(quiet.out.starts_with("1 of 2: run\nrandread-4k"), "{quiet}");
    assert!(quiet.out.contains("\n\n2 of 2: caps\n"), "{quiet}");
    for of_page in ["Report:", "Findings", "\nLatency"] {
        assert!(!quiet.out.contains(of_page), "{of_page}: {quiet}");
    }

    let again = desk.run(&["report", "run", "caps", "--out", "all"]);
    assert_eq!(again.code, 2, "a page is never written over: {again}");
    let markdown = desk.run(&["report", "run", "caps", "--out", "again", "--format", "markdown"]);
    assert!(markdown.out.contains("| results | measurement | finding | time |"), "{markdown}");
}

#[test]
fn what_several_cannot_do_is_said() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("a")).unwrap();
    fs::write(desk.path().join("b.json"), "{}").unwrap();
    let refused = |args: &[&str]| {
        let said = desk.run(&[&["report"], args].concat());
        assert_ne!(said.code, 0, "{said}");
        said.err
    };
    insta::assert_snapshot!(refused(&["a", "a", "--format", "json"]), @"error: several directories can only be reported as text or Markdown; for another format, report each directory separately");
    insta::assert_snapshot!(refused(&["a", "a", "--fail-if", "slower by 5%"]), @"error: --fail-if and --undecided apply to a single experiment; report each directory separately");
    insta::assert_snapshot!(refused(&["a", "a", "--undecided", "pass"]), @"error: --fail-if and --undecided apply to a single experiment; report each directory separately");
    insta::assert_snapshot!(refused(&["a", "b.json"]), @"error: b.json is a file, but other arguments are directories; report files and directories separately");
    insta::assert_snapshot!(refused(&["a", "c"]), @"error: a is not an iotax results directory: it has no experiment.json; pass the directory that the run printed at the end");
    insta::assert_snapshot!(refused(&["b.json", "--open"]), @"error: --open needs a report.html, which results from other tools do not have; create one with --out DIR");
}

/// Calls what the desktop opens files with.
#[test]
fn a_page_is_opened_in_a_browser() {
    let desk = Desk::new();
    let run = ["run", "randread-4k", "mem(size=4M)", "--time", "300ms", "--ramp", "0s", "-n", "1"];
    assert_eq!(desk.run(&[&run[..], &["--out", "run"]].concat()).code, 0);
    let bin = desk.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("xdg-open");
    fs::write(&program, "#!/bin/sh\necho \"$1\" > opened.new && mv opened.new opened\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let report = |path: &str| {
        desk.said(&desk.command(&["report", "run", "--open"]).env("PATH", path).output().unwrap())
    };
    let said = report(&path);
    assert_eq!(said.code, 0, "{said}");
    let opened = desk.path().join("opened");
    wait_for("the browser", || opened.exists());
    assert_eq!(fs::read_to_string(&opened).unwrap().trim(), "run/report.html");

    let said = report(&Path::new("/nowhere").display().to_string());
    assert_ne!(said.code, 0, "{said}");
    insta::assert_snapshot!(said.err, @"error: cannot open run/report.html in a browser; open the file yourself: No such file or directory (os error 2)");
}
