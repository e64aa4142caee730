//! Little's law holds in every row: rate x mean latency is what was in flight.

use iotax_analyze::{Analysis, Phases};
use iotax_experiment::{Job, NamedTarget, Target};
use iotax_record::{JobRecord, LatencyHistogram, Trial};
use proptest::prelude::*;

use crate::support::{Bed, SECOND_NS, end, job, load};

/// The law to within what a histogram rounds a mean by.
const ROUNDING: f64 = 2e-3;

/// The trial with a closed loop at depth 1: I/Os of these latencies and counts, one after another.
fn closed_loop(mut trial: Trial, times: &[(u64, u64)]) -> Trial {
    let record = job(&mut trial);
    let mut service = LatencyHistogram::new();
    for (ns, ios) in times {
        service.record_many(*ns, *ios);
    }
    let ios: u64 = times.iter().map(|(_, ios)| ios).sum();
    let busy_ns: u64 = times.iter().map(|(ns, ios)| ns * ios).sum();
    (record.read.ios, record.read.bytes, record.read.service) = (ios, ios * 4096, service);
    (record.active_ns, record.in_flight_io_ns) = (busy_ns, busy_ns);
    load(&mut trial).window_ns = busy_ns;
    trial
}

/// Rate x mean latency of every row.
fn in_flight(analysis: &Analysis) -> Vec<f64> {
    let of_arm = |arm: &iotax_analyze::ArmSummary| {
        let own = [(arm.iops, arm.mean_latency_ns)];
        let others = arm.other_jobs.iter().map(|job| (job.iops, job.mean_latency_ns));
        let targets = arm.targets.iter().map(|target| (target.rates.iops, target.mean_latency_ns));
        own.into_iter().chain(others).chain(targets).collect::<Vec<_>>()
    };
    let levels = analysis.depths.iter().flat_map(|arm| &arm.levels);
    let levels = levels.map(|level| (level.iops, level.mean_latency_ns));
    let rows = analysis.arms.iter().flat_map(of_arm).chain(levels);
    rows.map(|(iops, latency_ns)| iops * latency_ns / 1e9).collect()
}

#[test]
fn a_trial_that_was_held_up_weighs_by_what_it_did() {
    let mut bed = Bed::compare(&["a", "b"]);
    let times: [&[(u64, u64)]; 3] =
        [&[(200_000, 9_000)], &[(200_000, 500), (1_900_000_000, 1)], &[(210_000, 9_000)]];
    let trials: Vec<Trial> = (0_u32..3)
        .flat_map(|block| [0, 1].map(|arm| (block, arm)))
        .map(|(block, arm)| {
            let held = if arm == 0 { block as usize } else { 0 };
            closed_loop(bed.trial(block, arm, 100.0), times[held])
        })
        .collect();
    let analysis = bed.analyze(&trials);
    for found in in_flight(&analysis) {
        assert!((found - 1.0).abs() < ROUNDING, "{found}");
    }
    // The arm with the lower mean latency has the higher rate.
    let [a, b] = [0, 1].map(|arm| &analysis.arms[arm]);
    assert!(a.mean_latency_ns > b.mean_latency_ns && a.iops < b.iops);
    assert!((a.iops - 18_501.0 / 5.69).abs() < 5.0, "{}", a.iops);
}

