//! Stalls planted on virtual disks, driven in virtual time: the analysis says where the time goes.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use iotax_analyze::{Analyzer, ArmSummary};
use iotax_experiment::{Arm, Spec, Stop, Target, Workload};
use iotax_layers::{Delay, Fault, Layer, Mem};
use iotax_record::{
    DirectionRecord, Environment, ExperimentHead, HostRecord, JobRecord, LatencyHistogram,
    LoadRecord, Outcome, Site, Trial,
};
use iotax_vdisk::{Clock as _, ManualClock, Request, Session, Submitted, VirtualDisk};

const SIZE_BYTES: u64 = 64 << 20;
const BLOCK: usize = 4096;
const SECOND_NS: u64 = 1_000_000_000;
const SECONDS: u64 = 10;

fn disk(latency_us: u64, jitter_us: u64, stalls: Option<(f64, u64)>) -> Vec<Layer> {
    let delay = Delay { latency_ns: 1000 * latency_us, jitter_ns: 1000 * jitter_us };
    let fault = stalls.map(|(share, ms)| {
        Layer::Fault(Fault { stall: share, stall_ns: 1_000_000 * ms, ..Fault::default() })
    });
    let base = [Layer::Mem(Mem { size_bytes: SIZE_BYTES }), Layer::Delay(delay)];
    base.into_iter().chain(fault).collect()
}

/// Reads with so many in flight, for ten seconds of virtual time.
fn driven(layers: &[Layer], depth: usize) -> (LatencyHistogram, Vec<u32>) {
    let clock = Arc::new(ManualClock::starting_at(1));
    let disk = VirtualDisk::open(layers, Arc::clone(&clock) as Arc<_>).unwrap();
    let mut session = Session::new(&disk, depth, BLOCK).unwrap();
    let (mut latency, mut seconds) = (LatencyHistogram::new(), vec![0; 10]);
    let begin_ns = clock.now_ns();
    let mut events = BinaryHeap::new();
    let mut next = 0;
    let mut submit = |slot: usize, events: &mut BinaryHeap<Reverse<(u64, u64, usize)>>| {
        let now_ns = clock.now_ns();
        next = (next + BLOCK as u64) % SIZE_BYTES;
        let Submitted::Done(done) = session.submit(slot, Request::read(next, BLOCK)) else {
            panic!("a layer with threads has no place in virtual time");
        };
        done.result.unwrap();
        events.push(Reverse((done.ready_at_ns.max(now_ns + 1), now_ns, slot)));
    };
    (0..depth).for_each(|slot| submit(slot, &mut events));
    while let Some(Reverse((now_ns, started_ns, slot))) = events.pop() {
        if now_ns >= begin_ns + SECONDS * SECOND_NS {
            break;
        }
        clock.advance(now_ns - clock.now_ns());
        latency.record(now_ns - started_ns);
        seconds[usize::try_from((now_ns - begin_ns) / SECOND_NS).unwrap()] += 1;
        submit(slot, &mut events);
    }
    (latency, seconds)
}

fn summary(layers: &[Layer], depth: usize) -> ArmSummary {
    let (service, per_second_ios) = driven(layers, depth);
    let mut workload = Workload::preset("randread-4k").unwrap();
    workload.jobs[0].queue_depth = u32::try_from(depth).unwrap();
    let arm = Arm::new("target", Target::parse("mem(size=64M)").unwrap());
    let spec = Spec::single(workload, arm, Stop::default(), 1).unwrap();
    let ios = service.count();
    let job = JobRecord {
        name: spec.workload().primary.clone(),
        engine: "vdisk".into(),
        threads: 1,
        queue_depth: u32::try_from(depth).unwrap(),
        active_ns: SECONDS * SECOND_NS,
        read: DirectionRecord {
            ios,
            bytes: ios * BLOCK as u64,
            service,
            per_second_ios,
            ..DirectionRecord::default()
        },
        ..JobRecord::default()
    };
    let experiment = ExperimentHead {
        cloud: iotax_experiment::CloudChoice::default(),
        format: iotax_record::FORMAT,
        id: None,
        iotax_version: "0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        command: Vec::new(),
        spec,
        hosts: vec![HostRecord {
            environment: Environment { cpus: 2, ..Environment::default() },
            ..HostRecord::default()
        }],
        sites: vec![Site::default()],
    };
    let trial = Trial {
        phase: 0,
        counters: None,
        block: 0,
        slot: 0,
        arm: "target".into(),
        length: iotax_record::TrialLength::default(),
        started_ns: 0,
        switch_ns: 0,
        outcome: Outcome::Completed,
        load: Some(LoadRecord {
            driver: "native".into(),
            window_ns: SECONDS * SECOND_NS,
            jobs: vec![job],
            ..LoadRecord::default()
        }),
    };
    let mut analyzer = Analyzer::new(&experiment);
    analyzer.add(&trial);
    analyzer.finish(None).arms.remove(0)
}

#[test]
fn planted_stalls_are_found_at_every_depth_with_their_share() {
    for depth in [1, 2, 4, 8, 32] {
        for (share, ms) in [(0.02, 20), (0.005, 50), (0.05, 10)] {
            let arm = summary(&disk(190, 40, Some((share, ms))), depth);
            let mode = arm.slow_mode.unwrap_or_else(|| panic!("{depth} {share} {ms}"));
            let slow_ns = 1e6 * ms as f64;
            let expected = share * slow_ns / (share * slow_ns + (1.0 - share) * 190e3);
            assert!((mode.share_of_time - expected).abs() < 0.12, "{mode:?} {expected}");
            assert!((mode.share_of_ios / share - 1.0).abs() < 0.4, "{mode:?}");
            assert!((mode.median_ns as f64 / slow_ns - 1.0).abs() < 0.05, "{mode:?}");
            assert!((180e3..200e3).contains(&(mode.others_ns as f64)), "{mode:?}");
        }
    }
}

#[test]
fn what_99_percent_do_not_show_is_in_the_percentiles() {
    let arm = summary(&disk(190, 40, Some((0.005, 40))), 4);
    let mode = arm.slow_mode.unwrap();
    let at = |q: f64| arm.latency.iter().find(|point| point.q == q).unwrap().latency_ns;
    assert!((185_000..195_000).contains(&at(0.5)) && at(0.99) < 240_000, "{:?}", arm.latency);
    assert!(at(0.999) > 40_000_000 && mode.max_ns >= at(0.999), "{mode:?}");
    assert!((mode.share_of_time - 0.52).abs() < 0.01, "{mode:?}");
}

#[test]
fn disks_without_stalls_have_one_mode() {
    for depth in [1, 4, 32] {
        for (latency, jitter) in [(100, 0), (100, 100), (500, 500), (5000, 500)] {
            assert_eq!(summary(&disk(latency, jitter, None), depth).slow_mode, None);
        }
    }
}
