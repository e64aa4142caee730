//! Preconditioning as recorded, and writes that were not at steady state.
#![allow(clippy::unwrap_used, reason = "tests")]

use iotax_analyze::{ArmPrecondition, Check, NotPreconditioned, PASSES, Phases, precondition_spec};
use iotax_experiment::{SideRuns, Target};
use iotax_record::{ExperimentHead, Trial};

use crate::support::{Bed, Found, job};
use crate::warnings::{pair, said};

/// Two arms on storage, whose workload writes this share of its I/Os.
fn bed(writes: u8) -> Bed {
    let mut bed = pair();
    bed.edit(|spec| spec.phases[0].jobs[0].read_percent = 100 - writes);
    bed.edit(|spec| {
        for arm in &mut spec.arms {
            arm.target = Target::Path(format!("/mnt/{}", arm.name).into());
        }
    });
    bed
}

/// Blocks of which each is this much faster than the one before.
fn drifting(bed: &mut Bed, blocks: u32, factor: f64) -> Vec<Trial> {
    let level = |block: i32| 1000.0 * factor.powi(block);
    let mut trials = Vec::new();
    for block in 0..blocks {
        let levels = [level(i32::try_from(block).unwrap()); 2];
        let mut own = bed.blocks(1, &levels, 0.02);
        for trial in &mut own {
            trial.block = block;
        }
        trials.extend(own);
    }
    trials
}

#[test]
fn writes_that_slow_down_from_block_to_block_were_not_steady() {
    let mut bed = bed(100);
    let trials = drifting(&mut bed, 10, 0.93);
    let analysis = bed.analyze(&trials);
    insta::assert_snapshot!(said(&analysis, Check::NotSteady), @"
    [-, 20 trials] writes did not reach a steady state: throughput fell by 47 % gradually over 10 blocks; comparisons within blocks remain valid, but single figures do not
      -> The measurement itself fills a fresh SSD, or a volume whose blocks have never been written. --precondition writes the span first, then runs the workload until it is steady.
    ");
    assert_eq!(said(&analysis, Check::RegimeShift), "");
}

#[test]
fn nothing_is_said_of_reads_of_memory_of_noise_or_of_few_blocks() {
    let reads = {
        let mut bed = bed(0);
        let trials = drifting(&mut bed, 10, 0.93);
        bed.analyze(&trials)
    };
    let memory = {
        let mut bed = pair();
        bed.edit(|spec| spec.phases[0].jobs[0].read_percent = 0);
        let trials = drifting(&mut bed, 10, 0.93);
        bed.analyze(&trials)
    };
    let noise = {
        let mut bed = bed(100);
        let trials = bed.blocks(20, &[1000.0, 900.0], 0.2);
        bed.analyze(&trials)
    };
    let few = {
        let mut bed = bed(100);
        let trials = drifting(&mut bed, 7, 0.8);
        bed.analyze(&trials)
    };
    for analysis in [reads, memory, noise, few] {
        assert_eq!(said(&analysis, Check::NotSteady), "");
    }
}

/// What the check for a change of regime tells is not told again.
#[test]
fn a_step_is_a_change_of_regime_and_nothing_else() {
    let mut bed = bed(100);
    let mut trials = bed.blocks(7, &[1000.0, 1000.0], 0.01);
    trials.extend(bed.blocks(16, &[500.0, 500.0], 0.01).into_iter().skip(14));
    let analysis = bed.analyze(&trials);
    assert_eq!(said(&analysis, Check::NotSteady), "");
    let shift = said(&analysis, Check::RegimeShift);
    assert!(shift.contains("write the span first (--precondition)"), "{shift}");
}

/// Preconditioning of `bed`'s arms, with this rate in each round.
fn preconditioned(bed: &mut Bed, rounds: &[f64]) -> (Phases, Vec<ArmPrecondition>) {
    let main = bed.experiment.clone();
    let spec = precondition_spec(&main.spec).unwrap();
    let phases = spec.phases().count();
    let mut own = Phases::new(&ExperimentHead { spec, ..main.clone() });
    for pass in 0..PASSES {
        for arm in 0..2 {
            let mut trial = bed.trial(pass, arm, 100.0);
            "fill".clone_into(&mut job(&mut trial).name);
            let read = std::mem::take(&mut job(&mut trial).read);
            job(&mut trial).write = read;
            own.add(&trial);
        }
    }
    for (round, iops) in (0..).zip(rounds) {
        for arm in 0..2 {
            let mut trial = bed.trial(PASSES + round, arm, *iops);
            trial.phase = 1;
            own.add(&trial);
        }
    }
    assert!(phases == 2 || rounds.is_empty(), "the span, and what writes");
    let mut of_main = Phases::new(&main);
    of_main.preconditioned_by(&own);
    let analysis = of_main.finish(None).remove(0).1;
    (own, analysis.preconditioned)
}

#[test]
fn rounds_go_on_until_the_last_five_are_steady() {
    let falling = [900.0, 700.0, 560.0, 480.0, 430.0, 405.0, 400.0, 396.0, 398.0];
    for ended in 1..=falling.len() {
        let (own, arms) = preconditioned(&mut bed(100), &falling[..ended]);
        let steady = ended == falling.len();
        assert_eq!((own.is_steady(0, 1), own.is_steady(1, 1)), (steady, steady), "{ended}");
        assert_eq!(arms[0].steady, Some(steady));
        assert_eq!((arms[0].passes, arms[0].rounds.len()), (2, ended));
    }
}

#[test]
fn an_arm_that_is_not_steady_says_so_with_its_figures() {
    let mut bed = bed(100);
    bed.edit(|spec| spec.side_runs = SideRuns { precondition: true, ..SideRuns::default() });
    let wild: Vec<f64> = (0..25).map(|i| if i % 2 == 0 { 500.0 } else { 700.0 }).collect();
    let main = bed.experiment.clone();
    let (own, arms) = preconditioned(&mut bed, &wild);
    assert_eq!(arms[1].steady, Some(false));
    let mut phases = Phases::new(&main);
    phases.preconditioned_by(&own);
    for trial in bed.blocks(3, &[600.0, 600.0], 0.01) {
        phases.add(&trial);
    }
    let (experiment, analysis) = phases.finish(None).remove(0);
    let analysis = Found { experiment, analysis };
    insta::assert_snapshot!(said(&analysis, Check::NotSteady), @"
    [base, 3 trials] NOT steady after 25 rounds of preconditioning: the last five rounds span 34 % of their mean (limit: 20 %); their trend is 0 % of the mean (limit: 10 % in either direction)
      -> The level is still changing, or the storage is noisier than SNIA's limits allow. Comparisons within blocks are valid, but single figures are not. A longer --time makes rounds longer and less noisy.
    [other, 3 trials] NOT steady after 25 rounds of preconditioning: the last five rounds span 34 % of their mean (limit: 20 %); their trend is 0 % of the mean (limit: 10 % in either direction)
      -> The level is still changing, or the storage is noisier than SNIA's limits allow. Comparisons within blocks are valid, but single figures are not. A longer --time makes rounds longer and less noisy.
    ");
}

#[test]
fn a_workload_that_only_reads_has_no_rounds() {
    let (_, arms) = preconditioned(&mut bed(0), &[]);
    assert_eq!((arms[0].passes, arms[0].steady), (2, None));
    assert_eq!(arms[0].short, Some(NotPreconditioned::OnlyReads));
}
