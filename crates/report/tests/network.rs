//! What reports say of network paths: what their load is about, and nothing of disks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{analyses, html, markup, text};
use iotax_analyze::{Analysis, JobSummary, NetworkLoad, NetworkSummary};
use iotax_experiment::{Arm, Job, Pace, Stack, Target, Workload};
use iotax_record::{ExperimentHead, Site};
use iotax_report::Style;

fn summary(load: NetworkLoad) -> NetworkSummary {
    NetworkSummary {
        load,
        bits_per_s: 16.5e9,
        each_way: None,
        cpu_ns: 484e3,
        retransmits_per_gib: None,
        rtt_ns: None,
        lost: None,
        reordered: None,
        jitter_ns: None,
        copied: None,
    }
}

/// A run of a built-in workload over a network path.
fn run(workload: &str, load: NetworkLoad) -> (ExperimentHead, Analysis) {
    let (mut experiment, mut analysis) = (common::run(), analyses::run());
    let path: Stack = "netns".parse().unwrap();
    experiment.spec = experiment.spec.with(|spec| {
        spec.phases[0] = Workload::preset(workload).unwrap();
        spec.arms = vec![Arm::new("target", Target::Stack(path))];
    });
    let (kind, target) = ("network path".to_owned(), "netns".to_owned());
    experiment.sites = vec![Site { kind, target, ..Site::default() }];
    workload.clone_into(&mut analysis.workload);
    analysis.arms.truncate(1);
    let arm = &mut analysis.arms[0];
    (arm.target, arm.network) = ("netns".to_owned(), Some(summary(load)));
    arm.other_jobs.clear();
    (experiment, analysis)
}

#[test]
fn each_load_is_told_in_its_own_words() {
    let loads = [
        ("tcp-stream", NetworkLoad::Stream, "Mbit/s", "CPU per MiB", "Mbit/s of the primary job"),
        (
            "udp-stream",
            NetworkLoad::Datagrams,
            "Mbit/s",
            "CPU per MiB",
            "Mbit/s of the primary job",
        ),
        ("tcp-rr", NetworkLoad::RoundTrips, "requests/s", "CPU per request", "Requests per second"),
        (
            "tcp-connect",
            NetworkLoad::Connections,
            "connections/s",
            "CPU per connection",
            "Connections per second",
        ),
    ];
    for (workload, load, unit, cpu, caption) in loads {
        let (experiment, analysis) = run(workload, load);
        let page = html(&experiment, &analysis);
        for told in [&format!("\"unit\":\"{unit}\""), cpu, caption] {
            assert!(page.contains(told), "{told} of {workload}");
        }
        let seen = markup(&page);
        for of_disks in ["IOPS", "I/O", "page cache", ">storage<"] {
            assert!(!seen.contains(of_disks), "{of_disks} of {workload}");
        }
    }
}

#[test]
fn what_a_stream_moves_is_drawn_in_bits() {
    let (experiment, mut analysis) = run("tcp-stream", NetworkLoad::Stream);
    analysis.arms[0].iops = 1_000.0;
    analysis.arms[0].bytes_per_s = 125e6;
    analysis.trials.truncate(1);
    analysis.trials[0].per_second_ios = vec![1_000, 500];
    assert!(html(&experiment, &analysis).contains("\"values\":[1000,500]"));
}

#[test]
fn other_jobs_are_told_in_what_they_do() {
    let (mut experiment, mut analysis) = run("tcp-rr", NetworkLoad::RoundTrips);
    let stream = Workload::preset("tcp-stream").unwrap().jobs[0].clone();
    experiment.spec = experiment
        .spec
        .with(|spec| spec.phases[0].jobs.push(Job { name: "beside".to_owned(), ..stream }));
    analysis.arms[0].other_jobs.push(JobSummary {
        name: "beside".to_owned(),
        target: None,
        iops: 1_000.0,
        bytes_per_s: 125e6,
        mean_latency_ns: 1e6,
        p99_latency_ns: 2_000_000,
        p999_latency_ns: 3_000_000,
        sync: None,
    });
    let shown = text(&experiment, &analysis, Style { color: false, width: 80 });
    let section = &shown[shown.find("Other jobs").unwrap()..];
    insta::assert_snapshot!(section.split("\n\n").next().unwrap(), @"
    Other jobs
      arm     job            rate
      target  beside  1.00 Gbit/s
    ");
}

#[test]
fn an_offered_rate_is_told_as_what_passes() {
    let (mut experiment, analysis) = run("udp-stream", NetworkLoad::Datagrams);
    experiment.spec =
        experiment.spec.with(|spec| spec.phases[0].jobs[0].pace = Pace::Even { iops: 5_000.0 });
    assert_eq!(experiment.spec.workload().jobs[0].block_sizes.max_bytes(), 1200);
    assert!(html(&experiment, &analysis).contains("48.0 Mbit/s, evenly spaced"));
}
