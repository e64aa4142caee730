//! What explains the difference between two arms, and what both have alike.

use iotax_analyze::Analysis;
use iotax_diagnose::{Reasons, Suspect, reasons};
use iotax_experiment::layers::{File, Loop, QemuLuks};
use iotax_experiment::{Design, Engine, Layer, Stack, Target};
use iotax_record::Counters;

use crate::causes::{device, flushed};
use crate::confidence;
use crate::support::{Bed, SECOND_NS, SECONDS, disk_site, load};

const BLOCKS: u32 = 5;

/// A stack of so many layers of LUKS, its reads per second, and the time of each at its loop device
/// and at the disk.
struct Arm {
    luks: usize,
    key_bits: u32,
    iops: u64,
    at_loop_ms: f64,
    at_disk_ms: f64,
}

/// One thread that reads one by one, and flushes that took so long on each arm.
fn told(arms: &[Arm; 2], flush_ms: Option<[u64; 2]>) -> Reasons {
    told_of(Bed::new(&[("base", &[]), ("other", &[])], Design::Compare), arms, flush_ms)
}

fn told_of(mut bed: Bed, arms: &[Arm], flush_ms: Option<[u64; 2]>) -> Reasons {
    bed.experiment.sites = arms.iter().map(|_| disk_site()).collect();
    bed.edit(|spec| {
        let job = &mut spec.phases[0].jobs[0];
        (job.engine, job.direct, job.queue_depth) = (Engine::Psync, true, 1);
        for (arm, asked) in arms.iter().zip(&mut spec.arms) {
            let file = Layer::File(File { path: None, size_bytes: 1 << 30, thin: false });
            let luks = (0..arm.luks).map(|_| Layer::QemuLuks(QemuLuks { key_bits: arm.key_bits }));
            let last = Layer::Loop(Loop { direct: true });
            let layers = [file].into_iter().chain(luks).chain([last]).collect();
            asked.target = Target::Stack(Stack { layers });
        }
    });
    let mut trials = Vec::new();
    for block in 0..BLOCKS {
        for place in bed.order(block) {
            let arm = &arms[place];
            let wobble = 1.0 + 0.01 * f64::from(block % 3);
            let mut trial = bed.trial(block, place, arm.iops as f64 * wobble);
            let at = |name: &str, ms: f64| {
                let device = device(name, [arm.iops, 8], [0, 0], ms);
                // All that a sync takes is the disk's.
                flush_ms.map_or(device.clone(), |ms| flushed(device, 900 / ms[place], ms[place]))
            };
            trial.counters = Some(Counters {
                at_ns: vec![0, SECONDS * SECOND_NS],
                window_ns: Some([0, SECONDS * SECOND_NS]),
                devices: vec![at("loop1", arm.at_loop_ms), at("vda", arm.at_disk_ms)],
                ticks_per_s: 100,
                ..Counters::default()
            });
            if let Some(flush_ms) = flush_ms {
                let sync = &mut load(&mut trial).jobs[0].sync;
                sync.record_many(flush_ms[place] * 1_000_000, 4_500 / flush_ms[place]);
            }
            trials.push(trial);
        }
    }
    let analysis: Analysis = bed.analyze(&trials).analysis;
    reasons(&bed.experiment, &analysis)
}

/// The three kinds, in short.
fn shown(reasons: &Reasons) -> String {
    let named = |suspect: &Suspect| format!("{} {}", confidence(suspect.confidence), suspect.cause);
    let mut lines = Vec::new();
    for reason in &reasons.apart {
        let put_in = reason.put_in.as_ref().map(iotax_wording::cause::put_in);
        let said: Vec<String> =
            put_in.into_iter().chain(reason.suspect.as_ref().map(named)).collect();
        lines.push(format!("apart: {}: {}", reason.of, said.join("; ")));
    }
    lines.extend(reasons.alike.iter().map(|suspect| format!("alike: {}", named(suspect))));
    for other in &reasons.others {
        let all: Vec<String> = other.suspects.iter().map(named).collect();
        lines.push(format!("other: {}: {}", other.of, all.join(", ")));
    }
    lines.join("\n")
}

fn arm(luks: usize, iops: u64, at_loop_ms: f64, at_disk_ms: f64) -> Arm {
    Arm { luks, key_bits: 256, iops, at_loop_ms, at_disk_ms }
}

#[test]
fn a_layer_that_was_put_in_is_named_with_its_time() {
    let reasons = told(&[arm(1, 50, 19.0, 10.0), arm(2, 14, 68.0, 10.0)], None);
    insta::assert_snapshot!(shown(&reasons), @"
    apart: other: the second qemu-luks (added by iotax) took 48.6 ms per I/O (between loop1 and vda); sure encrypted-twice
    alike: likely too-little-parallelism
    other: base: likely encryption-in-path
    ");
}

#[test]
fn a_layer_of_the_baseline_is_why_the_other_is_faster() {
    let reasons = told(&[arm(2, 14, 68.0, 10.0), arm(1, 50, 19.0, 10.0)], None);
    insta::assert_snapshot!(shown(&reasons), @"
    apart: base: the second qemu-luks (added by iotax) took 48.6 ms per I/O (between loop1 and vda); sure encrypted-twice
    alike: likely too-little-parallelism
    other: other: likely encryption-in-path
    ");
}

#[test]
fn the_depth_of_the_load_explains_no_difference() {
    let reasons = told(&[arm(0, 100, 9.5, 9.0), arm(0, 50, 19.0, 18.5)], None);
    insta::assert_snapshot!(shown(&reasons), @"alike: likely too-little-parallelism");
}

#[test]
fn what_equal_arms_have_is_said_once() {
    let reasons = told(&[arm(0, 50, 19.0, 18.5), arm(0, 50, 19.0, 18.5)], Some([10, 10]));
    insta::assert_snapshot!(shown(&reasons), @"
    alike: sure flush-bound
    alike: likely too-little-parallelism
    ");
}

#[test]
fn a_cause_that_both_have_sets_apart_the_one_that_it_costs_more() {
    let slower = [arm(0, 100, 0.5, 0.1), arm(0, 20, 0.5, 0.1)];
    let reasons = told(&slower, Some([10, 50]));
    insta::assert_snapshot!(shown(&reasons), @"
    apart: other: sure flush-bound
    alike: likely too-little-parallelism
    other: base: sure flush-bound
    ");
}

#[test]
fn a_layer_that_is_set_up_otherwise_is_named_with_what_that_takes() {
    let slow = Arm { key_bits: 512, ..arm(1, 20, 49.0, 10.0) };
    let reasons = told(&[slow, arm(1, 50, 19.0, 10.0)], None);
    insta::assert_snapshot!(shown(&reasons), @"
    apart: base: qemu-luks (added by iotax) took 29.8 ms more per I/O than in other (between loop1 and vda); sure encryption-in-path
    alike: likely too-little-parallelism
    other: other: likely encryption-in-path
    ");
}

#[test]
fn a_peel_says_it_of_the_full_stack() {
    let bed = Bed::peel(&["luks", "luks#2"]);
    let one = || arm(1, 50, 19.0, 10.0);
    let reasons =
        told_of(bed, &[arm(0, 95, 10.1, 10.0), one(), one(), arm(2, 14, 68.0, 10.0)], None);
    insta::assert_snapshot!(shown(&reasons), @"
    apart: mask 3: the first qemu-luks and the second qemu-luks (added by iotax) took 57.4 ms per I/O (between loop1 and vda); sure encrypted-twice
    alike: likely too-little-parallelism
    other: mask 1: likely encryption-in-path
    other: mask 2: likely encryption-in-path
    ");
}
