//! What a search asks for, probe by probe, and all that it concludes: each step follows from the
//! one before, so that whatever changes in one shows.

use std::fmt::Write as _;

use iotax_caps::{Caps, Observation, Processors};
use iotax_experiment::{BurstWatch, Probe, ProbePurpose, SearchDraft};
use serde_json::Value;

use crate::{DISK, Disk, Disks, MIB, search_with};

/// `OverDepth 0 at 16M+32M: 4096 B x 64 for 0.25 + 2 s = 4003`
pub(crate) fn line(probe: &Probe, seen: &[Observation]) -> String {
    let ProbePurpose::Known(purpose) = &probe.purpose else { panic!("{probe:?}") };
    let mib = |bytes: u64| bytes as f64 / MIB;
    let place = |(target, region): &(usize, iotax_experiment::Region)| {
        format!("{target} at {}M+{}M", mib(region.offset_bytes), mib(region.bytes))
    };
    let places: Vec<String> = probe.places.iter().map(place).collect();
    let seconds = |ns: u64| ns as f64 / 1e9;
    let rates: Vec<String> = seen.iter().map(|seen| format!("{:.1}", seen.iops())).collect();
    format!(
        "{purpose:?} {}: {} B x {} for {} + {} s = {}",
        places.join(", "),
        probe.block_bytes,
        probe.queue_depth,
        seconds(probe.ramp_ns),
        seconds(probe.time_ns),
        rates.join(", ")
    )
}

/// To six digits, and nothing below a billionth: what follows is rounding.
fn rounded(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(rounded),
        Value::Object(fields) => fields.values_mut().for_each(rounded),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap();
            let six: f64 = format!("{number:.5e}").parse().unwrap();
            *value = Value::from(if number.abs() < 1e-9 { 0.0 } else { six });
        }
        _ => {}
    }
}

/// One line for each figure that is there.
fn conclusions(caps: &Caps) -> String {
    let mut value = serde_json::to_value(caps).unwrap();
    rounded(&mut value);
    let mut text = String::new();
    let mut tell = |of: &str, fields: &Value| {
        for (name, value) in fields.as_object().unwrap() {
            let is_long = ["targets", "levels", "soak_iops", "soak_bw_bytes"].contains(&&**name);
            if !is_long && !value.is_null() && *value != Value::Array(Vec::new()) {
                writeln!(text, "{of}{name}: {value}").unwrap();
            }
        }
    };
    for (at, target) in value["targets"].as_array().unwrap().iter().enumerate() {
        tell(&format!("{at} "), target);
    }
    tell("", &value);
    text
}

#[track_caller]
fn follow_with(name: &str, mut disks: Disks, change: impl FnOnce(&mut SearchDraft)) {
    let caps = search_with(&mut disks, change);
    let text = format!("{}\n\n{}", disks.log.join("\n"), conclusions(&caps));
    insta::assert_snapshot!(name, text);
}

#[track_caller]
fn follow(name: &str, disk: Disk) {
    follow_with(name, Disks::of(&[disk]), |_| ());
}

fn quick(search: &mut SearchDraft) {
    search.quick = true;
}

