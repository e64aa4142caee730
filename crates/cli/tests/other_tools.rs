//! Other tools as engines: the same experiment, driven by fio or iperf3.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use iotax_testing::{needs_program, needs_root};
use support::{Desk, wait_for};

/// Two directories to compare, on a workload of a moment.
fn compare(desk: &Desk, more: &[&str]) -> support::Said {
    for name in ["a", "b"] {
        fs::create_dir(desk.path().join(name)).unwrap();
    }
    let mut args = vec!["compare", "-w", "randread-4k", "--time", "1600ms", "--ramp", "100ms"];
    args.extend(["--set", "size=4M", "--set", "direct=false", "--set", "engine=psync"]);
    args.extend(["--set", "depth=1", "--max-blocks", "2", "--out", "out", "one=a", "two=b"]);
    args.extend(more);
    desk.run(&args)
}

#[test]
fn one_arm_native_and_one_with_fio() {
    // Root, for fio's logs.
    if !needs_program("fio") || !needs_root() {
        return;
    }
    let desk = Desk::new();
    let said = compare(&desk, &["--engine", "two=fio"]);
    assert_eq!(said.code, 0, "{said}");
    let trials = fs::read_to_string(desk.path().join("out/trials.jsonl")).unwrap();
    let mut drivers: Vec<String> = Vec::new();
    for line in trials.lines() {
        let trial: serde_json::Value = serde_json::from_str(line).unwrap();
        let driver = trial["load"]["driver"].as_str().unwrap();
        let expected = if trial["arm"] == "two" { "fio" } else { "native" };
        assert!(driver.starts_with(expected), "{driver}");
        let read = &trial["load"]["jobs"][0]["read"];
        assert!(read["ios"].as_u64() > Some(0));
        // fio's are made of its logs.
        assert_eq!(read["per_second_ios"].as_array().unwrap().len(), 1, "{driver}: {read}");
        drivers.push(expected.to_owned());
    }
    assert!(drivers.len() == 4, "{drivers:?}");
    // The private directories are gone, and fio left nothing beside them.
    assert_eq!(desk.names(), ["a", "b", "out"]);
    for name in ["a", "b"] {
        assert_eq!(fs::read_dir(desk.path().join(name)).unwrap().count(), 0);
    }
}

