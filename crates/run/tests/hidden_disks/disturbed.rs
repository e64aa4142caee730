//! Searches that something disturbs, and disks that do not hold still.

use iotax_caps::{
    BusySign, Cap, CapDoubt, CapKind, CapNote, Caps, Ended, Observation, Obstacle, Prober, Shared,
    TargetCaps, search_caps,
};
use iotax_experiment::{Probe, SearchDraft};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::{Asked, Disturbed, Model, Rate};
use super::{draft_of, draw, off, opened, search_of};

const SMALLEST_BYTES: f64 = 512.0;
const LARGEST_BYTES: f64 = 1_048_576.0;
/// So near to the smallest or largest block, the other cap may bind first.
const NEAR: f64 = 1.06;

fn searched(targets: usize, quick: bool, mut model: Model) -> Caps {
    let caps =
        search_caps(&search_of(targets, 64 << 30, quick, None), &opened(targets), &mut model);
    assert_eq!(caps.ended, None);
    caps
}

fn throttled(iops: f64, bw: f64, latency_s: f64) -> Rate {
    Box::new(move |asked: Asked| {
        (asked.queue_depth / latency_s).min(iops).min(bw / asked.block_bytes)
    })
}

/// A cap is right, or reported as out of reach where it is.
fn is_right(found: &TargetCaps, quantity: &str, truth: f64, is_in_reach: Option<bool>) -> bool {
    let cap = if quantity == "iops" { &found.iops } else { &found.bw_bytes };
    let unreached = found.unreached.iter().find(|cap| cap.quantity == quantity);
    match (cap, unreached) {
        (Some(cap), None) => {
            let holds = cap.lo <= truth * 1.01 && cap.hi >= truth * 0.99;
            is_in_reach != Some(false)
                && off(cap.cap, truth) < 0.02
                && holds
                && cap.kind == CapKind::Throttle
        }
        (None, Some(cap)) => {
            is_in_reach != Some(true)
                && cap.at_least < truth * 1.02
                && matches!(cap.obstacle, Obstacle::OtherCap(_))
        }
        _ => false,
    }
}

/// Whether it surely is within reach, surely is not, or neither.
fn reach(ratio: f64) -> Option<bool> {
    if ratio > NEAR {
        Some(true)
    } else if ratio < 1.0 / NEAR {
        Some(false)
    } else {
        None
    }
}

#[test]
fn both_caps_are_right_or_out_of_reach_whatever_disturbs_the_load() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(41);
    let mut wrong = Vec::new();
    for case in 0..300 {
        let iops = draw(&mut random, 2_000.0, 50_000.0);
        let kink = draw(&mut random, 250.0, 3e6);
        let bw = iops * kink;
        let latency_s = draw(&mut random, 50e-6, 2e-3).min(16.0 / iops);
        let disturbed = Disturbed {
            windows: [0.0, 0.15, 0.3][case % 3],
            probes: [0.0, 0.1, 0.2][case / 3 % 3],
            cpu_wait: None,
        };
        let model = Model::of(case as u64, disturbed, throttled(iops, bw, latency_s));
        let caps = searched(1, case % 2 == 0, model);
        let found = &caps.targets[0];
        let is_fine = is_right(found, "iops", iops, reach(kink / SMALLEST_BYTES))
            && is_right(found, "bw_bytes", bw, reach(LARGEST_BYTES / kink))
            && found.unsteady.is_empty()
            && found.second_pass.as_ref().is_none_or(|pass| !pass.hits);
        if !is_fine {
            wrong.push(format!(
                "case {case}: {iops:.0} IOPS, {:.2} MB/s, kink {kink:.0} B, {disturbed:?}: {:?} {:?} {:?} {:?} {:?} {:?}",
                bw / 1e6, found.iops, found.bw_bytes, found.unreached, found.unsteady, found.second_pass,
                found.plateau
            ));
        }
    }
    println!("{}", wrong.join("\n"));
    assert!(wrong.len() <= 6, "{} of 300", wrong.len());
}

/// A rate that is switched between two levels, by a clock of its own.
fn switched(levels: [f64; 2], period_s: f64, low_share: f64, bw: f64) -> Rate {
    Box::new(move |asked: Asked| {
        let is_low = (asked.at_s + 1.3).rem_euclid(period_s) < low_share * period_s;
        let iops = levels[usize::from(!is_low)];
        (asked.queue_depth / 1e-3).min(iops).min(bw / asked.block_bytes)
    })
}

