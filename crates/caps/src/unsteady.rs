//! Does the rate hold still at all? A cap of one that does not would be a figure that it never has for long.

use iotax_stats::ceiling::ceiling;
use iotax_stats::levels::{APART, TwoLevels, two_levels};
use iotax_stats::sample::median;

use crate::found::{Cap, CapKind, TargetCaps, Unsteady, UnsteadyLevel};
use crate::probe::Ended;
use crate::processors::Busy;
use crate::scout::{SMALL_BYTES, Scout, Shape, Window};
use crate::{plateau, soak};

/// No cap is stated whose interval spans more: its ends are twice apart.
pub(crate) const STATED: f64 = std::f64::consts::LN_2;
/// Windows in which an I/O more or less is more than this say nothing of a level.
const COARSE: f64 = 0.01;
/// Seconds for which an unsteady rate is watched, and the same with `--quick`.
const WATCH_S: f64 = 60.0;
const WATCH_QUICK_S: f64 = 30.0;
/// Depth from which on windows count, if it is not known where the plateau begins.
const DEEP: u32 = 16;
/// Windows that it takes to doubt a limiter.
const ENOUGH: usize = 8;
/// Windows that make it worth while to watch, if so many of them are so near to each other.
const SOME: usize = 3;
const MOSTLY: f64 = 0.5;
const ALIKE: f64 = 0.2;
/// So far above a cap, what passed was no moment of more.
const ABOVE: f64 = 0.02;

/// Watches the rate for a while if the measurements so far differ as those of an unsteady one do, and puts
/// what is seen in the place of caps.
pub(crate) fn look(
    scout: &mut Scout<'_>,
    target: usize,
    found: &mut TargetCaps,
) -> Result<(), Ended> {
    let shares = shares(scout.windows(target), found);
    let before = changed_before(&shares, found);
    let fell_back = scout.search().burst.is_none() && soak::has_burst(found);
    let rose_again = changes(&found.soak_iops).is_some() || changes(&shares).is_some();
    if rose_again || may_change(&shares, found) || fell_back || !found.unsteady.is_empty() {
        let (windows, beside) = watch(scout, target, found)?;
        // Or it changes more slowly than it was watched.
        let unsteady = changes(&windows).map(|levels| of_levels(&windows, levels)).or(before);
        if unsteady.is_none() && !found.unsteady.is_empty() && ceiling(&windows, COARSE).is_some() {
            // There is a level to come to, and the measurements were disturbed.
            plateau::caps(scout, target, found)?;
        }
        if let Some(unsteady) = unsteady {
            found.unsteady = vec![Unsteady { beside, ..unsteady }];
            (found.iops, found.bw_bytes) = (None, None);
            found.unreached.clear();
        }
    }
    doubt_limiters(found, &shares);
    Ok(())
}

/// Whether some windows of any load so far had less than the caps allow, and all nearly the same.
fn may_change(shares: &[f64], found: &TargetCaps) -> bool {
    let rate = expected(found, SMALL_BYTES).unwrap_or(f64::INFINITY);
    let soak = found.soak_iops.iter().map(|iops| iops / rate);
    let all = shares.iter().copied().chain(soak);
    let other: Vec<f64> = all.filter(|share| *share * APART < 1.0 || *share > APART).collect();
    let level = median(&other);
    let near = other.iter().filter(|share| (*share / level).ln().abs() <= ALIKE).count();
    other.len() >= SOME && near as f64 >= MOSTLY * other.len() as f64
}

/// What the load at the start has shown, or what all measurements have had of what the caps allow.
fn changed_before(shares: &[f64], found: &TargetCaps) -> Option<Unsteady> {
    if let Some(levels) = changes(&found.soak_iops).filter(|levels| levels.is_tight) {
        return Some(of_levels(&found.soak_iops, levels));
    }
    let levels = changes(shares).filter(|levels| levels.is_tight)?;
    let rate = expected(found, SMALL_BYTES).unwrap_or(1.0);
    let windows: Vec<f64> = shares.iter().map(|share| share * rate).collect();
    let (low, high) = (levels.low * rate, levels.high * rate);
    // Measurements have pauses between them, which are in no period.
    Some(of_levels(&windows, TwoLevels { low, high, period: None, ..levels }))
}

