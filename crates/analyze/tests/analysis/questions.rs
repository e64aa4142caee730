//! What could not be concluded, word for word.

use iotax_analyze::Check;
use iotax_experiment::StopMode;
use iotax_record::{End, Trial};

use crate::support::{Bed, end};
use crate::warnings::{asked, pair, said};

#[test]
fn open_questions_of_a_comparison() {
    let mut bed = pair();
    let trials = bed.blocks(4, &[500.0, 500.0], 0.1);
    insta::assert_snapshot!(asked(&bed.analyze(&trials)).join("\n"), @"
    Throughput of other: undecided after 4 blocks; at this noise level, a verdict would take more than ten times as many blocks.
    Tails were not compared: in a closed loop, a slower arm gets less load. For a verdict on p99, run all arms at the same rate, 0.7 times the throughput of the slowest arm (--set rate=...).
    No stall (a second with less than half of its trial's mean throughput) was seen in 4 trials per arm. With 95 % confidence, at most 75 % of trials have a stall.
    ");
    let quiet = bed.blocks(5, &[500.0, 500.0], 0.005);
    insta::assert_snapshot!(asked(&bed.analyze(&quiet)).join("\n"), @"
    iotax did not test whether an IOPS or bandwidth cap that all arms share hides the tax of other. At a cap, equal throughput proves nothing. Compare CPU per I/O, or set a rate below the throughput (--set rate=...).
    Tails were not compared: in a closed loop, a slower arm gets less load. For a verdict on p99, run all arms at the same rate, 0.7 times the throughput of the slowest arm (--set rate=...).
    No stall (a second with less than half of its trial's mean throughput) was seen in 5 trials per arm. With 95 % confidence, at most 60 % of trials have a stall.
    ");
}

#[test]
fn open_questions_of_several_arms_that_hold_only_alone() {
    let mut bed = Bed::compare(&["base", "barely", "b", "c", "d", "e"]);
    let trials: Vec<Trial> = (0..4_u32)
        .flat_map(|block| {
            let swing = if block < 2 { 1.0 } else { -1.0 };
            let vague = 500.0 * (1.0 + 0.2 * swing);
            let rates = [500.0, 400.0 * (1.0 + 0.055 * swing), vague, vague, vague, vague];
            bed.block(block, &rates.map(|rate| rate * (1.0 + 1e-4 * f64::from(block))))
        })
        .collect();
    let analysis = bed.analyze(&trials);
    insta::assert_snapshot!(asked(&analysis)[0], @"Throughput of barely, b, c, d and e: undecided after 4 blocks; at this noise level, a verdict would take more than ten times as many blocks.");
    insta::assert_snapshot!(said(&analysis, Check::Precision).lines().next().unwrap(), @"[-, 4 trials] the differences for barely, b, c, d and e varied by 6.4 % to 23 % from block to block over 4 blocks");
}

#[test]
fn open_questions_about_precision() {
    let mut bed = pair().stop(|stop| stop.mode = StopMode::Tight);
    let trials = bed.blocks(6, &[500.0, 350.0], 0.05);
    let asked = asked(&bed.analyze(&trials));
    insta::assert_snapshot!(asked[0], @"P50 latency of other: undecided after 6 blocks; the difference is significant on its own, but not after Holm's correction for multiple comparisons.");
    insta::assert_snapshot!(asked[1], @"The effect of other is known only as a range, 23 to 42 % slower; at this noise level, the requested precision would take about 25 blocks.");
}

#[test]
fn a_record_that_lost_trials_since_it_was_made_says_so() {
    let mut bed = pair();
    let trials = bed.blocks(4, &[500.0, 400.0], 0.002);
    let first = |trials: &[Trial], run| {
        let end = End { trials: run, ..end() };
        asked(&bed.finish(trials, Some(&end))).remove(0)
    };
    insta::assert_snapshot!(first(&trials[..6], Some(8)), @"The record contains 6 trials, but 8 were run. The record was cut or edited afterwards, so it proves nothing.");
    assert!(!first(&trials, Some(8)).contains("were run"));
    assert!(!first(&trials, None).contains("were run"), "records that do not say are trusted");
}
