//! Trials in which the primary job completed nothing: slower than could be measured, no failure.

use iotax_analyze::{Analysis, Check, Metric, TrialOutcome, Verdict};
use iotax_experiment::Design;
use iotax_record::{DirectionRecord, EndReason, Outcome, Trial};

use crate::support::{Bed, SECOND_NS, SECONDS, job, of};
use crate::warnings::{asked, said};

/// The trial as it is recorded if its I/Os are in flight over the whole window.
fn stalled(mut trial: Trial) -> Trial {
    let job = job(&mut trial);
    let response = job.read.response.is_some().then(Default::default);
    job.read = DirectionRecord { response, ..DirectionRecord::default() };
    (job.cpu_user_ns, job.in_flight_io_ns) = (1_000, SECONDS * SECOND_NS);
    trial.outcome = Outcome::Degraded { reasons: vec!["reader completed no I/O".into()] };
    trial
}

/// `blocks` blocks of two arms, equally fast, of which those trials stall that `stalls` picks by
/// block and arm.
fn run(bed: &mut Bed, blocks: u32, stalls: impl Fn(u32, &str) -> bool) -> Vec<Trial> {
    let trials = bed.blocks(blocks, &[400.0, 400.0], 0.02).into_iter();
    trials.map(|t| if stalls(t.block, &t.arm) { stalled(t) } else { t }).collect()
}

fn pair() -> Bed {
    Bed::compare(&["base", "slow"])
}

fn verdict(analysis: &Analysis) -> Verdict {
    of(analysis, "slow", Metric::Throughput).verdict
}

