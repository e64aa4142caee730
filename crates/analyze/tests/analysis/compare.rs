//! Records of comparisons through the analyzer: the truth put in must come out.

use crate::support::{Bed, failed, job, load, of};
use iotax_analyze::{Metric, Regime, TrialOutcome, Verdict};
use iotax_experiment::StopMode;
use iotax_record::{EndReason, Outcome, Trial};

#[test]
fn a_tax_of_23_percent_is_found_within_five_blocks() {
    let mut bed = Bed::compare(&["base", "slow"]);
    let trials = bed.blocks(5, &[2600.0, 2000.0], 0.01);
    assert_eq!(bed.decide(&trials[..6]).stop, [], "some order was there but once");
    let first = bed.decide(&trials[..8]);
    assert_eq!(first.stop, [EndReason::Resolved { besides: None }]);
    assert_eq!(first.open, [false, false]);
    let analysis = bed.analyze(&trials);
    let slow = of(&analysis, "slow", Metric::Throughput);
    assert_eq!(slow.verdict, Verdict::Slower);
    assert!((slow.tax.unwrap() - 0.23).abs() < 0.03, "{slow:?}");
    assert!(slow.lo.unwrap() < 0.2308 && slow.hi.unwrap() > 0.2308);
    assert!(slow.holds_after_holm && slow.p.unwrap() < 0.05);
    let shown = 1.0 - slow.with.unwrap() / slow.base.unwrap();
    assert!((shown - slow.tax.unwrap()).abs() < 1e-12, "figures and tax must agree");
    assert!(analysis.trials.iter().all(|trial| trial.used));
    assert_eq!(analysis.warnings, []);
}

#[test]
fn the_same_thing_twice_is_not_called_different() {
    let verdicts: Vec<Verdict> = (0..40)
        .map(|seed| {
            let mut bed = Bed::compare(&["a", "b"]).seed(seed);
            let trials = bed.blocks(10, &[400.0, 400.0], 0.03);
            of(&bed.analyze(&trials), "b", Metric::Throughput).verdict
        })
        .collect();
    let signed = verdicts.iter().filter(|verdict| verdict.is_signed()).count();
    assert!(signed <= 4, "5 % of 40 is 2: {verdicts:?}");
    assert!(verdicts.contains(&Verdict::Equivalent) || verdicts.contains(&Verdict::Undecided));
}

#[test]
fn an_arm_is_closed_when_resolved_and_the_baseline_when_all_are() {
    let mut bed = Bed::compare(&["base", "clear", "noisy"]);
    let rates = [1000.0, 500.0, 1000.0];
    let mut trials = bed.blocks(4, &rates, 0.01);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "noisy") {
        let (factor, slot) = ([0.7, 1.3, 1.0, 0.9][trial.block as usize], trial.slot);
        *trial = Trial { slot, ..bed.trial(trial.block, 2, 1000.0 * factor) };
    }
    let progress = bed.decide(&trials);
    assert_eq!(progress.open, [true, false, true]);
    assert_eq!((progress.stop, progress.blocks), (Vec::new(), 4));
    assert_eq!(progress.arms[0].verdict, Verdict::Slower);
    assert_eq!(progress.arms[1].verdict, Verdict::Undecided);
    assert!(progress.arms[1].blocks_needed.unwrap() > 4);
}

#[test]
fn a_dropped_arm_keeps_its_verdict_while_others_go_on() {
    let mut bed = Bed::compare(&["base", "early", "late"]);
    let trials = bed.blocks(8, &[1000.0, 500.0, 930.0], 0.02);
    let kept: Vec<_> = trials.into_iter().filter(|t| t.arm != "early" || t.block < 4).collect();
    let analysis = bed.analyze(&kept);
    let early = of(&analysis, "early", Metric::Throughput);
    assert_eq!((early.verdict, early.blocks), (Verdict::Slower, 4));
    assert_eq!(of(&analysis, "late", Metric::Throughput).blocks, 8);
}

#[test]
fn blocks_with_a_failed_trial_do_not_count_and_stay_visible() {
    let mut bed = Bed::compare(&["base", "slow"]);
    let mut trials = bed.blocks(7, &[1000.0, 800.0], 0.01);
    let hit = trials.iter().position(|t| t.block == 1 && t.arm == "slow").unwrap();
    trials[hit] = failed(trials[hit].clone());
    let stopped = trials.iter().position(|t| t.block == 6 && t.arm == "base").unwrap();
    trials[stopped].outcome = Outcome::Interrupted;
    let analysis = bed.analyze(&trials);
    assert_eq!(of(&analysis, "slow", Metric::Throughput).blocks, 5);
    let point = &analysis.trials[hit];
    assert_eq!((point.outcome, point.used, point.iops), (TrialOutcome::Failed, false, None));
    let partner = analysis.trials.iter().find(|t| t.block == 1 && t.arm == "base").unwrap();
    assert!(!partner.used, "without its partner a trial is not compared");
    assert_eq!((analysis.arms[1].trials, analysis.arms[1].failed_trials), (6, 1));
    assert_eq!(analysis.ending.blocks, 5);
}

