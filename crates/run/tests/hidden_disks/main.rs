//! The search for caps on disks whose parameters it is not told.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod disturbed;
mod model;
mod virtual_time;

use iotax_caps::{Cap, CapKind, Caps, Shared, search_caps};
use iotax_experiment::{
    Arm, BurstWatch, CloudChoice, Opened, OpenedTarget, Search, SearchDraft, SearchTarget, Target,
};
use iotax_layers::{Delay, Flash, Layer, Mem, Throttle, Tier};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use self::virtual_time::{Cpu, VirtualTime};

const SPAN_BYTES: u64 = 256 << 20;
/// Enough that nothing needs to be read twice.
const LARGE_SPAN_BYTES: u64 = 4 << 30;

fn mem() -> Layer {
    Layer::Mem(Mem { size_bytes: SPAN_BYTES })
}

fn throttle(iops: f64, bw_bytes: f64, group: Option<String>) -> Layer {
    let (iops, bw_bytes) = (Some(iops), Some(bw_bytes));
    Layer::Throttle(Throttle { iops, bw_bytes, group, ..Throttle::default() })
}

fn delay(micros: u64) -> Layer {
    let latency_ns = micros * 1000;
    Layer::Delay(Delay { latency_ns, jitter_ns: latency_ns / 5 })
}

fn search(stacks: &[Vec<Layer>], quick: bool, burst: Option<BurstWatch>) -> (Caps, f64) {
    search_in(SPAN_BYTES, stacks, quick, burst)
}

fn search_in(
    span_bytes: u64,
    stacks: &[Vec<Layer>],
    quick: bool,
    burst: Option<BurstWatch>,
) -> (Caps, f64) {
    search_with(None, span_bytes, stacks, quick, burst)
}

fn search_with(
    cpu: Option<Cpu>,
    span_bytes: u64,
    stacks: &[Vec<Layer>],
    quick: bool,
    burst: Option<BurstWatch>,
) -> (Caps, f64) {
    let search = search_of(stacks.len(), span_bytes, quick, burst);
    let mut virtual_time = VirtualTime::of(stacks);
    virtual_time.cpu = cpu;
    let caps = search_caps(&search, &opened(stacks.len()), &mut virtual_time);
    assert_eq!(caps.ended, None);
    (caps, virtual_time.spent_ns as f64 / 1e9)
}

fn search_of(targets: usize, span_bytes: u64, quick: bool, burst: Option<BurstWatch>) -> Search {
    draft_of(targets, span_bytes, quick, burst).resolve().unwrap()
}

fn draft_of(
    targets: usize,
    span_bytes: u64,
    quick: bool,
    burst: Option<BurstWatch>,
) -> SearchDraft {
    let target =
        |name: String| SearchTarget { arm: Arm::new(name, Target::Path("/".into())), span_bytes };
    SearchDraft {
        targets: (0..targets).map(|at| target(format!("disk {at}"))).collect(),
        writes: false,
        quick,
        max_time_ns: None,
        burst,
        cloud: CloudChoice::default(),
        fail_if: Vec::new(),
        undecided: None,
        seed: 7,
    }
}

fn opened(targets: usize) -> Opened {
    let target = OpenedTarget { smallest_io_bytes: Some(512), known: Vec::new() };
    Opened { targets: vec![target; targets], ..Opened::default() }
}

/// From `lo` to `hi`, as likely in each octave.
fn draw(random: &mut Xoshiro256PlusPlus, lo: f64, hi: f64) -> f64 {
    (random.random_range(lo.ln()..hi.ln())).exp()
}

fn off(found: f64, truth: f64) -> f64 {
    (found / truth - 1.0).abs()
}

#[test]
fn hidden_caps_are_found_within_two_percent() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2026);
    for case in 0..50 {
        let iops = draw(&mut random, 80.0, 1_000.0);
        let kink = draw(&mut random, 8.0, 400.0) * 1024.0;
        let latency_us = draw(&mut random, 500.0, 20_000.0) as u64;
        let bw = iops * kink;
        let stack = vec![mem(), delay(latency_us), throttle(iops, bw, None)];
        let (caps, seconds) = search(&[stack], case % 2 == 0, None);
        let found = &caps.targets[0];
        let case = format!(
            "case {case}: {iops:.0} IOPS, {:.1} MB/s, kink at {:.0} KiB, {latency_us} us, \
             {seconds:.0} s: {found:#?}",
            bw / 1e6,
            kink / 1024.0
        );
        let (found_iops, found_bw) =
            (found.iops.as_ref().unwrap(), found.bw_bytes.as_ref().unwrap());
        assert!(off(found_iops.cap, iops) < 0.02, "{case}");
        assert!(off(found_bw.cap, bw) < 0.02, "{case}");
        assert_eq!(found_iops.kind, CapKind::Throttle, "{case}");
        assert!(found.useful_depth.is_some(), "{case}");
    }
}

