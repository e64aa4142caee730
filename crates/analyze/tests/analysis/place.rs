//! Which trial comes first in a block, and what that may do to a comparison.

use iotax_analyze::{Analysis, Check, Metric, Verdict};
use iotax_record::Trial;

use crate::support::{Bed, of};
use crate::warnings::{asked, said};

/// Blocks in which the first trial is this much faster than it would be.
fn first_is_faster(bed: &mut Bed, blocks: u32, rates: &[f64], gain: f64) -> Vec<Trial> {
    let block = |block: u32| {
        let order = bed.order(block);
        let trials = order.into_iter().enumerate().map(|(place, arm)| {
            let wobble = 1.0 + 0.004 * f64::from((block * 7 + [0, 3, 6][arm]) % 5);
            let factor = if place == 0 { 1.0 + gain } else { 1.0 };
            bed.trial(block, arm, rates[arm] * wobble * factor)
        });
        trials.collect::<Vec<_>>()
    };
    (0..blocks).flat_map(block).collect()
}

fn b(analysis: &Analysis) -> &iotax_analyze::Comparison {
    of(analysis, "b", Metric::Throughput)
}

/// With random orders, the same arm is first in all of three blocks in one run of four. It then gets
/// the whole advantage of that place.
#[test]
fn equal_arms_are_not_called_different_for_the_place_of_their_trials() {
    for blocks in 3..=13 {
        let mut bed = Bed::compare(&["a", "b"]);
        let trials = first_is_faster(&mut bed, blocks, &[400.0, 400.0], 0.43);
        let verdict = b(&bed.analyze(&trials)).verdict;
        assert!(!verdict.is_signed(), "{verdict:?} after {blocks} blocks");
    }
}