#[test]
fn a_disk_that_is_switched_between_two_levels_is_unsteady_and_has_neither_cap_nor_cache() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(43);
    let mut wrong = Vec::new();
    for case in 0..200 {
        let low = draw(&mut random, 400.0, 4_000.0);
        let high = low * draw(&mut random, 1.6, 5.0);
        let period_s = draw(&mut random, 6.0, 40.0);
        let low_share = random.random_range(0.35..0.65);
        let noise = [0.0, 0.02][case % 2];
        let mut clean = switched([low, high], period_s, low_share, 1e12);
        let mut random_noise = Xoshiro256PlusPlus::seed_from_u64(case as u64);
        let rate: Rate = Box::new(move |asked| {
            clean(asked) * (1.0 + noise * random_noise.random_range(-1.0..1.0))
        });
        let model = Model::of(case as u64, Disturbed::default(), rate);
        let caps = searched(1, case % 3 != 0, model);
        let found = &caps.targets[0];
        let near = |found: f64, truth: f64| off(found, truth) < 0.05;
        let has_levels = found.unsteady.iter().any(|unsteady| {
            let [one, other] = unsteady.levels.as_slice() else { return false };
            near(one.per_s, low) && near(other.per_s, high) && unsteady.hi / unsteady.lo > 1.5
        });
        let is_fine = has_levels
            && found.iops.is_none()
            && found.bw_bytes.is_none()
            && !found.fell_during_search
            && found.second_pass.as_ref().is_none_or(|pass| !pass.hits);
        if !is_fine {
            wrong.push(format!(
                "case {case}: {low:.0} and {high:.0} IOPS, {period_s:.1} s, {low_share:.2}: {:?} {:?} {:?} {:?} {}",
                found.iops, found.bw_bytes, found.unsteady, found.second_pass, found.fell_during_search
            ));
        }
    }
    println!("{}", wrong.join("\n"));
    assert!(wrong.len() <= 8, "{} of 200", wrong.len());
}

/// With 30 s to measure, a search says less, nothing else, and takes at most as long as it needs for
/// a look at each depth and size.
#[test]
fn a_search_that_has_little_time_states_no_cap_that_it_would_not_state_with_more() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(53);
    let (mut wrong, mut hurried) = (Vec::new(), 0);
    for case in 0..200 {
        let low = draw(&mut random, 2_000.0, 20_000.0);
        let is_switched = case % 2 == 0;
        let high = if is_switched { low * draw(&mut random, 1.6, 5.0) } else { low };
        let kink = draw(&mut random, 8.0 * 1024.0, 512.0 * 1024.0);
        let period_s = draw(&mut random, 6.0, 40.0);
        let bw = if is_switched { 1e12 } else { low * kink };
        let disturbed = Disturbed { windows: [0.0, 0.15, 0.3][case % 3], ..Disturbed::default() };
        let model = Model::of(case as u64, disturbed, switched([low, high], period_s, 0.5, bw));
        let mut model = Timed { model, spent_ns: 0 };
        let search =
            SearchDraft { max_time_ns: Some(30_000_000_000), ..draft_of(1, 64 << 30, true, None) };
        let caps = search_caps(&search.resolve().unwrap(), &opened(1), &mut model);
        let found = &caps.targets[0];
        hurried += u32::from(caps.notes.contains(&CapNote::TimeLimit));
        let states = |cap: &Option<Cap>, truth: f64| {
            let Some(cap) = cap else { return true };
            let holds = cap.lo <= truth * 1.01 && cap.hi >= truth * 0.99;
            let is_doubted = cap.reason.doubts.contains(&CapDoubt::Scatters);
            holds || is_switched && is_doubted && cap.kind != CapKind::Throttle
        };
        let is_fine = states(&found.iops, high)
            && states(&found.bw_bytes, bw)
            && (is_switched || found.unsteady.is_empty())
            && model.spent_ns < 45_000_000_000;
        if !is_fine {
            wrong.push(format!(
                "case {case}: {low:.0} and {high:.0} IOPS, {period_s:.1} s, {:.1} s: {found:?}",
                model.spent_ns as f64 / 1e9
            ));
        }
    }
    println!("{}", wrong.join("\n"));
    assert!(wrong.len() <= 6 && hurried > 20, "{} of 200, {hurried} in a hurry", wrong.len());
}

/// Adds up the time of all probes.
struct Timed {
    model: Model,
    spent_ns: u64,
}

impl Prober for Timed {
    fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended> {
        self.spent_ns += probe.ramp_ns + probe.time_ns;
        self.model.probe(probe)
    }

    fn pause(&mut self, pause_ns: u64) -> Result<(), Ended> {
        self.model.pause(pause_ns)
    }
}