#[test]
fn an_arm_that_completes_nothing_is_slower_after_seven_blocks() {
    let mut bed = pair();
    let trials = run(&mut bed, 7, |_, arm| arm == "slow");
    let six = bed.decide(&trials[..12]);
    assert_eq!((six.stop, six.arms[0].verdict), (Vec::new(), Verdict::Undecided));
    let seven = bed.decide(&trials);
    assert_eq!(seven.stop, [EndReason::Resolved { besides: None }]);
    let analysis = bed.analyze(&trials);
    let slow = of(&analysis, "slow", Metric::Throughput);
    assert_eq!((slow.verdict, slow.tax, slow.blocks), (Verdict::Slower, None, 7));
    let stalls = slow.stalls.unwrap();
    assert_eq!((stalls.arm, stalls.base, stalls.blocks, stalls.more_blocks), (7, 0, 7, None));
    // 400 I/Os per second against less than one in five seconds.
    assert!(stalls.factor.is_some_and(|factor| (1_800.0..2_200.0).contains(&factor)), "{stalls:?}");
    assert_eq!((analysis.arms[1].stalled_trials, analysis.arms[1].failed_trials), (7, 0));
    assert!(
        analysis
            .trials
            .iter()
            .filter(|t| t.arm == "slow")
            .all(|t| t.outcome == TrialOutcome::Stalled)
    );
    insta::assert_snapshot!(said(&analysis, Check::StalledTrials), @"
    [slow, 7 trials] job reader completed no I/O in a window of 5 s, so its rate is below 0.20 IOPS (in 7 of 7 trials)
      -> This is a result, not a failure: the arm was too slow to be measured in this window. A longer window (--time) may show how slow the arm is. The machine's counters show what the arm waited for.
    ");
    assert_eq!(said(&analysis, Check::FailedTrials), "");
}

#[test]
fn three_such_blocks_are_undecided_and_say_what_is_missing() {
    let mut bed = pair();
    let trials = run(&mut bed, 3, |_, arm| arm == "slow");
    let analysis = bed.analyze(&trials);
    let slow = of(&analysis, "slow", Metric::Throughput);
    let stalls = slow.stalls.unwrap();
    assert_eq!(
        (slow.verdict, stalls.more_blocks, stalls.factor),
        (Verdict::Undecided, Some(4), None)
    );
    assert!(stalls.each.is_some_and(|each| (1_800.0..2_200.0).contains(&each)), "{stalls:?}");
    insta::assert_snapshot!(asked(&analysis)[0], @"Throughput of slow: undecided; some trials completed nothing, so only the sign of each difference counts; 4 more such blocks would be enough.");
}

#[test]
fn a_baseline_that_stalls_makes_the_arm_faster() {
    let mut bed = pair();
    let trials = run(&mut bed, 7, |_, arm| arm == "base");
    assert_eq!(verdict(&bed.analyze(&trials)), Verdict::Faster);
}

#[test]
fn three_blocks_in_which_both_stall_end_it() {
    let mut bed = pair();
    let trials = run(&mut bed, 3, |_, _| true);
    assert_eq!(bed.decide(&trials[..4]).stop, []);
    assert_eq!(bed.decide(&trials).stop, [EndReason::NoneCompletes]);
    let analysis = bed.analyze(&trials);
    assert_eq!(verdict(&analysis), Verdict::NoInformation);
    insta::assert_snapshot!(asked(&analysis)[0], @"Throughput of slow: no information; neither side completed anything in 3 blocks. A longer window (--time) may show how slow both sides are.");
}

/// From the first stall on no interval is right, however narrow without it.
#[test]
fn one_stall_ends_intervals_and_equivalence() {
    let mut bed = pair();
    let trials = run(&mut bed, 10, |_, _| false);
    assert_eq!(verdict(&bed.analyze(&trials)), Verdict::Equivalent);
    let trials: Vec<Trial> = trials
        .into_iter()
        .map(|t| if t.block == 4 && t.arm == "slow" { stalled(t) } else { t })
        .collect();
    let analysis = bed.analyze(&trials);
    let slow = of(&analysis, "slow", Metric::Throughput);
    assert_eq!((slow.verdict, slow.lo, slow.p), (Verdict::Undecided, None, Some(1.0)));
    assert!(!slow.holds_after_holm);
}

/// The order of arms in a comparison of several: each pays for all.
#[test]
fn several_arms_share_the_error_rate() {
    let mut bed = Bed::compare(&["base", "slow", "other"]);
    let trials: Vec<Trial> = bed
        .blocks(8, &[400.0, 400.0, 400.0], 0.02)
        .into_iter()
        .map(|t| if t.arm == "slow" { stalled(t) } else { t })
        .collect();
    let after = |blocks: u32| -> Verdict {
        let so_far: Vec<Trial> = trials.iter().filter(|t| t.block < blocks).cloned().collect();
        verdict(&bed.analyze(&so_far))
    };
    assert_eq!([7, 8].map(after), [Verdict::Undecided, Verdict::Slower]);
}

/// Up to now such a trial was recorded as failed, with its load.
#[test]
fn records_of_earlier_versions_are_read_the_same() {
    let mut bed = pair();
    let mut trials = run(&mut bed, 7, |_, arm| arm == "slow");
    for trial in trials.iter_mut().filter(|trial| trial.arm == "slow") {
        let error = "no I/O completed in the measured window".to_owned();
        trial.outcome = Outcome::Failed { error };
    }
    assert_eq!(verdict(&bed.analyze(&trials)), Verdict::Slower);
}

#[test]
fn failed_ios_and_jobs_without_work_are_no_stalls() {
    let changes: [fn(&mut Trial); 3] = [
        |trial| job(trial).read.errors = 3,
        |trial| job(trial).first_error = Some("read at 0: I/O error".into()),
        |trial| job(trial).in_flight_io_ns = 0,
    ];
    for change in changes {
        let mut bed = pair();
        let mut trials = run(&mut bed, 7, |_, arm| arm == "slow");
        trials.iter_mut().filter(|trial| trial.arm == "slow").for_each(change);
        let analysis = bed.analyze(&trials);
        assert_eq!((verdict(&analysis), analysis.arms[1].failed_trials), (Verdict::Undecided, 7));
    }
}

/// At an offered rate the completions tell, too; latencies of what never completed there are none.
#[test]
fn a_stall_at_an_offered_rate_is_a_verdict() {
    let mut bed = pair().offer(400.0);
    let trials = run(&mut bed, 7, |_, arm| arm == "slow");
    let analysis = bed.analyze(&trials);
    for metric in [Metric::P99, Metric::Latency] {
        assert_eq!(of(&analysis, "slow", metric).verdict, Verdict::Slower, "{metric:?}");
    }
}

#[test]
fn a_plain_run_is_given_up_after_three_trials_without_anything() {
    let mut bed = Bed::new(&[("only", &[])], Design::Single);
    let trials: Vec<Trial> = (0..3).map(|block| stalled(bed.trial(block, 0, 400.0))).collect();
    assert_eq!(bed.decide(&trials[..2]).stop, []);
    assert_eq!(
        bed.decide(&trials).stop,
        [EndReason::ArmSilent { arm: "only".to_owned(), trials: 3 }]
    );
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::StalledTrials), @"
    [only, 3 trials] job reader completed no I/O in a window of 5 s, so its rate is below 0.20 IOPS (in 3 of 3 trials)
      -> This is a result, not a failure: the arm was too slow to be measured in this window. A longer window (--time) may show how slow the arm is. The machine's counters show what the arm waited for.
    ");
}

/// Every layer's share needs all arms.
#[test]
fn a_peel_is_given_up_after_three_and_still_judges_the_whole_stack() {
    let mut bed = Bed::peel(&["aes"]);
    let stall = |blocks: u32, bed: &mut Bed| -> Vec<Trial> {
        let trials = bed.blocks(blocks, &[400.0, 400.0], 0.02).into_iter();
        trials.map(|t| if t.arm == "mask 1" { stalled(t) } else { t }).collect()
    };
    let trials = stall(3, &mut bed);
    assert_eq!(
        bed.decide(&trials).stop,
        [EndReason::ArmSilent { arm: "mask 1".to_owned(), trials: 3 }]
    );
    let total = of(&bed.analyze(&trials), "total", Metric::Throughput).clone();
    assert_eq!(total.stalls.map(|stalls| (stalls.arm, stalls.base)), Some((3, 0)));
}
