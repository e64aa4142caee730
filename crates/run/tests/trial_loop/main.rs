//! The trial loop on a host that is only a script, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod scripted;
mod traps;

use std::time::Duration;

use iotax_experiment::{Arrivals, RecordedLoad, Rule};
use iotax_record::{EndReason, Outcome};
use iotax_run::Files;

use self::scripted::{Asked, Bench, DRAINED, Ran, Turn, UP};

/// Differs a little from trial to trial, by nothing that repeats.
fn about(iops: f64, trial: u32) -> Turn {
    Turn::Rate(iops * (1.0 + 0.01 * f64::from(trial * 7919 % 13) / 13.0))
}

fn failures(ran: &Ran) -> usize {
    ran.trials.iter().filter(|trial| matches!(trial.outcome, Outcome::Failed { .. })).count()
}

#[test]
fn every_block_has_each_arm_once_in_the_order_of_the_plan() {
    let ran = Bench::of_blocks(3, 4).run(|_, trial| about(100.0, trial));
    for (block, trials) in (0..).zip(ran.trials.chunks(3)) {
        let expected: Vec<String> =
            ran.plan.order(block, |_| true).iter().map(|arm| format!("arm {arm}")).collect();
        let arms: Vec<&str> = trials.iter().map(|trial| trial.arm.as_str()).collect();
        assert_eq!(arms, expected);
        assert!(trials.iter().all(|trial| trial.block == block));
    }
    assert!(ran.trials.iter().map(|trial| trial.slot).eq(0..12));
    let seeds = |block: usize| {
        let of_block = ran.asked[block * 3..][..3].iter();
        of_block.map(|asked| match asked {
            Asked::Trial(request) => request.seed,
            Asked::Prepared(_) => unreachable!("the files are there"),
        })
    };
    assert!(seeds(1).all(|seed| seed == ran.plan.load_seed(1)), "all arms see the same offsets");
}

#[test]
fn all_arms_of_a_block_replay_the_same_part_of_a_recording() {
    const PARTS: u32 = 5;
    let mut bench = Bench::of_blocks(2, 12);
    bench.spec = bench.spec.with(|spec| {
        let length_ns = 50_000_000_000;
        let recording = RecordedLoad {
            path: "/app.iotx".into(),
            hash: "1".to_owned(),
            length_ns,
            threads: 1,
            requests: 0,
            waits_for_syncs: false,
            allow_loss: false,
            arrivals: Arrivals::default(),
            copies: 1,
            parts: PARTS,
            uncut: None,
            writes: true,
            device_bytes: None,
            logs: None,
        };
        let phase = &mut spec.phases[0];
        (phase.ramp_ns, phase.time_ns) = (0, length_ns);
        phase.jobs[0].recording = Some(recording);
        *phase = phase.clone().in_slices();
        let times = phase.slices.unwrap().shortest();
        spec.settle(Some(&[times]));
    });
    // An arm that fails gets the part of its block, like all others.
    let ran = bench.run(|arm, trial| match (arm, trial) {
        (1, 3) => Turn::Fails,
        _ => about(100.0, trial),
    });
    let parts = ran.asked.iter().map(|asked| match asked {
        Asked::Trial(request) => request.part.unwrap(),
        Asked::Prepared(_) => unreachable!("the files are there"),
    });
    assert!(parts.eq((0..12).flat_map(|block| [block % PARTS; 2])));
}

#[test]
fn it_ends_as_soon_as_the_data_decide() {
    let ran = Bench::new(2, |_| ()).run(|arm, trial| about([100.0, 50.0][arm], trial));
    assert!(ran.trials.len() < 24, "{:?}", ran.end.reasons);
    assert!(!ran.end.gave_up && !ran.end.interrupted);
    assert_eq!(ran.end.reasons, [EndReason::Resolved { besides: None }]);
}

#[test]
fn rules_decide_when_it_ends() {
    let with = |rule: &str| {
        let mut bench = Bench::new(2, |_| ());
        bench.spec = bench.spec.with(|spec| spec.fail_if = vec![Rule::parse(rule).unwrap()]);
        bench.run(|arm, trial| about([100.0, 98.0][arm], trial))
    };
    let kept = with("slower by 5%");
    assert_eq!(kept.end.reasons, [EndReason::RulesDecided]);
    assert_eq!(kept.trials.len(), 16, "eight blocks, for fewer keep no rule");
    let broken = with("iops < 200");
    assert_eq!(broken.end.reasons, [EndReason::RulesDecided]);
    let mut bench = Bench::new(2, |_| ());
    bench.spec = bench.spec.with(|spec| spec.fail_if = vec![Rule::parse("slower by 2%").unwrap()]);
    let hopeless = bench.run(|arm, trial| {
        let noise = if (trial + u32::from(arm == 1)).is_multiple_of(2) { 0.3 } else { -0.3 };
        Turn::Rate(100.0 * (1.0 + noise))
    });
    assert_eq!(hopeless.end.reasons, [EndReason::RulesOutOfReach { needed: Some(6846) }]);
    assert_eq!(hopeless.trials.len(), 16, "patience of 8 blocks");
    let absent = with("sync.p99 > 1ms");
    assert_eq!(absent.end.reasons, [EndReason::Resolved { besides: None }]);
}

#[test]
fn an_arm_that_fails_three_times_in_a_row_is_given_up() {
    let ran = Bench::new(2, |_| ()).run(|arm, trial| match arm {
        0 => about(100.0, trial),
        _ => Turn::Fails,
    });
    assert!(ran.end.gave_up);
    assert_eq!(ran.end.reasons, [EndReason::ArmFailed { arm: "arm 1".to_owned(), times: 3 }]);
    assert_eq!((ran.trials.len(), failures(&ran)), (6, 3));
}

