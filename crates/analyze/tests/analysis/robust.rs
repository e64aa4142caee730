//! Whatever a record holds, the analysis is finite, says so, and does not panic.

use iotax_analyze::{Analyzer, Verdict};
use iotax_experiment::{Design, Pace};
use iotax_record::{
    EndReason, JobRecord, LatencyHistogram, LoadRecord, Outcome, SystemCounters, Trial,
};
use proptest::prelude::*;

use crate::support::{Bed, Found, SECOND_NS, end, failed, job};
use crate::warnings::{asked, doubted};

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => Just(Outcome::Completed),
        1 => Just(Outcome::Degraded { reasons: vec!["1 I/O failed".into()] }),
        1 => Just(Outcome::Failed { error: "gone".into() }),
        1 => Just(Outcome::Interrupted),
    ]
}

fn loads() -> impl Strategy<Value = Option<LoadRecord>> {
    let numbers = (0_u64..4, 0_u64..3, 0_u64..3, any::<u64>(), any::<u64>(), 0_u32..3);
    (prop::option::of(numbers), prop::option::of(0_u64..20), 0_usize..3)
        .prop_map(|(numbers, offered_ios, jobs)| Some(load(numbers?, offered_ios, jobs)))
}

fn load(
    (ios, seconds, errors, cpu, in_flight, depth): (u64, u64, u64, u64, u64, u32),
    offered_ios: Option<u64>,
    jobs: usize,
) -> LoadRecord {
    let mut service = LatencyHistogram::empty();
    (0..ios).for_each(|i| service.record(cpu.wrapping_mul(i + 1)));
    let mut record = JobRecord {
        name: "reader".into(),
        queue_depth: depth,
        threads: depth,
        active_ns: seconds * SECOND_NS,
        cpu_user_ns: cpu,
        cpu_system_ns: in_flight,
        in_flight_io_ns: in_flight,
        offered_ios,
        max_slip_ns: cpu,
        ..JobRecord::default()
    };
    record.read.ios = ios;
    record.read.bytes = ios * 4096;
    record.write.errors = errors;
    record.read.service = service;
    record.read.per_second_ios = vec![depth; jobs * 2];
    let system = SystemCounters {
        cpu_busy_ns: Some(cpu),
        cpu_steal_ns: Some(in_flight),
        device_read_bytes: Some(ios),
        ..SystemCounters::default()
    };
    let window_ns = seconds * SECOND_NS;
    let jobs = vec![record; jobs];
    LoadRecord { jobs, window_ns, system, ..LoadRecord::default() }
}

fn trials() -> impl Strategy<Value = Vec<Trial>> {
    let of = (0_u32..12, 0_usize..5, outcomes(), loads());
    prop::collection::vec(of, 0..60).prop_map(|trials| {
        let made = (0..).zip(trials);
        made.map(|(slot, (block, arm, outcome, load))| trial(slot, block, arm, outcome, load))
            .collect()
    })
}

fn trial(slot: u32, block: u32, arm: usize, outcome: Outcome, load: Option<LoadRecord>) -> Trial {
    Trial {
        phase: 0,
        block,
        slot,
        arm: format!("mask {arm}"),
        length: iotax_record::TrialLength::default(),
        started_ns: 0,
        switch_ns: 0,
        outcome,
        load,
        counters: None,
    }
}

fn beds() -> impl Strategy<Value = Bed> {
    (0..5_u32, any::<bool>()).prop_map(|(design, is_open)| {
        let mut bed = match design {
            0 => {
                let mut bed = Bed::compare(&["mask 0"]);
                bed.edit(|spec| spec.design = Design::Single);
                bed
            }
            1 => Bed::compare(&["mask 0"]),
            2 => Bed::compare(&["mask 0", "mask 1", "mask 2"]),
            3 => Bed::peel(&["a", "b"]),
            _ => Bed::peel_of(&["a", "b", "c"], vec![0, 1, 3]),
        };
        if is_open {
            bed.edit(|spec| spec.phases[0].jobs[0].pace = Pace::Even { iops: 4.0 });
            bed.edit(|spec| spec.phases[0].jobs[0].invalidate = true);
            bed = bed.on_disk();
        }
        bed
    })
}