/// Jobs of two targets and a third one beside, each one at a time.
fn on_several_targets(bed: &mut Bed) {
    let own = bed.experiment.spec.workload().jobs[0].clone();
    let of = |name: &str, target: &str| Job {
        name: name.to_owned(),
        target: Some(target.to_owned()),
        ..own.clone()
    };
    let jobs = vec![of("reader", "x"), of("other", "x"), of("third", "y")];
    let named = |name: &str| NamedTarget {
        name: name.to_owned(),
        target: Target::Path(format!("/{name}").into()),
    };
    bed.edit(|spec| {
        spec.phases[0].jobs = jobs;
        for arm in &mut spec.arms {
            arm.target = Target::Several(vec![named("x"), named("y")]);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the trials are like: lengths, speeds, stalls.
    #[test]
    fn of_whatever_trials_an_arm_has(
        trials in prop::collection::vec(
            prop::collection::vec((1_000_u64..2_000_000_000, 1_u64..2_000), 1..4), 1..12)
    ) {
        let mut bed = Bed::compare(&["a", "b"]);
        on_several_targets(&mut bed);
        let make = |(at, times): (usize, &Vec<(u64, u64)>)| {
            let mut trial = closed_loop(bed.trial(u32::try_from(at / 2).unwrap(), at % 2, 10.0), times);
            let own = job(&mut trial).clone();
            let mut third = closed_loop(trial.clone(), &times[..1]);
            let third = JobRecord { name: "third".into(), ..job(&mut third).clone() };
            load(&mut trial).jobs.push(JobRecord { name: "other".into(), ..own });
            load(&mut trial).jobs.push(third);
            trial
        };
        let trials: Vec<Trial> = trials.iter().enumerate().map(make).collect();
        let analysis = bed.analyze(&trials);
        for arm in analysis.arms.iter().filter(|arm| arm.trials > 0) {
            let law = |iops: f64, ns: f64| iops * ns / 1e9;
            prop_assert!((law(arm.iops, arm.mean_latency_ns) - 1.0).abs() < ROUNDING);
            for other in &arm.other_jobs {
                prop_assert!((law(other.iops, other.mean_latency_ns) - 1.0).abs() < ROUNDING);
            }
            let in_flight: f64 = arm.targets.iter()
                .map(|target| law(target.rates.iops, target.mean_latency_ns)).sum();
            prop_assert!((in_flight - 3.0).abs() < 3.0 * ROUNDING, "{in_flight}");
            let together = arm.together.unwrap();
            let sum: f64 = arm.iops + arm.other_jobs.iter().map(|job| job.iops).sum::<f64>();
            prop_assert!((together.iops / sum - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn of_each_depth_of_a_depth_check() {
    let mut bed = Bed::compare(&["a", "b"]);
    bed.edit(|spec| spec.phases[0].set("depth=8").unwrap());
    let trials = bed.blocks(4, &[400.0, 400.0], 0.001);
    let mut phases = Phases::new(&bed.experiment);
    for trial in &trials {
        phases.add(trial);
    }
    let spec = iotax_analyze::depth_check(&bed.experiment.spec, &phases.finish(Some(&end())));
    let head = iotax_record::ExperimentHead { spec: spec.unwrap(), ..bed.experiment.clone() };
    let mut check = Phases::of_depth_check(&head, &phases);
    for (block, phase, arm) in (0..3).flat_map(|b| (0..3).flat_map(move |p| [(b, p, 0), (b, p, 1)]))
    {
        let mut trial = bed.trial(block, arm, 10.0);
        trial.phase = phase;
        // All of one depth are equally long, as trials of one phase are.
        let ns = [1_000_000, 4_000_000, 250_000][block as usize] << phase;
        let load = head.spec.phase(phase as usize).unwrap().workload().clone();
        let depth = load.jobs[0].queue_depth;
        let ios = u64::from(depth) * 2 * SECOND_NS / ns;
        let mut trial = closed_loop(trial, &[(ns, ios)]);
        let record = job(&mut trial);
        (record.active_ns, record.queue_depth) = (2 * SECOND_NS, depth);
        check.add(&trial);
    }
    phases.checked_at_depths(&check);
    let analysis = phases.finish(Some(&end())).remove(0).1;
    for arm in &analysis.depths {
        for level in &arm.levels {
            let found = level.iops * level.mean_latency_ns / 1e9 / f64::from(level.in_flight);
            assert!((found - 1.0).abs() < ROUNDING, "{level:?}");
        }
    }
    assert_eq!(analysis.depths[0].levels.len(), 3);
}