#[test]
fn a_cache_above_the_cap_is_seen_and_is_in_no_figure() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
    for case in 0..5 {
        let iops = draw(&mut random, 80.0, 300.0);
        let bw = iops * draw(&mut random, 8.0, 64.0) * 1024.0;
        let caps = throttle(iops, bw, None);
        let base = Layer::Mem(Mem { size_bytes: LARGE_SPAN_BYTES });
        let tier = Layer::Tier(Tier { size_bytes: LARGE_SPAN_BYTES });
        // Hits take some time, too, or virtual time would stand still.
        let stack = vec![base, caps, tier, delay(2_000)];
        let (caps, _) = search_in(LARGE_SPAN_BYTES, &[stack], true, None);
        let found = &caps.targets[0];
        let case = format!("case {case}: {iops:.0} IOPS, {:.1} MB/s: {found:#?}", bw / 1e6);
        let cap = |cap: &Option<Cap>| cap.as_ref().unwrap().cap;
        assert!(off(cap(&found.iops), iops) < 0.02, "{case}");
        assert!(off(cap(&found.bw_bytes), bw) < 0.02, "{case}");
        assert_eq!(found.iops.as_ref().unwrap().kind, CapKind::Throttle, "{case}");
        assert!(found.second_pass.as_ref().unwrap().hits, "{case}");
        assert!(found.passes < 1.0, "{case}");
    }
}

#[test]
fn hidden_bursts_are_found_within_fifteen_percent() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    for case in 0..20 {
        let iops = draw(&mut random, 60.0, 300.0);
        let burst_iops = iops * draw(&mut random, 1.6, 7.0);
        let full_s = draw(&mut random, 8.0, 90.0);
        let bw = iops * 64.0 * 1024.0;
        let burst_bw = bw * draw(&mut random, 1.6, 4.0);
        let stack = vec![
            mem(),
            delay(300),
            Layer::Throttle(Throttle {
                iops: Some(iops),
                burst_iops: Some(burst_iops),
                bw_bytes: Some(bw),
                burst_bw_bytes: Some(burst_bw),
                credits_ns: Some((full_s * 1e9) as u64),
                ..Throttle::default()
            }),
        ];
        let pauses_ns = vec![2_000_000_000, 4_000_000_000];
        let watch = BurstWatch { longest_ns: 300_000_000_000, pauses_ns };
        let (caps, seconds) = search(&[stack], true, Some(watch));
        let found = &caps.targets[0];
        let case = format!(
            "case {case}: {iops:.0} to {burst_iops:.0} IOPS, {:.1} to {:.1} MB/s, {full_s:.0} s; \
             {seconds:.0} s: {found:#?}",
            bw / 1e6,
            burst_bw / 1e6
        );
        for (cap, rate, peak) in
            [(found.iops.as_ref(), iops, burst_iops), (found.bw_bytes.as_ref(), bw, burst_bw)]
        {
            let cap = cap.unwrap();
            let burst = cap.burst.as_ref().unwrap_or_else(|| panic!("{case}"));
            assert!(off(cap.cap, rate) < 0.02, "{case}");
            assert!(off(burst.size, (peak - rate) * full_s) < 0.15, "{case}");
            assert!(off(burst.per_s, peak) < 0.05, "{case}");
            assert!(off(burst.refill_per_s.unwrap(), rate) < 0.15, "{case}");
        }
    }
}

#[test]
fn shared_separate_and_partly_shared_buckets_are_told_apart_in_50_of_50() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut right = 0;
    for case in 0..50 {
        let group = Some(format!("hidden-{case}"));
        let (a, b) = (draw(&mut random, 80.0, 800.0), draw(&mut random, 80.0, 800.0));
        let lower = a.min(b);
        let own = |iops: f64| throttle(iops, iops * 65_536.0, None);
        let common = |iops: f64| throttle(iops, iops * 65_536.0, group.clone());
        let (truth, stacks) = match case % 3 {
            0 => (
                Shared::Separate,
                [vec![mem(), delay(200), own(a)], vec![mem(), delay(200), own(b)]],
            ),
            1 => (
                Shared::Shared,
                [vec![mem(), delay(200), common(a)], vec![mem(), delay(200), common(a)]],
            ),
            _ => {
                let phi = random.random_range(0.3..0.7);
                let both = a + b - phi * lower;
                let stack = |iops| vec![mem(), delay(200), own(iops), common(both)];
                (Shared::Partial, [stack(a), stack(b)])
            }
        };
        let (caps, _) = search(&stacks, true, None);
        let found: Vec<Shared> = caps.sharing.iter().map(|sharing| sharing.verdict).collect();
        if found == [truth, truth] {
            right += 1;
        } else {
            println!("case {case}: {truth:?}, {a:.0} and {b:.0}: {:#?}", caps.sharing);
        }
    }
    assert_eq!(right, 50);
}