/// Without a limiter nothing may be called one: rates that scatter, over sizes flat or a device's
/// curve.
#[test]
fn noise_without_a_limiter_is_no_throttle() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(47);
    let mut wrong = Vec::new();
    for case in 0..300 {
        let iops = draw(&mut random, 2_000.0, 50_000.0);
        let sd = draw(&mut random, 0.02, 0.15);
        let bw = iops * [1e12, 64e3, 8e3][case % 3];
        let mut noise = Xoshiro256PlusPlus::seed_from_u64(case as u64);
        // As long as a quarter of a second, and half as much from one to the next.
        let (mut level, mut until_s) = (0.0, 0.0);
        let rate: Rate = Box::new(move |asked: Asked| {
            if asked.at_s >= until_s {
                let gauss: f64 = (0..12).map(|_| noise.random_range(-0.5..0.5)).sum();
                level = 0.5 * level + 0.75_f64.sqrt() * gauss;
                until_s = asked.at_s + 0.25;
            }
            let device = 1.0 / (1.0 / iops + asked.block_bytes / bw);
            (asked.queue_depth / 1e-4).min(device) * (2.0 * sd * level).exp()
        });
        let caps = searched(1, case % 2 == 0, Model::of(case as u64, Disturbed::default(), rate));
        let found = &caps.targets[0];
        let caps = [&found.iops, &found.bw_bytes].into_iter().flatten();
        let is_cache = found.second_pass.as_ref().is_some_and(|pass| pass.hits);
        if caps.into_iter().any(|cap| cap.kind == CapKind::Throttle)
            || is_cache
            || found.unsteady.iter().any(|unsteady| !unsteady.levels.is_empty())
        {
            wrong.push(format!(
                "case {case}: {iops:.0} IOPS, sd {sd:.3}: {:?} {:?} {:?} {:?}",
                found.iops, found.bw_bytes, found.unsteady, found.second_pass
            ));
        }
    }
    println!("{}", wrong.join("\n"));
    assert!(wrong.len() <= 6, "{} of 300", wrong.len());
}

#[test]
fn a_load_that_gets_no_cpu_says_so_and_names_no_cap() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(53);
    for case in 0..60 {
        let iops = draw(&mut random, 2_000.0, 50_000.0);
        let bw = iops * draw(&mut random, 2_000.0, 200_000.0);
        let disturbed = Disturbed { windows: 1.0, probes: 0.0, cpu_wait: Some(0.5) };
        let model = Model::of(case, disturbed, throttled(iops, bw, 1e-4));
        let caps = searched(1, case % 2 == 0, model);
        let found = &caps.targets[0];
        let case = format!("case {case}: {iops:.0} IOPS, {:.2} MB/s: {found:#?}", bw / 1e6);
        let caps = [(&found.iops, iops), (&found.bw_bytes, bw)];
        for (cap, truth) in caps.into_iter().filter_map(|(cap, truth)| Some((cap.as_ref()?, truth)))
        {
            assert!(off(cap.cap, truth) < 0.02, "{case}");
        }
        let is_told = |cap: &iotax_caps::Unreached| {
            let Obstacle::ThisMachine(BusySign::Waited { share }) = cap.obstacle else {
                return false;
            };
            (share - 0.5).abs() < 0.005
        };
        assert!(found.unreached.iter().any(is_told), "{case}");
        for cap in &found.unreached {
            let truth = if cap.quantity == "iops" { iops } else { bw };
            assert!(cap.at_least < 1.02 * truth, "{case}");
        }
    }
}

/// Two disks, of which one is switched: nothing is said about a bucket of both.
#[test]
fn an_unsteady_disk_is_not_said_to_share_a_bucket() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(59);
    for case in 0..30 {
        let low = draw(&mut random, 400.0, 2_000.0);
        let period_s = draw(&mut random, 6.0, 20.0);
        let mut one = switched([low, 3.0 * low], period_s, 0.5, 1e12);
        let mut other = throttled(1.5 * low, 1e12, 1e-3);
        let rate: Rate =
            Box::new(move |asked| if asked.target == 0 { one(asked) } else { other(asked) });
        let caps = searched(2, true, Model::of(case, Disturbed::default(), rate));
        assert!(caps.targets[0].iops.is_none(), "case {case}: {:#?}", caps.targets[0]);
        let steady = caps.targets[1].iops.as_ref().unwrap();
        assert!(off(steady.cap, 1.5 * low) < 0.02, "case {case}: {steady:?}");
        assert!(caps.sharing.is_empty(), "case {case}: {:?}", caps.sharing);
        let is_told = |note: &CapNote| matches!(note, CapNote::SharingUntested { unsteady, .. } if unsteady == "disk 0");
        assert!(caps.notes.iter().any(is_told), "case {case}: {:?}", caps.notes);
    }
}

/// Disks that do not share a bucket, in noise: with a limit, pairs get fewer blocks, and no wrong
/// verdict.
#[test]
fn tests_for_a_shared_bucket_end_at_the_time_limit() {
    let mut blocks = [0, 0];
    for case in 0..30 {
        for (limited, max_time_ns) in [None, Some(20_000_000_000)].into_iter().enumerate() {
            let disturbed = Disturbed { windows: 0.3, ..Disturbed::default() };
            let mut model = Model::of(case, disturbed, throttled(2_000.0, 1e12, 1e-3));
            let search = SearchDraft { max_time_ns, ..draft_of(2, 64 << 30, false, None) };
            let caps = search_caps(&search.resolve().unwrap(), &opened(2), &mut model);
            for pair in &caps.sharing {
                let is_right = [Shared::Separate, Shared::Undecided].contains(&pair.verdict);
                assert!(is_right, "case {case}: {pair:?}");
                blocks[limited] += pair.blocks;
            }
        }
    }
    let [full, limited] = blocks;
    assert!(limited > 0 && 3 * limited < 2 * full, "{limited} and {full} blocks");
}