#[test]
fn between_two_looks_only_the_earlier_one_is_claimed() {
    let mut bed = Bed::compare(&["base", "slow"]);
    let trials = bed.blocks(7, &[1000.0, 800.0], 0.01);
    let analysis = bed.analyze(&trials);
    assert_eq!(of(&analysis, "slow", Metric::Throughput).blocks, 6);
    let unused = analysis.trials.iter().filter(|t| !t.used).map(|t| t.block);
    assert_eq!(unused.collect::<Vec<_>>(), [6, 6]);
}

#[test]
fn the_order_of_adding_trials_does_not_matter() {
    let mut bed = Bed::compare(&["base", "slow", "same"]);
    let mut trials = bed.blocks(6, &[1000.0, 800.0, 1000.0], 0.05);
    let in_order = (bed.analyze(&trials), bed.decide(&trials));
    trials.reverse();
    assert_eq!(in_order, (bed.analyze(&trials), bed.decide(&trials)));
    trials.sort_by_key(|trial| (trial.arm.clone(), trial.block % 3));
    assert_eq!(in_order, (bed.analyze(&trials), bed.decide(&trials)));
}

#[test]
fn mean_throughput_counts_not_the_median_second() {
    let mut bed = Bed::compare(&["base", "bursty"]);
    let mut trials = bed.blocks(8, &[1000.0, 1000.0], 0.005);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "bursty") {
        // Four good seconds and one without an I/O: the median second says nothing happened.
        let job = job(trial);
        job.read.ios = job.read.ios * 4 / 5;
        job.read.per_second_ios[2] = 0;
    }
    let analysis = bed.analyze(&trials);
    let bursty = of(&analysis, "bursty", Metric::Throughput);
    assert_eq!(bursty.verdict, Verdict::Slower);
    assert!((bursty.tax.unwrap() - 0.2).abs() < 0.02);
}

#[test]
fn default_and_tight_ask_for_more_blocks_than_quick() {
    let stop_at = |mode| {
        let mut bed = Bed::compare(&["base", "slow"]).stop(|stop| stop.mode = mode).seed(3);
        let trials = bed.blocks(40, &[400.0, 200.0], 0.3);
        let stops = |blocks: &usize| !bed.decide(&trials[..blocks * 2]).stop.is_empty();
        (1..=40).find(stops).unwrap()
    };
    let [quick, middle, tight] = [StopMode::Quick, StopMode::Default, StopMode::Tight].map(stop_at);
    assert!(quick < middle && middle < tight, "{quick} {middle} {tight}");
}

#[test]
fn a_fixed_number_of_blocks_is_run_to_its_end() {
    let mut bed = Bed::compare(&["base", "slow"]).stop(|stop| {
        (stop.min_blocks, stop.max_blocks) = (6, 6);
    });
    let trials = bed.blocks(6, &[1000.0, 500.0], 0.01);
    let early = bed.decide(&trials[..8]);
    assert_eq!((early.stop, early.open), (Vec::new(), vec![true, true]));
    assert_eq!(bed.decide(&trials).stop, [EndReason::AllRun]);
}

#[test]
fn hopeless_noise_ends_a_run_with_what_it_would_take() {
    let mut bed = Bed::compare(&["base", "same"]);
    // In step with no order: of the first four blocks two begin with each arm.
    let swing = |block: u32| if block % 4 < 2 { 0.35_f64 } else { -0.35 };
    let trials: Vec<_> =
        (0..8).flat_map(|block| bed.block(block, &[400.0, 400.0 * swing(block).exp()])).collect();
    let stop = bed.decide(&trials).stop;
    let [EndReason::OutOfReach { futile: None, needed: Some(needed) }] = stop[..] else {
        panic!("{stop:?}");
    };
    assert!(needed > 40, "{needed}");
}

#[test]
fn simultaneous_intervals_are_wider() {
    let width = |simultaneous| {
        let mut bed = Bed::compare(&["base", "a", "b", "c"]);
        bed.edit(|spec| spec.stop.simultaneous = simultaneous);
        let trials = bed.blocks(5, &[400.0, 380.0, 360.0, 340.0], 0.02);
        let analysis = bed.analyze(&trials);
        let a = of(&analysis, "a", Metric::Throughput);
        a.hi.unwrap() - a.lo.unwrap()
    };
    assert!(width(true) > 1.2 * width(false));
}

#[test]
fn cpu_per_io_is_compared_beside_throughput() {
    let mut bed = Bed::compare(&["base", "slow"]);
    let mut trials = bed.blocks(4, &[1000.0, 1000.0], 0.01);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "slow") {
        let factor = 30 + u64::from(trial.block % 2);
        job(trial).cpu_user_ns = job(trial).read.ios * 100 * factor;
    }
    let analysis = bed.analyze(&trials);
    let cpu = of(&analysis, "slow", Metric::CpuPerIo);
    assert_eq!(cpu.verdict, Verdict::Slower);
    assert!((cpu.tax.unwrap() - 0.525).abs() < 0.02, "{cpu:?}");
    let difference = cpu.difference_ns.unwrap();
    assert!((difference.value - 1050.0).abs() < 60.0 && difference.lo > 0.0, "{difference:?}");
}