#[test]
fn an_engine_for_an_arm_that_is_not_there_is_refused() {
    assert_snapshot!(compare(&Desk::new(), &["--engine", "three=fio"]), @"
    error: --engine three=fio: unknown arm; the arms are one, two
    [exit 2]
    ");
    assert_snapshot!(compare(&Desk::new(), &["--engine", "one=diskspd"]), @"
    error: --engine one=diskspd: unknown engine `diskspd`; use native, fio or iperf3, as in --engine fio or --engine ARM=fio
    [exit 2]
    ");
}

#[test]
fn one_arm_native_and_one_with_iperf3_on_one_path() {
    if !needs_program("iperf3") {
        return;
    }
    let desk = Desk::new();
    let said = desk.run(&[
        "compare", "-w", "tcp-stream", "ours=loopback", "theirs=loopback", "--engine",
        "theirs=iperf3", "--time", "1s", "--ramp", "50ms", "--max-blocks", "2", "--out", "out",
        "--format", "json",
    ]);
    assert_eq!(said.code, 0, "{said}");
    let said: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let metrics = said["comparisons"].as_array().unwrap().iter();
    let metrics: Vec<&str> = metrics.map(|c| c["metric"].as_str().unwrap()).collect();
    assert_eq!(metrics, ["bandwidth", "cpu_per_mib"]);
    let trials = fs::read_to_string(desk.path().join("out/trials.jsonl")).unwrap();
    assert_eq!(trials.lines().count(), 4);
    for line in trials.lines() {
        let trial: serde_json::Value = serde_json::from_str(line).unwrap();
        let driver = trial["load"]["driver"].as_str().unwrap();
        let expected = if trial["arm"] == "theirs" { "iperf3 3." } else { "native" };
        assert!(driver.starts_with(expected), "{driver}");
    }
}

#[test]
fn a_killed_run_leaves_no_iperf3_at_either_end() {
    if !needs_program("iperf3") {
        return;
    }
    let desk = Desk::new();
    let words = ["run", "tcp-stream", "loopback", "--engine", "iperf3", "--time", "600s"];
    let mut run = desk.command(&words).spawn().unwrap();
    let mut both = Vec::new();
    wait_for("both ends", || {
        both = descendants(run.id());
        both.retain(|pid| is_iperf3(*pid));
        both.len() == 2
    });
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("both ends to be gone", || !both.iter().any(|pid| is_iperf3(*pid)));
    assert_eq!(desk.run(&["undo"]).code, 0);
}

fn descendants(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = threads.flat_map(|thread| {
        let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        children.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()
    });
    children.flat_map(|child| [vec![child], descendants(child)].concat()).collect()
}

fn is_iperf3(pid: u32) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe"));
    program.is_ok_and(|program| program.file_name() == Path::new("iperf3").file_name())
}

/// fio is recommended only if the fio that is here can do it on this target.
#[test]
fn fio_is_recommended_where_it_can_do_the_job() {
    if !needs_program("fio") {
        return;
    }
    let desk = Desk::new();
    fs::create_dir(desk.path().join("d")).unwrap();
    let line = "fio --name=a --rw=read --size=50% --runtime=1 --time_based";
    let plan = |target: &str| desk.run(&["plan", "run", line, target]);
    assert_snapshot!(plan("d"), @"
    error: iotax's own engines do not support size=50%
      a command line: size=50%
        a percentage of the target's size
    run the workload with fio: --engine fio
    [exit 2]
    ");
    assert_snapshot!(plan("mem(size=64M)"), @"
    error: iotax's own engines do not support size=50%
      a command line: size=50%
        a percentage of the target's size
    fio cannot run this workload here: fio cannot use mem(size=64M), a virtual disk inside iotax; mount it (iotax disk up) and name its mount point
    [exit 2]
    ");
    let newer = "fio --name=a --rw=read --size=50% --runtime=1 --time_based --fadvise_hint=noreuse";
    assert_snapshot!(desk.run(&["plan", "run", newer, "d"]), @"
    error: iotax's own engines do not support these 2 options
      a command line: size=50%
        a percentage of the target's size
      a command line: fadvise_hint=noreuse
        a cache hint that does not match the job's access pattern; introduced with fio 3.35
    fio cannot run this workload here: job `a`: the installed fio is 3.33, but `fadvise_hint=noreuse` (a command line) was introduced with fio 3.35; remove the option, or install a newer fio
    [exit 2]
    ");
    let mut command = desk.command(&["plan", "run", line, "d"]);
    let said = command.env("PATH", "").output().unwrap();
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(
        !said.contains("--engine fio") && said.contains("fio cannot run this workload here"),
        "{said}"
    );
}

/// A line of several programs is read wherever a workload is named.
#[test]
fn a_pasted_line_is_read_wherever_a_workload_is_named() {
    let desk = Desk::new();
    for name in ["a", "b"] {
        fs::create_dir(desk.path().join(name)).unwrap();
    }
    let line = "root@host:/mnt# sudo numactl -N 0 /usr/bin/fio --name=t --filename=/dev/sdX \
                --rw=randread --size=1M --runtime=1 --time_based > /tmp/out.txt 2>&1 && rm -f x";
    assert_snapshot!(desk.run(&["plan", "run", line, "a", "--seed", "1"]), @"
    Workload t
      every trial: 0s ramp, then 1s measured
      t: 1 thread, shuffled 4k reads, over 1M of `sdX`, psync buffered (cold cache)
      a command line: filename=/dev/sdX: replaced by TARGET
      a command line: sudo: start iotax itself as root if the target requires root
      a command line: numactl -N 0: ignored; to use these CPUs or nodes, start iotax
        under this command
      a command line: > /tmp/out.txt: ignored; iotax writes its own reports
      a command line: 2>&1: ignored; iotax writes its own reports
      a command line: rm -f x: not run; iotax creates and removes its own test files

    Arms
      target  DESK/a

    Stops
      after 1 trial of each arm

    Schedule, seed 1
      1 block of 1 trial, 1s, not including switching between arms
      block  1: target
    [exit 0]
    ");
    let dashes = "fio \u{2013}name=t \u{2013}rw=randread \u{2013}size=1M \u{2013}filename=/mnt/x";
    for args in [
        &["run", dashes, "a"][..],
        &["plan", "run", dashes, "a"],
        &["compare", "-w", dashes, "a", "b"],
        &["compare", dashes, "a", "b"],
        &["plan", "compare", "-w", dashes, "a", "b"],
        &["peel", "mem(size=8M) + aes", "-w", dashes],
    ] {
        let said = desk.run(args);
        assert_eq!(said.code, 2, "{said}");
        assert!(said.err.contains("`\u{2013}` is an en dash (U+2013)"), "{said}");
    }
    let said = desk.run(&["compare", "-w", line, "a", "b", "--max-blocks", "1", "--time", "50ms"]);
    assert_eq!(said.code, 0, "{said}");
}