#[test]
fn both_orders_are_told_of_and_the_interval_is_that_without_them() {
    let mut bed = Bed::compare(&["a", "b"]);
    let trials = first_is_faster(&mut bed, 8, &[400.0, 400.0], 0.43);
    let analysis = bed.analyze(&trials);
    let comparison = b(&analysis);
    assert_eq!(comparison.verdict, Verdict::Equivalent);
    let place = comparison.place.unwrap();
    assert!((place.base_first - 0.3).abs() < 0.01 && (place.arm_first + 0.43).abs() < 0.02);
    assert!(place.taken_out && place.blocks == [4, 4] && place.p < 1e-6, "{place:?}");
    insta::assert_snapshot!(said(&analysis, Check::PlaceEffect), @"
    [b, 8 trials] throughput depends on which trial comes first: b is 31 % slower in the 4 blocks in which a came first, and 44 % faster in the 4 blocks in which b did; the interval is for the mean of both orders, so the order has no effect on it
      -> Each trial affects the next one, whichever arm runs next: a trial fills a cache, uses up credits, or leaves writes in progress. Run again with a longer ramp (--ramp), or spend the credits first (--drain).
    ");
    let json = serde_json::to_value(comparison).unwrap();
    assert_eq!(json["place"]["blocks"], serde_json::json!([4, 4]));
    assert!(analysis.warnings.iter().any(|doubt| doubt.check() == Check::PlaceEffect));
}

#[test]
fn a_real_difference_beside_an_effect_of_place_is_found() {
    let mut bed = Bed::compare(&["a", "b"]);
    let trials = first_is_faster(&mut bed, 8, &[400.0, 320.0], 0.43);
    let analysis = bed.analyze(&trials);
    let comparison = b(&analysis);
    assert_eq!(comparison.verdict, Verdict::Slower);
    assert!((comparison.tax.unwrap() - 0.2).abs() < 0.01, "{comparison:?}");
    assert!(comparison.hi.unwrap() - comparison.lo.unwrap() < 0.03, "{comparison:?}");
}

#[test]
fn few_blocks_do_not_tell_what_the_order_does_from_what_the_arm_does() {
    let mut bed = Bed::compare(&["a", "b"]);
    let trials = first_is_faster(&mut bed, 4, &[400.0, 320.0], 0.43);
    let analysis = bed.analyze(&trials);
    let comparison = b(&analysis);
    assert_eq!(comparison.verdict, Verdict::Undecided);
    assert!(!comparison.place.unwrap().taken_out);
    let said = said(&analysis, Check::PlaceEffect);
    assert!(
        said.contains("there are too few blocks to separate the effect of the order"),
        "{said}"
    );
}

#[test]
fn of_several_arms_each_is_told_of() {
    let mut bed = Bed::compare(&["a", "b", "c"]);
    let block = |block: u32| {
        let order = bed.order(block);
        let trials = order.into_iter().enumerate().map(|(place, arm)| {
            // Slower with each trial of the block.
            let wobble = 1.0 + 0.002 * f64::from((block * 7 + [0, 3, 6][arm]) % 5);
            bed.trial(block, arm, 400.0 * wobble * (1.0 - 0.2 * place as f64))
        });
        trials.collect::<Vec<_>>()
    };
    let trials: Vec<Trial> = (0..12).flat_map(block).collect();
    let analysis = bed.analyze(&trials);
    for arm in ["b", "c"] {
        let comparison = of(&analysis, arm, Metric::Throughput);
        assert!(!comparison.verdict.is_signed(), "{comparison:?}");
        assert!(comparison.place.is_some_and(|place| place.base_first > 0.1), "{comparison:?}");
    }
    assert_eq!(said(&analysis, Check::PlaceEffect).lines().count(), 4);
}

#[test]
fn without_both_orders_there_is_no_look() {
    let mut bed = Bed::compare(&["a", "b"]);
    let trials: Vec<Trial> = (0..10_u32)
        .flat_map(|block| {
            [bed.trial(block, 0, 400.0), bed.trial(block, 1, 200.0 + f64::from(block))]
        })
        .collect();
    let analysis = bed.analyze(&trials);
    assert_eq!((b(&analysis).verdict, b(&analysis).lo), (Verdict::Undecided, None));
    let told = asked(&analysis).join("\n");
    assert!(
        told.contains(
            "the first analysis requires 4 blocks, so that each order of the arms is run twice"
        ),
        "{told}"
    );
}

#[test]
fn few_blocks_that_agree_to_a_hair_are_doubted() {
    let mut bed = Bed::compare(&["a", "b"]);
    let trials: Vec<Trial> = (0..8).flat_map(|block| bed.block(block, &[4000.0, 2800.0])).collect();
    let four = bed.analyze(&trials[..8]);
    assert_eq!(b(&four).verdict, Verdict::Slower);
    insta::assert_snapshot!(said(&four, Check::Precision), @"
    [b, 4 trials] the 4 blocks for b agree to within 0.004 %: an interval this narrow shows how well these few blocks agree, not what more blocks would show
      -> If the size of the effect matters, run again with another --seed, which changes the order of the arms. If the result is the same, it does not depend on the order.
    ");
    assert_eq!(said(&bed.analyze(&trials), Check::Precision), "");
}

/// What a secondary measure shows of a difference has to hold for all of them together.
#[test]
fn measures_beside_the_primary_one_share_an_error_rate() {
    let of_cpu = |seed| {
        let mut bed = Bed::compare(&["a", "b", "c", "d", "e", "f"]).seed(seed);
        let mut trials = bed.blocks(8, &[400.0; 6], 0.02);
        for trial in trials.iter_mut().filter(|trial| trial.arm == "b") {
            let wobble = u64::from(trial.block * 5 % 8);
            let job = crate::support::job(trial);
            job.cpu_user_ns = job.read.ios * (2_000 + 20 * wobble);
        }
        let analysis = bed.analyze(&trials);
        let cpu = of(&analysis, "b", Metric::CpuPerIo);
        (cpu.verdict, cpu.lo.unwrap() > 0.0, cpu.holds_after_holm)
    };
    assert_eq!(of_cpu(3), (Verdict::Undecided, true, false), "alone its interval excludes zero");
}