#[test]
fn a_throttle_and_a_saturated_device_are_told_apart_in_50_of_50() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut right = 0;
    for case in 0..50 {
        let latency_us = draw(&mut random, 2_000.0, 20_000.0) as u64;
        let (truth, stack) = if case % 2 == 0 {
            let iops = draw(&mut random, 80.0, 1_000.0);
            let bw = iops * draw(&mut random, 2.0, 2_000.0) * 1024.0;
            (CapKind::Throttle, vec![mem(), delay(latency_us), throttle(iops, bw, None)])
        } else {
            let flash = Flash {
                channels: draw(&mut random, 1.0, 9.0) as u32,
                latency_ns: latency_us * 1000,
                jitter_ns: latency_us * 200,
                bw_bytes: draw(&mut random, 5e6, 100e6),
            };
            (CapKind::SaturatedDevice, vec![mem(), Layer::Flash(flash)])
        };
        let (caps, _) = search(&[stack], true, None);
        let found = &caps.targets[0];
        let kinds = [&found.iops, &found.bw_bytes].map(|cap| cap.as_ref().map(|cap| cap.kind));
        if kinds.iter().flatten().count() > 0 && kinds.iter().flatten().all(|kind| *kind == truth) {
            right += 1;
        } else {
            println!("case {case}, {truth:?}: {found:#?}");
        }
    }
    assert_eq!(right, 50);
}

/// The CPU sets the rate of small I/Os, a limiter or a device that of larger ones.
#[test]
fn a_cap_is_named_although_the_cpu_binds_at_one_end_of_the_sizes() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
    for case in 0..20 {
        let cpu_iops = draw(&mut random, 300.0, 900.0);
        let cpu = Cpu { io_ns: 0.6e9 / cpu_iops, byte_ns: 0.4e9 / cpu_iops / 16_384.0 };
        // The limit on bytes binds from about 16 to 40 KiB on.
        let bw = cpu_iops * 16_384.0 * random.random_range(1.0..1.4);
        let limit = Layer::Throttle(Throttle { bw_bytes: Some(bw), ..Throttle::default() });
        let stack = vec![mem(), delay(2_000), limit];
        let (caps, _) = search_with(Some(cpu), SPAN_BYTES, &[stack], case % 2 == 0, None);
        let found = &caps.targets[0];
        let case = format!("case {case}: {cpu:?}, {:.1} MB/s: {found:#?}", bw / 1e6);
        let of_bytes = found.bw_bytes.as_ref().unwrap_or_else(|| panic!("{case}"));
        assert!(off(of_bytes.cap, bw) < 0.02, "{case}");
        assert_eq!(of_bytes.kind, CapKind::Throttle, "{case}");
        let of_ios = found.iops.as_ref().map(|cap| cap.kind);
        assert!(of_ios.is_none_or(|kind| kind == CapKind::ThisMachine), "{case}");
    }
}

#[test]
fn a_device_whose_small_ios_are_computed_is_no_throttle() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(19);
    for case in 0..20 {
        let latency_us = draw(&mut random, 2_000.0, 20_000.0) as u64;
        let channels = draw(&mut random, 1.0, 9.0) as u32;
        let flash = Flash {
            channels,
            latency_ns: latency_us * 1000,
            jitter_ns: latency_us * 200,
            bw_bytes: draw(&mut random, 5e6, 100e6),
        };
        // As many I/Os as nine tenths of what the device could do.
        let device_iops = f64::from(channels) * 1e6 / latency_us as f64;
        let cpu = Cpu { io_ns: 1e9 / (0.9 * device_iops), byte_ns: 0.0 };
        let stack = vec![mem(), Layer::Flash(flash)];
        let (caps, _) = search_with(Some(cpu), SPAN_BYTES, &[stack], case % 2 == 0, None);
        let found = &caps.targets[0];
        for cap in [&found.iops, &found.bw_bytes].into_iter().flatten() {
            assert_ne!(cap.kind, CapKind::Throttle, "case {case}: {cpu:?}, {found:#?}");
        }
    }
}
