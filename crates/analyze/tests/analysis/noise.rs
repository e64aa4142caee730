//! What keeps a comparison undecided, and what to do about it.

use iotax_analyze::{Doubt, DoubtKind};
use iotax_experiment::Target;
use iotax_record::{End, OtherPrograms, ProgramUse, Trial};
use iotax_wording::doubt::doubt as doubt_in_words;

use crate::support::{Bed, Found, SECOND_NS, end};

fn pair() -> Bed {
    Bed::compare(&["base", "other"])
}

/// Nine noisy blocks beside other programs: their share of two CPUs, and what they do on the disk.
fn noisy_beside(bed: Bed, cpu_share: f64, written_bytes: u64) -> Found {
    let mut bed = bed;
    let trials: Vec<Trial> = (0..9)
        .flat_map(|block| {
            let swing = if block % 4 < 2 { 1.15 } else { 0.87 };
            bed.block(block, &[500.0, 500.0 * swing])
        })
        .collect();
    let span_ns = 100 * SECOND_NS;
    let cpu_ns = iotax_quantity::whole(cpu_share * 2.0 * span_ns as f64);
    let program = |name: &str| ProgramUse { name: name.into(), ..ProgramUse::default() };
    let largest = vec![
        ProgramUse { cpu_ns, ..program("rustc") },
        ProgramUse { write_bytes: written_bytes, ..program("postgres") },
        program("cron"),
    ];
    let other_programs = Some(OtherPrograms { span_ns, cpu_ns, io_is_known: true, largest });
    bed.finish(&trials, Some(&End { other_programs, ..end() }))
}

/// Arms that are directories, on one disk.
fn on_directories() -> Bed {
    let mut bed = pair().on_disk();
    bed.edit(|spec| {
        for arm in &mut spec.arms {
            arm.target = Target::Path(format!("/srv/{}", arm.name).into());
        }
    });
    bed
}

#[test]
fn what_dominates_the_noise_is_named() {
    let advice = |found: &Found| {
        let doubts =
            found.warnings.iter().filter(|doubt| matches!(doubt.kind, DoubtKind::Noise(_)));
        let said = doubts.map(|doubt| doubt_in_words(doubt, &found.experiment).advice);
        said.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(advice(&noisy_beside(pair(), 0.84, 1 << 40)), @"Most of the noise probably comes from other programs: rustc used 84 % of the CPU time. Stop them, or run iotax when they are idle. Or run more blocks (--max-blocks 80).");
    insta::assert_snapshot!(advice(&noisy_beside(on_directories(), 0.04, 12_000_000_000)), @"Most of the noise probably comes from other programs: postgres wrote 120 MB/s. Stop them, or run iotax when they are idle. Or run more blocks (--max-blocks 80).");
    insta::assert_snapshot!(advice(&noisy_beside(on_directories(), 0.02, 100)), @"The speed of the storage itself varies by 15 % from one trial to the next, and nothing else on this machine uses the storage, so other machines probably share it. Measure at another time, or on storage that you do not share. p50 often varies less than throughput. Or run more blocks (--max-blocks 80).");
    insta::assert_snapshot!(advice(&noisy_beside(pair(), 0.02, 1 << 40)), @"Run more blocks (--max-blocks 80), or use a quieter machine.");
}

#[test]
fn other_programs_are_told_once() {
    let busy = |mut trials: Vec<Trial>| {
        for trial in &mut trials {
            let load = trial.load.as_mut().unwrap();
            load.system.cpu_busy_ns = Some(8 * SECOND_NS);
            load.system.process_cpu_ns = Some(SECOND_NS);
            load.system.kernel_threads_cpu_ns = Some(0);
        }
        trials
    };
    let kinds = |found: &Found| {
        let is_others = |doubt: &&Doubt| matches!(doubt.kind, DoubtKind::OtherPrograms { .. });
        let is_noise = |doubt: &&Doubt| matches!(doubt.kind, DoubtKind::Noise(_));
        [
            found.warnings.iter().filter(is_others).count(),
            found.warnings.iter().filter(is_noise).count(),
        ]
    };
    let mut bed = pair();
    let noisy = busy(
        (0..6)
            .flat_map(|b| bed.block(b, &[500.0, if b % 4 < 2 { 575.0 } else { 435.0 }]))
            .collect(),
    );
    assert_eq!(kinds(&bed.analyze(&noisy)), [0, 1], "with the noise");
    let quiet = busy((0..6).flat_map(|b| bed.block(b, &[500.0, 500.0])).collect());
    assert_eq!(kinds(&bed.analyze(&quiet)), [2, 0], "of each arm, where nothing is undecided");
}