#[test]
fn an_arm_that_fails_now_and_then_is_not_given_up() {
    let ran = Bench::of_blocks(2, 8).run(|arm, trial| match (arm, trial) {
        (1, 0 | 1 | 3 | 4) => Turn::Fails,
        _ => about(100.0, trial),
    });
    assert!(!ran.end.gave_up, "{:?}", ran.end.reasons);
    assert_eq!(failures(&ran), 4);
}

#[test]
fn preconditioning_goes_on_after_a_round_that_failed_and_ends_after_three_in_a_row() {
    let preconditioned =
        |script: &dyn Fn(usize, u32) -> Turn| Bench::new(2, |_| ()).preconditioned(script);
    // The first two of each arm are the passes over its span.
    let once = preconditioned(&|arm, trial| match (arm, trial) {
        (1, 3) => Turn::Fails,
        _ => about(100.0, trial),
    });
    assert!(!once.end.gave_up, "{:?}", once.end.reasons);
    assert_eq!((once.trials.len(), failures(&once)), (2 * (2 + 6), 1));
    assert_eq!(once.end.reasons, [EndReason::Steady { rounds: 6 }]);
    let always = preconditioned(&|arm, trial| match (arm, trial) {
        (1, 2..) => Turn::Fails,
        _ => about(100.0, trial),
    });
    assert!(always.end.gave_up);
    assert_eq!((always.trials.len(), failures(&always)), (2 * (2 + 3), 3));
    assert_eq!(always.end.reasons, [EndReason::ArmFailed { arm: "arm 1".to_owned(), times: 3 }]);
}

#[test]
fn an_arm_that_does_not_come_up_is_a_failed_trial() {
    let ran = Bench::of_blocks(2, 4).run(|arm, trial| match (arm, trial) {
        (0, 1) => Turn::StaysDown,
        _ => about(100.0, trial),
    });
    assert_eq!(failures(&ran), 1);
    let failed = ran.trials.iter().find(|trial| trial.load.is_none()).unwrap();
    assert_eq!((failed.block, failed.arm.as_str()), (1, "arm 0"));
    assert_eq!(ran.trials.len(), 8, "the others go on");
}

#[test]
fn a_block_that_would_end_too_late_is_not_started() {
    let limit = Duration::from_mins(1);
    let limited = |spent| {
        let bench = Bench::new(2, |stop| stop.max_time_ns = Some(60_000_000_000));
        Bench { spent, ..bench }.run(|_, trial| about(100.0, trial))
    };
    // 2 s to come up, 1 s of ramp and 10 s of window, for two arms: 26 s.
    let ran = limited(Duration::ZERO);
    assert_eq!(ran.trials.len(), 4);
    assert!(Duration::from_nanos(ran.end.wall_ns) <= limit);
    assert_eq!(ran.end.reasons, [EndReason::TimeUp]);
    assert_eq!(limited(Duration::from_secs(20)).trials.len(), 2, "what was run before counts");
    assert_eq!(limited(Duration::from_secs(90)).trials.len(), 2, "one block always is");
}

#[test]
fn time_for_coming_up_is_no_part_of_the_trial() {
    let bench = Bench::of_blocks(2, 1);
    let ran = bench.run(|_, trial| about(100.0, trial));
    let starts: Vec<u64> = ran.trials.iter().map(|trial| trial.started_ns).collect();
    let up = u64::try_from(UP.as_nanos()).unwrap();
    assert_eq!(starts, [up, 2 * up + 11_000_000_000]);
    assert!(ran.trials.iter().all(|trial| trial.switch_ns == up));
}

#[test]
fn credits_that_came_back_are_spent_before_each_trial_and_in_no_part_of_it() {
    let bench =
        Bench::of_blocks(2, 2).drained(Duration::from_mins(1), |_, stretch| match stretch {
            0 | 1 => about(3000.0, stretch),
            _ => about(1000.0, stretch),
        });
    let ran = bench.run(|_, trial| about(1000.0, trial));
    let switched = u64::try_from((UP + DRAINED).as_nanos()).unwrap();
    assert_eq!(ran.trials.len(), 4);
    assert!(ran.trials.iter().all(|trial| trial.switch_ns == switched));
    for asked in &ran.asked {
        let Asked::Trial(request) = asked else { panic!("the files are there") };
        let iops = request.sustained_iops.unwrap();
        assert!((990.0..1010.0).contains(&iops), "{iops}");
    }
}

#[test]
fn files_that_are_missing_are_laid_out_before_the_trial() {
    let bench = Bench::of_blocks(2, 1);
    let ran = Bench { files: Files::Missing, ..bench }.run(|_, trial| about(100.0, trial));
    let [Asked::Prepared(a), Asked::Trial(first), Asked::Prepared(b), Asked::Trial(second)] =
        ran.asked.as_slice()
    else {
        panic!("{:?}", ran.asked)
    };
    assert_eq!((*a, *b), (first.arm, second.arm));
}

#[test]
fn ctrl_c_ends_the_run_and_all_until_then_is_kept() {
    let ran = Bench::new(2, |_| ()).run(|_, trial| match trial {
        2 => Turn::Interrupted,
        _ => about(100.0, trial),
    });
    assert!(ran.end.interrupted && !ran.end.gave_up);
    let (last, before) = ran.trials.split_last().unwrap();
    assert_eq!(last.outcome, Outcome::Interrupted);
    assert_eq!(before.len(), 4);
    assert!(before.iter().all(|trial| trial.outcome == Outcome::Completed));
    assert_eq!(ran.end.reasons, [EndReason::Interrupted]);
}