/// The rate second by second, and whether the load had to wait for CPUs meanwhile. Levels that do not hold
/// still may be chance, and are watched again.
fn watch(
    scout: &mut Scout<'_>,
    target: usize,
    found: &mut TargetCaps,
) -> Result<(Vec<f64>, Option<String>), Ended> {
    let watch_s = if scout.search().quick { WATCH_QUICK_S } else { WATCH_S };
    let shape = Shape {
        purpose: "does the rate hold still?",
        block_bytes: SMALL_BYTES,
        queue_depth: soak::DEPTH,
        expected_iops: found.ladder.last().map(|step| step.iops),
        ..Shape::default()
    };
    let (mut windows, mut seen) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let watched = scout.measure_for(target, shape, watch_s, found)?;
        windows.extend(soak::seconds(&watched.per_second_ios));
        seen.push(watched);
        if changes(&windows).is_none_or(|levels| levels.is_tight) {
            break;
        }
    }
    Ok((windows, Busy::of(&seen, 0.0).taken()))
}

/// Of a rate whose measurements scatter.
pub(crate) fn scattered(quantity: &str, windows: &[f64]) -> Unsteady {
    let mut sorted = windows.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let outside = sorted.len() / 40;
    Unsteady {
        quantity: quantity.to_owned(),
        lo: sorted.get(outside).copied().unwrap_or(0.0),
        hi: sorted.get(last - outside).copied().unwrap_or(0.0),
        windows: sorted.len(),
        levels: Vec::new(),
        period_s: None,
        beside: None,
    }
}

fn of_levels(windows: &[f64], levels: TwoLevels) -> Unsteady {
    let TwoLevels { low, high, low_share, period, .. } = levels;
    let level = |(per_s, share)| UnsteadyLevel { per_s, share };
    Unsteady {
        levels: [(low, low_share), (high, 1.0 - low_share)].map(level).to_vec(),
        period_s: period,
        ..scattered("iops", windows)
    }
}

/// The two levels of a series that comes back to the higher one: a burst that has run out does not.
fn changes(series: &[f64]) -> Option<TwoLevels> {
    two_levels(series).filter(|levels| levels.rises > 0)
}

/// I/Os per second that the caps allow of this size.
fn expected(found: &TargetCaps, block_bytes: u32) -> Option<f64> {
    let at_least = |quantity: &str| {
        let unreached = found.unreached.iter().find(|unreached| unreached.quantity == quantity);
        unreached.map(|unreached| unreached.at_least)
    };
    let iops = found.iops.as_ref().map(|cap| cap.cap).or_else(|| at_least("iops"));
    let bytes = found.bw_bytes.as_ref().map(|cap| cap.cap).or_else(|| at_least("bw_bytes"));
    let by_bytes = bytes.map(|bytes| bytes / f64::from(block_bytes));
    let largest = found.ladder.iter().map(|step| step.iops).reduce(f64::max);
    iops.into_iter().chain(by_bytes).reduce(f64::min).or(largest)
}

/// What each window of a load that saturates had of what the caps allow.
fn shares(windows: &[Window], found: &TargetCaps) -> Vec<f64> {
    let deep = found.useful_depth.unwrap_or(DEEP);
    let several = found.sizes.as_ref().and_then(|sizes| sizes.points.get(sizes.fitted));
    let several = several.map_or(u32::MAX, |(size, _)| *size);
    let tells = |window: &&Window| {
        window.grain <= COARSE && window.block_bytes < several && window.queue_depth >= deep
    };
    let share = |window: &Window| Some(window.iops / expected(found, window.block_bytes)?);
    windows.iter().filter(tells).filter_map(share).collect()
}

/// A limiter that other measurements went beyond, or did not come to, is none.
fn doubt_limiters(found: &mut TargetCaps, shares: &[f64]) {
    let has_burst = |cap: &Cap| cap.burst.is_some();
    if shares.len() < ENOUGH || [&found.iops, &found.bw_bytes].into_iter().flatten().any(has_burst)
    {
        return;
    }
    let holds = ceiling(shares, COARSE).is_some_and(|ceiling| (ceiling.level - 1.0).abs() <= ABOVE);
    if holds {
        return;
    }
    for cap in [&mut found.iops, &mut found.bw_bytes].into_iter().flatten() {
        if cap.kind == CapKind::Throttle {
            cap.kind = CapKind::External;
            cap.why.push_str(", but the other measurements of this search scatter around it");
        }
    }
}
