//! Stalls of a few I/Os.

use iotax_experiment::Engine;
use iotax_record::machine::GroupIoLimits;

use crate::causes::{Scene, device};
use crate::support::SECONDS;
use crate::{confidence, texts};

/// One read at a time: 2 % of 20 ms, the others of 211 us.
fn stalls() -> Scene {
    let mut scene = Scene::healthy();
    scene.edit(|job| job.queue_depth = 1);
    scene.iops = 1654.0;
    let ios = 1654 * SECONDS;
    scene.latencies = vec![(211_000, ios - ios / 50), (20_000_000, ios / 50)];
    scene.counters.devices = vec![device("vda", [1654, 8], [0, 0], 0.6)];
    scene
}

fn told(scene: Scene) -> Vec<String> {
    let told = |suspect: iotax_diagnose::Suspect| {
        format!("{} {}", confidence(suspect.confidence), suspect.cause)
    };
    scene.suspects().into_iter().map(told).collect()
}

#[test]
fn they_are_the_cause_and_not_the_depth_of_the_load() {
    assert_eq!(told(stalls()), ["sure slow-few"]);
    let suspects = stalls().suspects();
    insta::assert_snapshot!(texts(&suspects[0].evidence), @"
    2.0 % of reads took 20.0 ms each and accounted for 66 % of the total time; the others took 211 µs each
    p50 211 µs, p90 211 µs, p99 20.0 ms and max 20.0 ms
    ");
    assert!((suspects[0].explains.unwrap() - 0.66).abs() < 0.01, "{suspects:?}");
}

#[test]
fn a_cause_that_makes_some_wait_comes_before_them() {
    let mut scene = stalls();
    scene.counters.devices = vec![device("vda", [1654, 8], [0, 0], 0.2)];
    scene.machine.groups.io = vec![GroupIoLimits {
        group: "/db".to_owned(),
        path: "/data".to_owned(),
        read_iops: Some(1650.0),
        ..GroupIoLimits::default()
    }];
    assert_eq!(told(scene), ["sure cgroup-io-max", "possible slow-few"]);
}

#[test]
fn of_buffered_reads_they_may_be_those_that_were_not_in_memory() {
    let mut scene = stalls();
    scene.edit(|job| (job.engine, job.direct) = (Engine::Psync, false));
    assert_eq!(told(scene), ["possible slow-few"]);
}

#[test]
fn credits_that_ran_out_come_before_them() {
    // Depth 16: 3,088 IOPS while credits last, 772 after them.
    let mut scene = Scene::healthy();
    scene.edit(|job| job.queue_depth = 16);
    let (fast, slow) = (3088, 772);
    let seconds: Vec<u32> = [vec![fast; 5], vec![slow; 15]].concat();
    let ios = |of: u32| u64::from(of) * seconds.iter().filter(|ios| **ios == of).count() as u64;
    scene.iops = (ios(fast) + ios(slow)) as f64 / SECONDS as f64;
    scene.latencies = vec![(5_181_000, ios(fast)), (20_725_000, ios(slow))];
    scene.seconds = Some(seconds);
    scene.counters.devices = Vec::new();
    assert_eq!(told(scene), ["likely burst-spent", "possible slow-few"]);
}

#[test]
fn a_queue_that_is_too_short_comes_before_them() {
    let mut scene = stalls();
    scene.edit(|job| job.queue_depth = 64);
    scene.queue().requests = Some(4);
    let ios = 7400 * SECONDS;
    scene.iops = 7400.0;
    scene.latencies = vec![(735_000, ios - ios / 12), (97_000_000, ios / 12)];
    scene.counters.devices = vec![device("vda", [7400, 8], [0, 0], 0.5)];
    assert_eq!(told(scene), ["sure queue-too-short", "possible slow-few"]);
}
