//! Several workloads one after the other: job files with `stonewall`, and suites.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use serde_json::Value;
use support::Desk;

const JOBS: &str = "\
[global]
bs=4k
size=1M
ioengine=psync
time_based
runtime=300ms

[reads]
rw=randread

[writes]
stonewall
rw=write
";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn desk_with_jobs() -> Desk {
    let desk = Desk::new();
    fs::write(desk.path().join("two.fio"), JOBS).unwrap();
    desk
}

#[test]
fn what_a_stonewall_parts_runs_one_after_the_other_with_figures_of_its_own() {
    let desk = desk_with_jobs();
    let run = ["run", "two.fio", "mem(size=4M)", "-n", "2", "--out", "out", "--format", "json"];
    let said = desk.run(&run);
    assert_eq!(said.code, 0, "{said}");
    let result = json(&said.out);
    let jobs = result["jobs"].as_array().unwrap();
    let did = |job: &Value, direction: &str| job[direction]["total_ios"].as_u64().unwrap() > 0;
    assert_eq!(jobs.len(), 2);
    assert!(did(&jobs[0], "read") && !did(&jobs[0], "write"), "{said}");
    assert!(did(&jobs[1], "write") && !did(&jobs[1], "read"), "{said}");
    assert_eq!(result["iotax"]["suite"], "two");
    assert_eq!(result["iotax"]["phases"].as_array().unwrap().len(), 2);
    let page = fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    assert_eq!(page.matches("<details class=\"chapter\"").count(), 2, "both are in one page");
    assert!(page.contains("href=\"#part-2\""));

    let again = desk.run(&["report", "out", "--format", "csv"]);
    assert_eq!(again.code, 0, "{again}");
    assert_eq!(again.out.lines().count(), 1 + 2 * 2, "{again}");
    let again = desk.run(&["report", "out"]);
    assert!(again.out.starts_with("two: 2 phases, 4 trials in "), "{again}");
    assert!(again.out.contains("\nPhase 2 of 2\n"), "{again}");
}

#[test]
fn each_phase_of_a_comparison_has_its_own_verdict() {
    let desk = desk_with_jobs();
    let arms = ["base=mem(size=4M)", "slow=mem(size=4M) + delay(latency=300us)"];
    let options = ["compare", "--quick", "-w", "two.fio", "--out", "out", "--format", "json"];
    let said = desk.run(&[&options[..], &["--max-blocks", "3"], &arms].concat());
    assert_eq!(said.code, 0, "{said}");
    let result = json(&said.out);
    let phases = result["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 2, "{said}");
    for phase in phases {
        assert_eq!(phase["comparisons"][0]["arm"], "slow", "{said}");
        assert!(phase["comparisons"][0]["verdict"].is_string(), "{said}");
    }
    let said = desk.run(&["report", "out", "--format", "markdown"]);
    assert_eq!(said.code, 0, "{said}");
}

#[test]
fn a_plan_shows_every_phase() {
    let desk = desk_with_jobs();
    let said = desk.run(&["plan", "run", "two.fio", "mem(size=4M)"]);
    assert_eq!(said.code, 0, "{said}");
    for phase in ["Workload reads\n", "Workload writes\n"] {
        assert!(said.out.contains(phase), "{said}");
    }
    let said = desk.run(&["plan", "run", "constellation", "/mnt", "--format", "json"]);
    assert_eq!(json(&said.out)["spec"]["phases"].as_array().unwrap().len(), 4, "{said}");
}

#[test]
fn a_workload_that_is_nothing_is_said_to_be_nothing() {
    let desk = desk_with_jobs();
    let said = desk.run(&["run", "randred-4k", "mem"]);
    insta::assert_snapshot!(said, @"
    error: unknown workload `randred-4k`; did you mean `randread-4k`?
    known workloads: randread-4k, randwrite-4k, seqread-1m, seqwrite-1m, mixed-70-30, driver-searcher, driver-searcher-published, git-checkout, git-status, git-gc, tcp-stream, tcp-stream-back, tcp-stream-both, tcp-rr, tcp-connect, udp-stream, udp-stream-back, etcd-wal, etcd-wal-loaded, postgres, mysql, kafka, rocksdb, lucene, nats-sync, ml-load
    suites: provider-baseline, provider-baseline-azure, provider-baseline-aws, provider-baseline-gcp, constellation, nfs-kerberos, network, network-baseline, constellation-network, driver-searcher, fitness
    or give a job file (job.fio) or a command line ('fio --name=...', 'diskspd -b64K ...')
    [exit 2]
    ");
    let said = desk.run(&["run", "tow.fio", "mem"]);
    insta::assert_snapshot!(said, @"
    error: cannot read the job file tow.fio: No such file or directory (os error 2)
    [exit 2]
    ");
}
