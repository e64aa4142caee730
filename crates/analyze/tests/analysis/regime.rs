//! Levels that change during a run: what is said of them, and what follows.

use iotax_analyze::{Check, Verdict};

use crate::warnings::{asked, pair, said};

/// What all arms share is only said: comparisons are within blocks.
#[test]
fn a_shift_of_all_arms_is_said_and_drops_nothing() {
    let mut bed = pair();
    let mut trials = bed.blocks(7, &[1000.0, 1000.0], 0.01);
    trials.extend(bed.blocks(16, &[500.0, 500.0], 0.01).into_iter().skip(14));
    let analysis = bed.analyze(&trials);
    insta::assert_snapshot!(said(&analysis, Check::RegimeShift), @"
    [-, 18 trials] throughput fell by 50 % in all arms after block 7; comparisons are made within blocks and remain valid
      -> Burst credits probably ran out. Other possible causes are a cache that filled up early in the run, or a neighbor's load that started. To measure the sustained level, drain the credits first (--drain). To measure the burst, let the volume rest and use a shorter run.
    ");
    let other = &analysis.comparisons[0];
    assert_eq!((other.verdict, other.blocks, other.change), (Verdict::Equivalent, 16, None));
    assert!(analysis.trials.iter().all(|trial| trial.used));
}

/// The level came back, or rose: another cause.
#[test]
fn a_rise_of_all_arms_is_said_too() {
    let mut bed = pair();
    let mut trials = bed.blocks(5, &[500.0, 400.0], 0.01);
    trials.extend(bed.blocks(10, &[1000.0, 800.0], 0.01).into_iter().skip(10));
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::RegimeShift), @"
    [-, 10 trials] throughput rose by a factor of 2 in all arms after block 5; comparisons are made within blocks and remain valid
      -> Another load on the storage probably ended, or the volume became faster. To measure only the new level, run again.
    ");
}

/// A burst that one arm alone has: the blocks are of two kinds.
#[test]
fn a_shift_of_one_arm_changes_its_effect() {
    let mut bed = pair();
    let mut trials = bed.blocks(9, &[1000.0, 1000.0], 0.02);
    trials.extend(bed.blocks(16, &[1000.0, 500.0], 0.02).into_iter().skip(18));
    let analysis = bed.analyze(&trials);
    insta::assert_snapshot!(said(&analysis, Check::RegimeShift), @"
    [other, 7 trials] the effect on throughput changed after block 9: 0.8 % slower in the 9 blocks before the change, 2x slower in the 7 blocks after it; there are too few later blocks for a verdict
      -> Something that affects only this arm changed: its cache, its credits, or a background job on its device. Run again. If the new run shows the same cost as after the change, that cost is the lasting one.
    ");
    let other = &analysis.comparisons[0];
    assert_eq!((other.verdict, other.tax, other.regime), (Verdict::EffectChanged, None, None));
    let change = other.change.unwrap();
    assert_eq!((change.after_block, change.blocks), (9, [9, 7]));
    assert!(!other.holds_after_holm);
    insta::assert_snapshot!(
        asked(&analysis)[0],
        @"Throughput of other: effect changed; there are too few blocks after the change for a verdict."
    );
}

/// Below eight blocks noise and a step cannot be told apart: nothing is said, nothing dropped.
#[test]
fn a_shift_in_a_few_blocks_is_not_mentioned() {
    let mut bed = pair();
    let mut trials = bed.blocks(3, &[1000.0, 800.0], 0.01);
    trials.extend(bed.blocks(7, &[500.0, 400.0], 0.01).into_iter().skip(6));
    let analysis = bed.analyze(&trials);
    assert_eq!(said(&analysis, Check::RegimeShift), "");
    assert_eq!(
        (analysis.comparisons[0].verdict, analysis.comparisons[0].blocks),
        (Verdict::Slower, 6)
    );
}
