//! Results that fio of several versions really wrote: see `fixtures/fio/README.md`.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use iotax_dialects::importers::{Imported, fio};
use iotax_record::{DirectionRecord, JobRecord};

fn text(name: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fio");
    fs::read_to_string(dir.join(name)).unwrap()
}

fn result(name: &str) -> Imported {
    fio::read_fio(&text(name)).unwrap()
}

/// The figures of one direction in a few words.
fn figures(direction: &DirectionRecord) -> String {
    let summary = direction.summary.clone().unwrap_or_default();
    let p99 = summary.quantiles.iter().find(|(q, _)| *q == 0.99).map(|(_, ns)| *ns);
    format!(
        "{} I/Os, {} bytes, {} errors, mean {:.0} ns, {:?}..{:?}, p99 {p99:?}, {} bins with {}",
        direction.ios,
        direction.bytes,
        direction.errors,
        summary.mean_ns,
        summary.min_ns.unwrap_or(0),
        summary.max_ns.unwrap_or(0),
        direction.fio_bins.len(),
        direction.service.count(),
    )
}

fn story(name: &str) -> String {
    let found = result(name);
    let mut lines = vec![format!("{}, started {:?}", found.tool, found.started)];
    for job in &found.jobs {
        lines.push(format!(
            "{}: {} x{} depth {}, {} ms",
            job.name,
            job.engine,
            job.threads,
            job.queue_depth,
            job.active_ns / 1_000_000
        ));
        lines.push(format!("  read: {}", figures(&job.read)));
        lines.push(format!("  write: {}", figures(&job.write)));
        lines.extend(job.trim.iter().map(|trim| format!("  trim: {}", figures(trim))));
        lines.push(format!("  syncs: {}, error: {:?}", job.sync.count(), job.first_error));
        let cpu_ms = (job.cpu_user_ns + job.cpu_system_ns) / 1_000_000;
        lines.push(format!("  cpu {cpu_ms} ms, {} switches", job.context_switches));
    }
    lines.extend(found.warnings);
    lines.join("\n")
}

#[test]
fn plain_json_says_enough_of_syncs() {
    let found = result("fio-3.33-syncs.json");
    let job = &found.jobs[0];
    let (count, summary) = job.sync_summary.as_ref().unwrap();
    assert_eq!((*count, job.sync.count()), (99, 0));
    assert!((summary.mean_ns - 2_320_031.6).abs() < 1.0, "{summary:?}");
    assert!(summary.quantiles.iter().any(|(q, ns)| (q - 0.99).abs() < 1e-9 && *ns > 0));
    assert!(result("fio-3.33-json-plus.json").jobs[0].sync_summary.is_none());
}