#[test]
fn the_end_of_a_burst_of_all_arms_leaves_the_comparison_alone() {
    let mut bed = Bed::compare(&["base", "slow"]);
    let mut trials = bed.blocks(12, &[400.0, 280.0], 0.02);
    for trial in trials.iter_mut().take(7) {
        // On credits both arms run faster, each at its own rate; one block is split.
        let (block, slot, arm) = (trial.block, trial.slot, usize::from(trial.arm == "slow"));
        *trial = bed.trial(block, arm, 2.0 * [400.0, 280.0][arm] * (1.0 + 0.01 * f64::from(block)));
        trial.slot = slot;
    }
    let analysis = bed.analyze(&trials);
    let slow = of(&analysis, "slow", Metric::Throughput);
    assert_eq!((slow.regime, slow.change, slow.blocks), (None, None, 10));
    assert!(slow.lo.unwrap() < 0.3 && slow.hi.unwrap() > 0.3, "{slow:?}");
}

/// Since the change the arm has had as many blocks as had been looked at before it was seen.
#[test]
fn enough_blocks_since_a_change_of_effect_earn_a_verdict() {
    let mut bed = Bed::compare(&["base", "slow"]);
    let mut trials = bed.blocks(4, &[400.0, 400.0], 0.02);
    trials.extend(bed.blocks(13, &[400.0, 200.0], 0.02).into_iter().skip(8));
    let analysis = bed.analyze(&trials);
    let slow = of(&analysis, "slow", Metric::Throughput);
    assert_eq!((slow.verdict, slow.blocks), (Verdict::Slower, 8));
    assert_eq!(slow.regime, Some(Regime::AfterChange));
    assert!((slow.tax.unwrap() - 0.5).abs() < 0.05 && slow.holds_after_holm, "{slow:?}");
    let change = slow.change.unwrap();
    assert_eq!((change.after_block, change.blocks), (4, [4, 9]));
    assert!(change.before.unwrap().value.abs() < 0.05, "{change:?}");
}

/// The same of a job that does nothing else: its syncs decide, and lead what is shown.
#[test]
fn the_syncs_of_a_job_that_waits_for_them_decide() {
    let mut bed = Bed::compare(&["base", "slow"]);
    bed.edit(|spec| {
        let job = &mut spec.phases[0].jobs[0];
        (job.read_percent, job.fsync_every) = (0, Some(1));
    });
    let mut trials = bed.blocks(8, &[400.0, 400.0], 0.02);
    for trial in &mut trials {
        let sync_ns = if trial.arm == "slow" { 175_000 } else { 100_000 };
        let wobble_ns = 500 * (u64::from(trial.block * 7 + trial.slot) % 5);
        load(trial).jobs[0].sync.record_many(sync_ns + wobble_ns, 2000);
    }
    let analysis = bed.analyze(&trials);
    let first = &analysis.comparisons[0];
    assert_eq!((first.metric, first.verdict), (Metric::SyncLatency, Verdict::Slower));
    assert!(first.difference_ns.unwrap().value > 70_000.0, "{first:?}");
    let sync = analysis.arms[1].leading_sync().unwrap();
    assert_eq!(sync.count, 16_000);
    assert!((sync.mean_ns - 176_000.0).abs() < 1_000.0, "{sync:?}");
    let p99 = sync.quantile_ns(0.99).unwrap();
    assert!((175_000..180_000).contains(&p99), "{p99}");
    let point = analysis.trials.iter().find(|trial| trial.arm == "slow").unwrap();
    assert!(point.sync_p99_ns.is_some_and(|ns| ns >= 175_000), "{point:?}");
}

/// Of an arm whose flushes are slower while as many I/Os come out.
#[test]
fn a_workload_that_flushes_is_compared_in_its_flushes() {
    let mut bed = Bed::compare(&["base", "slow"]);
    bed.edit(|spec| spec.phases[0].jobs[0].fsync_every = Some(1));
    let mut trials = bed.blocks(8, &[400.0, 400.0], 0.02);
    for trial in &mut trials {
        let is_slow = trial.arm == "slow";
        let sync_ns = if is_slow { 175_000 } else { 100_000 };
        let wobble_ns = 500 * (u64::from(trial.block * 7 + u32::from(is_slow) * 3) % 5);
        load(trial).jobs[0].sync.record_many(sync_ns + wobble_ns, 400);
    }
    let analysis = bed.analyze(&trials);
    let slow = of(&analysis, "slow", Metric::SyncLatency);
    assert_eq!(slow.verdict, Verdict::Slower);
    assert!((slow.tax.unwrap() - 0.75).abs() < 0.02, "{slow:?}");
    assert_eq!(of(&analysis, "slow", Metric::Throughput).verdict, Verdict::Equivalent);
}