/// 0.5, 0.25, 0.75, ...: fills the interval evenly, and never repeats.
fn even(second: u64) -> f64 {
    (second.reverse_bits() >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn a_limiter() {
    follow("limiter", DISK);
    follow_with("limiter_quick", Disks::of(&[DISK]), quick);
    follow_with("limiter_written", Disks::of(&[DISK]), |search| search.writes = true);
    follow("limiter_deep", Disk { alone_s: 4e-3, ..DISK });
    follow("limiter_beyond_all_depths", Disk { alone_s: 0.1, ..DISK });
    follow("limiter_slow", Disk { iops: 20.0, bytes_per_s: 2.0 * MIB, ..DISK });
    follow("limiter_of_a_small_target", Disk { span_bytes: 100 << 20, ..DISK });
}

#[test]
fn a_kink_below_a_page_and_a_cap_alone() {
    let small = Disk { iops: 60_000.0, bytes_per_s: 100.0 * MIB, alone_s: 50e-6, ..DISK };
    follow("kink_below_a_page", small);
    follow("kink_below_the_smallest", Disk { smallest_io_bytes: 4096, ..small });
    follow("bytes_alone", Disk { iops: 1e9, alone_s: 1e-6, ..DISK });
    follow("ios_alone", Disk { bytes_per_s: 1e12, ..DISK });
}

#[test]
fn a_device_and_what_is_counted_as_several() {
    let curve = Some([40e-6, 2e-9]);
    follow("device", Disk { curve, alone_s: 100e-6, ..DISK });
    follow_with(
        "device_scattering",
        Disks::of(&[Disk {
            curve,
            alone_s: 100e-6,
            left: |second| 1.0 - 0.1 * even(second),
            ..DISK
        }]),
        quick,
    );
    let several = |size: u32| f64::from(256 << 10) / f64::from(size.max(256 << 10));
    follow("counted_as_several", Disk { bytes_per_s: 1e12, left_of_size: several, ..DISK });
    let odd = |size: u32| if size == 64 << 10 { 0.9 } else { 1.0 };
    follow("one_size_disturbed", Disk { left_of_size: odd, ..DISK });
}

#[test]
fn a_rate_that_is_disturbed() {
    let often = |second: u64| if second % 7 < 2 { 0.3 + 0.5 * even(second) } else { 1.0 };
    follow("disturbed", Disk { left: often, ..DISK });
    follow("disturbed_by_other_programs", Disk { left: often, cpu_wait: Some(0.2), ..DISK });
    let early = |second: u64| if (14..30).contains(&second) { 0.8 } else { 1.0 };
    follow("disturbed_early", Disk { left: early, ..DISK });
    follow("scattering", Disk { left: |second| 1.0 - 0.04 * even(second), ..DISK });
    follow_with(
        "scattering_widely",
        Disks::of(&[Disk { left: |second| 1.0 - 0.6 * even(second), ..DISK }]),
        quick,
    );
    let switched = |second: u64| if (second / 9).is_multiple_of(2) { 0.4 } else { 1.0 };
    follow("alternating", Disk { left: switched, ..DISK });
    // While sizes are measured, while caps are, and both.
    let sizes = |second: u64| if (21..32).contains(&second) { 0.7 } else { 1.0 };
    follow("disturbed_while_sizes_are_measured", Disk { left: sizes, ..DISK });
    let caps =
        |second: u64| if second > 32 && second % 5 < 3 { 0.5 + 0.4 * even(second) } else { 1.0 };
    follow("disturbed_while_caps_are_measured", Disk { left: caps, ..DISK });
    let all = |second: u64| if even(second) < 0.4 { 0.6 } else { 1.0 };
    let curve = Some([40e-6, 2e-9]);
    follow("device_disturbed", Disk { left: all, curve, alone_s: 100e-6, ..DISK });
    let late = |second: u64| if second > 60 { 0.6 } else { 1.0 };
    follow("fallen", Disk { left: late, ..DISK });
}

#[test]
fn processors_that_set_the_rate() {
    let with_kernel = |iops: f64, _| {
        let kernel_threads = Some(0.05 + iops / 8000.0);
        let process = 0.1 + iops / 8000.0;
        Some(Processors { usable: 4.0, busy: Some(0.4), all: 4.0, process, kernel_threads })
    };
    follow(
        "kernel_threads_in_turn",
        Disk { processors: with_kernel, curve: Some([40e-6, 2e-9]), ..DISK },
    );
    let small = |_, size: u32| {
        let busy = Some(if size <= 8192 { 0.98 } else { 0.3 });
        let process = if size <= 8192 { 1.9 } else { 0.3 };
        Some(Processors { usable: 2.0, busy, all: 2.0, process, kernel_threads: None })
    };
    let left_of_size = |size: u32| if size <= 8192 { 0.6 } else { 1.0 };
    follow("small_sizes_computed", Disk { processors: small, left_of_size, ..DISK });
    let others = |_, _| {
        Some(Processors {
            usable: 2.0,
            busy: Some(0.99),
            all: 2.0,
            process: 0.1,
            kernel_threads: None,
        })
    };
    follow("other_programs", Disk { processors: others, ..DISK });
    follow("a_thread", Disk { busy: 0.97, curve: Some([40e-6, 2e-9]), ..DISK });
}

#[test]
fn what_is_remembered() {
    follow("remembered", Disk { cache_bytes: 300.0 * MIB, ..DISK });
    follow_with(
        "all_remembered",
        Disks::of(&[Disk { cache_bytes: 1e12, span_bytes: 1 << 30, ..DISK }]),
        quick,
    );
}

#[test]
fn bursts() {
    let watch = |pauses_ns: &[u64]| {
        let watch = BurstWatch { longest_ns: 80_000_000_000, pauses_ns: pauses_ns.to_vec() };
        move |search: &mut SearchDraft| search.burst = Some(watch)
    };
    let bursting = Disk { credits: 60_000.0, ..DISK };
    follow_with("burst", Disks::of(&[bursting]), watch(&[4_000_000_000, 8_000_000_000]));
    follow_with("burst_without_pauses", Disks::of(&[bursting]), watch(&[]));
    follow_with("burst_that_was_not_waited_for", Disks::of(&[bursting]), |_| ());
    follow_with("no_burst", Disks::of(&[DISK]), watch(&[4_000_000_000]));
}

#[test]
fn two_targets() {
    follow_with("apart", Disks::of(&[DISK, Disk { iops: 3000.0, ..DISK }]), |_| ());
    follow_with("shared", Disks { are_one: true, ..Disks::of(&[DISK, DISK]) }, quick);
}