#[test]
fn json_plus_with_reads_writes_and_syncs() {
    insta::assert_snapshot!(story("fio-3.33-json-plus.json"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:02Z")
    mixed: psync x2 depth 1, 107 ms
      read: 369 I/Os, 1511424 bytes, 0 errors, mean 398869 ns, 1071..9389235, p99 Some(4046848), 192 bins with 369
      write: 143 I/Os, 585728 bytes, 0 errors, mean 6550 ns, 1662..44116, p99 Some(24192), 86 bins with 143
      syncs: 20, error: None
      cpu 10 ms, 390 switches
    "#);
}

#[test]
fn trims_have_counts_and_latencies_of_their_own() {
    insta::assert_snapshot!(story("fio-3.33-trims.json"), @r#"
    fio 3.33, started Some("2026-11-26T12:59:45Z")
    pairs: psync x2 depth 1, 58 ms
      read: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      write: 1024 I/Os, 4194304 bytes, 0 errors, mean 14588 ns, 1993..233939, p99 None, 236 bins with 1024
      trim: 1024 I/Os, 4194304 bytes, 0 errors, mean 93386 ns, 11717..2019005, p99 None, 297 bins with 1024
      syncs: 0, error: None
      cpu 20 ms, 2190 switches
    trims: psync x1 depth 1, 5 ms
      read: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      write: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      trim: 64 I/Os, 4194304 bytes, 0 errors, mean 69800 ns, 14261..161701, p99 Some(160768), 58 bins with 64
      syncs: 0, error: None
      cpu 0 ms, 65 switches
    "#);
    let found = result("fio-3.33-trims.json");
    check_percentiles(&found.jobs[1]);
    let [pairs, trims] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
    assert_eq!((pairs.ios(), trims.ios(), trims.bytes()), (2048, 64, 4 << 20));
    assert_eq!(trims.latency_from(false).count(), 64);
    assert!(trims.per_second_ios().is_empty());
}

#[test]
fn clones_are_merged() {
    insta::assert_snapshot!(story("fio-3.33-clones.json"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:02Z")
    clones: psync x3 depth 1, 48 ms
      read: 300 I/Os, 1228800 bytes, 0 errors, mean 356854 ns, 1623..11970235, p99 None, 0 bins with 0
      write: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      syncs: 0, error: None
      cpu 8 ms, 251 switches
    job clones: no percentiles, because the percentiles of its 3 threads cannot be merged; use --output-format=json+ or group_reporting
    "#);
    insta::assert_snapshot!(story("fio-3.33-clones-json-plus.json"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:03Z")
    clones: psync x3 depth 1, 40 ms
      read: 300 I/Os, 1228800 bytes, 0 errors, mean 330257 ns, 1402..4989176, p99 None, 149 bins with 300
      write: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      syncs: 0, error: None
      cpu 8 ms, 273 switches
    "#);
}

#[test]
fn the_last_of_several_documents_counts() {
    assert!(text("fio-3.33-status-interval.json").matches("\"fio version\"").count() > 1);
    insta::assert_snapshot!(story("fio-3.33-status-interval.json"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:04Z")
    paced: psync x1 depth 1, 3004 ms
      read: 150 I/Os, 614400 bytes, 0 errors, mean 1415921 ns, 64144..12073572, p99 Some(8028160), 0 bins with 0
      write: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      syncs: 0, error: None
      cpu 20 ms, 300 switches
    "#);
}

#[test]
fn jobs_after_each_other_are_in_different_groups() {
    insta::assert_snapshot!(story("fio-3.33-stonewall.json"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:08Z")
    first: psync x1 depth 1, 10 ms
      read: 64 I/Os, 262144 bytes, 0 errors, mean 146535 ns, 551..5296078, p99 Some(5275648), 40 bins with 64
      write: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      syncs: 0, error: None
      cpu 0 ms, 2 switches
    second: psync x1 depth 1, 1 ms
      read: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      write: 64 I/Os, 262144 bytes, 0 errors, mean 4012 ns, 2694..33870, p99 Some(34048), 42 bins with 64
      syncs: 0, error: None
      cpu 0 ms, 0 switches
    "#);
}

#[test]
fn reads_and_writes_that_fio_put_together() {
    insta::assert_snapshot!(story("fio-3.33-unified.json"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:09Z")
    together: psync x1 depth 1, 26 ms
      read: 64 I/Os, 262144 bytes, 0 errors, mean 398463 ns, 1963..4032922, p99 Some(4046848), 57 bins with 64
      write: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      syncs: 0, error: None
      cpu 2 ms, 24 switches
    job together: fio combined reads and writes (unified_rw_reporting); all are shown as reads
    "#);
}

#[test]
fn latencies_that_fio_was_told_to_measure_otherwise() {
    insta::assert_snapshot!(story("fio-3.33-lat-percentiles.json"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:10Z")
    total: psync x1 depth 1, 14 ms
      read: 29 I/Os, 118784 bytes, 0 errors, mean 435943 ns, 55031..3840982, p99 Some(3850240), 20 bins with 29
      write: 35 I/Os, 143360 bytes, 0 errors, mean 4695 ns, 1852..25948, p99 Some(25984), 34 bins with 35
      syncs: 0, error: None
      cpu 1 ms, 29 switches
    job total: read latencies are fio's lat (which includes submission), because the result has less clat data than lat data
    job total: write latencies are fio's lat (which includes submission), because the result has less clat data than lat data
    "#);
    insta::assert_snapshot!(story("fio-3.33-no-clat.json"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:11Z")
    none: psync x1 depth 1, 28 ms
      read: 64 I/Os, 262144 bytes, 0 errors, mean 422297 ns, 1092..4089503, p99 None, 0 bins with 0
      write: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      syncs: 0, error: None
      cpu 1 ms, 29 switches
    job none: read latencies are fio's lat (which includes submission), because the result has less clat data than lat data
    "#);
}

#[test]
fn errors_and_warnings_are_kept() {
    insta::assert_snapshot!(story("fio-3.33-error.json"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:12Z")
    broken: libaio x1 depth 8, 20 ms
      read: 2 I/Os, 8192 bytes, 1 errors, mean 1891630 ns, 245773..3537487, p99 Some(3522560), 0 bins with 0
      write: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      syncs: 0, error: Some("fio: Invalid argument (os error 22)")
      cpu 0 ms, 2 switches
    fio: pid=9972, err=22/file:filesetup.c:805, func=open(/dev/full), error=Invalid argument
    "#);
    insta::assert_snapshot!(story("fio-3.33-warned.txt"), @r#"
    fio 3.33, started Some("2026-11-22T06:48:12Z")
    warned: psync x1 depth 1, 33 ms
      read: 16 I/Os, 65536 bytes, 0 errors, mean 1993665 ns, 41782..7658921, p99 Some(7634944), 0 bins with 0
      write: 0 I/Os, 0 bytes, 0 errors, mean 0 ns, 0..0, p99 None, 0 bins with 0
      syncs: 0, error: None
      cpu 1 ms, 16 switches
    note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1
    "#);
}

/// fio's own percentile is the middle of the first bin in which the cumulative count reaches it.
#[test]
fn percentiles_of_the_bins_are_those_that_fio_printed() {
    for name in ["fio-3.33-json-plus.json", "fio-3.33-stonewall.json"] {
        for job in result(name).jobs {
            check_percentiles(&job);
        }
    }
}

fn check_percentiles(job: &JobRecord) {
    for direction in job.directions() {
        let Some(summary) = &direction.summary else { continue };
        let total: u64 = direction.fio_bins.iter().map(|(_, n)| n).sum();
        assert_eq!((total, direction.service.count()), (direction.ios, direction.ios));
        for (q, printed_ns) in &summary.quantiles {
            let mut before = 0;
            let bin = direction.fio_bins.iter().find(|(_, n)| {
                before += n;
                before as f64 >= q * total as f64
            });
            assert_eq!(bin.map(|(ns, _)| *ns), Some(*printed_ns), "{} at {q}", job.name);
        }
    }
}