/// Every number a reader could trip over.
fn is_sound(analysis: &Found) -> Result<(), TestCaseError> {
    for c in &analysis.comparisons {
        for value in [c.tax, c.lo, c.hi, c.base, c.with, c.p].into_iter().flatten() {
            prop_assert!(!value.is_nan(), "{:?}", c);
        }
        if let (Some(lo), Some(tax), Some(hi)) = (c.lo, c.tax, c.hi) {
            prop_assert!(lo <= tax && tax <= hi, "{:?}", c);
        }
        prop_assert!(!c.verdict.is_decided() || c.blocks >= 3, "{:?}", c);
    }
    for arm in &analysis.arms {
        let values = [arm.iops, arm.throughput_cv, arm.cpu_ns_per_io, arm.mean_latency_ns];
        prop_assert!(values.iter().all(|v| v.is_finite() && *v >= 0.0), "{:?}", arm);
    }
    for text in asked(analysis).into_iter().chain(doubted(analysis)) {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        prop_assert!(!words.any(|word| ["NaN", "inf"].contains(&word)), "{}", text);
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_record_is_analysed(bed in beds(), trials in trials()) {
        let analyzer = bed.analyzer(&trials);
        let progress = analyzer.decide();
        prop_assert_eq!(progress.open.len(), bed.experiment.spec.arms.len());
        for end in [None, Some(&end())] {
            is_sound(&bed.finish(&trials, end))?;
        }
    }
}

/// What the test above once found.
#[test]
fn cpu_times_that_are_too_much_together_are_analysed() {
    let mut bed = Bed::compare(&["mask 0"]);
    bed.edit(|spec| spec.design = Design::Single);
    let times = [5_760_218_613_470_678_547, u64::MAX - 5_760_218_613_470_678_546];
    let trials = [0, 1].map(|slot| {
        let load = load((1, 1, 0, times[slot], 0, 0), None, 1);
        trial(u32::try_from(slot).expect("two"), 0, 0, Outcome::Completed, Some(load))
    });
    for end in [None, Some(&end())] {
        is_sound(&bed.finish(&trials, end)).unwrap();
    }
}

#[test]
fn an_empty_record_is_open_in_every_respect() {
    let bed = Bed::compare(&["base", "other"]);
    let analyzer = Analyzer::new(&bed.experiment);
    let progress = analyzer.decide();
    assert_eq!((progress.stop, progress.open), (Vec::new(), vec![true, true]));
    let analysis = bed.finish(&[], None);
    assert_eq!(analysis.comparisons[0].verdict, Verdict::Undecided);
    assert_eq!(analysis.ending.trials, 0);
    assert_eq!(analysis.ending.reasons, [], "it was cut off");
    insta::assert_snapshot!(asked(&analysis).join("\n"), @"
    The record is incomplete: iotax was killed, or the machine went down. The record contains only the trials up to that point.
    Throughput of other: undecided after 0 complete blocks; the first analysis requires 4 blocks, so that each order of the arms is run twice.
    CPU per I/O of other: undecided after 0 complete blocks; the first analysis requires 4 blocks, so that each order of the arms is run twice.
    Tails were not compared: in a closed loop, a slower arm gets less load. For a verdict on p99, run all arms at the same rate, 0.7 times the throughput of the slowest arm (--set rate=...).
    ");
}

#[test]
fn a_plain_run_compares_nothing_and_stops_after_its_trials() {
    let mut bed = Bed::compare(&["only"]).stop(|stop| (stop.min_blocks, stop.max_blocks) = (2, 2));
    bed.edit(|spec| spec.design = Design::Single);
    let mut trials = bed.blocks(2, &[1000.0], 0.01);
    job(&mut trials[0]).write.bytes = 0;
    assert_eq!(bed.decide(&trials[..1]).stop, []);
    assert_eq!(bed.decide(&trials).stop, [EndReason::AllRun]);
    let analysis = bed.analyze(&trials);
    assert!(analysis.comparisons.is_empty() && analysis.attribution.is_none());
    assert!(analysis.trials.iter().all(|trial| trial.used));
    let arm = &analysis.arms[0];
    assert!((arm.iops / 1000.0 - 1.0).abs() < 0.05);
    assert_eq!(
        arm.latency_ios,
        trials.iter().map(|t| t.load.as_ref().unwrap().jobs[0].read.ios).sum::<u64>()
    );
    let curve: Vec<u64> = arm.latency.iter().map(|point| point.latency_ns).collect();
    assert!(curve.is_sorted() && curve.len() > 15);
    assert!(arm.latency.last().unwrap().q <= 0.999, "10 I/Os of 10,000 lie beyond p99.9");
}

#[test]
fn an_experiment_of_failures_has_no_figures_but_all_its_trials() {
    let mut bed = Bed::compare(&["base", "other"]);
    let trials: Vec<Trial> = bed.blocks(3, &[100.0, 100.0], 0.0).into_iter().map(failed).collect();
    let analysis = bed.analyze(&trials);
    assert_eq!((analysis.trials.len(), analysis.ending.blocks), (6, 0));
    assert_eq!(analysis.comparisons[0].tax, None);
    assert_eq!(analysis.arms[0].failed_trials, 3);
    assert!(analysis.arms[0].latency.is_empty());
}
