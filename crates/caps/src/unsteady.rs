//! Does the rate hold still at all? A cap of one that does not would be a figure that it never has
//! for long.

use iotax_experiment::Purpose;
use iotax_stats::ceiling::ceiling;
use iotax_stats::levels::{TwoLevels, has_another};
use iotax_stats::sample::mean;

use crate::found::{Cap, CapKind, SizeFit, TargetCaps};
use crate::probe::Ended;
use crate::processors::{Busy, TAKEN};
use crate::reason::{BusySign, CapDoubt};
use crate::scout::{SMALL_BYTES, Shape, TargetSearch, Window};
use crate::sizes::FITS;
use crate::unstated::{Unsteady, changes};
use crate::{plateau, soak};

/// Windows in which an I/O more or less is more than this say nothing of a level.
const COARSE: f64 = 0.01;
/// Seconds for which an unsteady rate is watched, and the same with `--quick`.
const WATCH_S: f64 = 60.0;
const WATCH_QUICK_S: f64 = 30.0;
/// Depth from which on windows count, if it is not known where the plateau begins.
const DEEP: u32 = 16;
/// Windows that it takes to doubt a limiter.
const ENOUGH: usize = 8;
/// A rate this far above a cap was not a short peak.
const ABOVE: f64 = 0.02;

/// Watches the rate for a while if the measurements so far differ as those of an unsteady one do,
/// and replaces the caps by the result.
pub(crate) fn look(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    let (shares, waited) = shares(&on.scout.windows[on.target], on.found);
    let before = changed_before(&shares, on.found);
    let fell_back = on.scout.search.burst.is_none() && soak::has_burst(on.found);
    let rose_again = changes(&on.found.soak_iops).is_some() || changes(&shares).is_some();
    if rose_again || may_change(&shares, on.found) || fell_back || !on.found.unsteady.is_empty() {
        let (windows, beside) = watch(on)?;
        if windows.is_empty() {
            doubt_all(on.found);
        }
        // Or it changes more slowly than it was watched.
        let unsteady =
            changes(&windows).map(|levels| Unsteady::between("iops", &windows, levels)).or(before);
        if unsteady.is_none()
            && !on.found.unsteady.is_empty()
            && ceiling(&windows, COARSE).is_some()
        {
            // There is a level to come to, and the measurements were disturbed.
            plateau::caps(on)?;
        }
        if let Some(unsteady) = unsteady {
            on.found.unsteady = vec![Unsteady { beside, ..unsteady }];
            (on.found.iops, on.found.bw_bytes) = (None, None);
            on.found.unreached.clear();
        }
    }
    // A load that had to wait for a CPU scatters on its own.
    if waited < TAKEN {
        doubt_limiters(on.found, &shares);
    }
    Ok(())
}

/// Whether some windows of any load so far had less than the caps allow, and all nearly the same.
fn may_change(shares: &[f64], found: &TargetCaps) -> bool {
    let rate = expected(found, SMALL_BYTES).unwrap_or(f64::INFINITY);
    let soak = found.soak_iops.iter().map(|iops| iops / rate);
    let all: Vec<f64> = shares.iter().copied().chain(soak).collect();
    has_another(&all, 1.0)
}

/// What the load at the start has shown, or what all measurements have had of what the caps allow.
fn changed_before(shares: &[f64], found: &TargetCaps) -> Option<Unsteady> {
    if let Some(levels) = changes(&found.soak_iops).filter(|levels| levels.is_tight) {
        return Some(Unsteady::between("iops", &found.soak_iops, levels));
    }
    let levels = changes(shares).filter(|levels| levels.is_tight)?;
    let rate = expected(found, SMALL_BYTES).unwrap_or(1.0);
    let windows: Vec<f64> = shares.iter().map(|share| share * rate).collect();
    let (low, high) = (levels.low * rate, levels.high * rate);
    // Measurements have pauses between them, which are in no period.
    Some(Unsteady::between("iops", &windows, TwoLevels { low, high, period: None, ..levels }))
}

/// The rate second by second, and whether the load had to wait for CPUs meanwhile. Levels that do
/// not hold still may be chance, and are watched again.
fn watch(on: &mut TargetSearch<'_, '_>) -> Result<(Vec<f64>, Option<BusySign>), Ended> {
    let watch_s = if on.scout.search.quick { WATCH_QUICK_S } else { WATCH_S };
    // Less would miss slow changes.
    if (on.scout.left_ns() as f64) < watch_s * 1e9 {
        on.scout.left_out = true;
        return Ok((Vec::new(), None));
    }
    let shape = Shape {
        purpose: Purpose::Steadiness,
        block_bytes: SMALL_BYTES,
        queue_depth: soak::DEPTH,
        expected_iops: on.found.ladder.last().map(|step| step.iops),
        ..Shape::default()
    };
    let (mut windows, mut seen) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let watched = on.measure_for(shape, watch_s)?;
        windows.extend(soak::seconds(&watched.per_second_ios));
        seen.push(watched);
        if changes(&windows).is_none_or(|levels| levels.is_tight) || !on.scout.may_refine() {
            break;
        }
    }
    Ok((windows, Busy::of(&seen, 0.0).taken()))
}

/// I/Os per second that the caps allow of this size, or a device's curve if that is what fits.
fn expected(found: &TargetCaps, block_bytes: u32) -> Option<f64> {
    if let Some(SizeFit { throttle, device, .. }) = &found.sizes
        && device.rms <= FITS
        && device.rms < throttle.rms
    {
        let per_io = device.iops.map_or(0.0, f64::recip);
        let per_byte = device.bw_bytes.map_or(0.0, f64::recip);
        return Some(1.0 / (per_io + per_byte * f64::from(block_bytes)));
    }
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

/// What each window of a load that saturates had of what the caps allow, and the share of its time
/// that the load waited for a CPU.
fn shares(windows: &[Window], found: &TargetCaps) -> (Vec<f64>, f64) {
    let deep = found.useful_depth.unwrap_or(DEEP);
    // Of sizes that are computed, or counted as several, the caps say nothing.
    let fitted = found.sizes.as_ref().map_or(&[][..], |sizes| sizes.fitted_points());
    let is_fitted = |bytes: u32| fitted.iter().any(|(size, _)| *size == bytes);
    let tells = |window: &&Window| {
        window.grain <= COARSE && window.queue_depth >= deep && is_fitted(window.block_bytes)
    };
    let waits: Vec<f64> = windows.iter().filter(tells).map(|window| window.cpu_wait).collect();
    let share = |window: &Window| Some(window.iops / expected(found, window.block_bytes)?);
    (windows.iter().filter(tells).filter_map(share).collect(), mean(&waits))
}

/// A limiter that other measurements went beyond, or did not come to, is none.
fn doubt_limiters(found: &mut TargetCaps, shares: &[f64]) {
    let has_burst = |cap: &Cap| cap.burst.is_some();
    if shares.len() < ENOUGH || [&found.iops, &found.bw_bytes].into_iter().flatten().any(has_burst)
    {
        return;
    }
    let holds = ceiling(shares, COARSE).is_some_and(|ceiling| (ceiling.level - 1.0).abs() <= ABOVE);
    if !holds {
        doubt_all(found);
    }
}

fn doubt_all(found: &mut TargetCaps) {
    for cap in [&mut found.iops, &mut found.bw_bytes].into_iter().flatten() {
        if cap.kind == CapKind::Throttle {
            cap.kind = CapKind::External;
            cap.reason.doubts.push(CapDoubt::Scatters);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::Fit;
    use crate::reason::{CapReason, CapSign};
    use crate::unstated::{BlockEnd, Obstacle, Unreached};

    fn cap(per_s: f64) -> Cap {
        Cap {
            cap: per_s,
            lo: per_s,
            hi: per_s,
            measurements: 3,
            block_bytes: 4096,
            queue_depth: 64,
            kind: CapKind::Throttle,
            reason: CapReason::from(CapSign::SizesUnmeasured),
            burst: None,
        }
    }

    fn sizes(throttle_rms: f64, device_rms: f64) -> SizeFit {
        let fit = |rms| Fit { iops: Some(1000.0), bw_bytes: Some(8192.0 * 250.0), rms };
        SizeFit {
            points: Vec::new(),
            fitted: 0,
            computed: Vec::new(),
            cpu_bound: crate::CpuBoundSizes::default(),
            disturbed: Vec::new(),
            throttle: fit(throttle_rms),
            device: fit(device_rms),
        }
    }

    #[test]
    fn what_is_expected_follows_the_caps_or_the_curve_that_fits() {
        let (iops, bw_bytes) = (Some(cap(1000.0)), Some(cap(8192.0 * 500.0)));
        let limited = TargetCaps { iops, bw_bytes, ..TargetCaps::default() };
        assert_eq!(expected(&limited, 4096), Some(1000.0));
        assert_eq!(expected(&limited, 8192), Some(500.0));
        // 1 ms for an I/O and 4 for its bytes.
        let device = TargetCaps { sizes: Some(sizes(0.1, 0.01)), ..limited.clone() };
        assert!((expected(&device, 8192).unwrap() - 200.0).abs() < 1e-9);
        for (throttle, device) in [(0.01, 0.02), (0.1, 0.05)] {
            let found = TargetCaps { sizes: Some(sizes(throttle, device)), ..limited.clone() };
            assert_eq!(expected(&found, 8192), Some(500.0));
        }
        let unreached = |quantity: &str, at_least| Unreached {
            quantity: quantity.to_owned(),
            at_least,
            block_bytes: 4096,
            obstacle: Obstacle::OtherCap(BlockEnd::Small),
        };
        let least = TargetCaps {
            unreached: vec![unreached("bw_bytes", 8192.0 * 300.0), unreached("iops", 700.0)],
            ..TargetCaps::default()
        };
        assert_eq!([expected(&least, 4096), expected(&least, 8192)], [Some(600.0), Some(300.0)]);
        assert_eq!(expected(&TargetCaps::default(), 4096), None);
    }

    #[test]
    fn levels_of_all_measurements_are_told_at_the_rate_of_the_caps() {
        let shares: Vec<f64> = (0..24).map(|at| if at / 4 % 2 == 0 { 0.4 } else { 1.0 }).collect();
        let found = TargetCaps { iops: Some(cap(1000.0)), ..TargetCaps::default() };
        let before = changed_before(&shares, &found).unwrap();
        let levels: Vec<f64> = before.levels.iter().map(|level| level.per_s.round()).collect();
        assert_eq!((levels, before.period_s), (vec![400.0, 1000.0], None));
        assert_eq!((before.lo, before.hi), (400.0, 1000.0));
        let soaked = TargetCaps { soak_iops: shares, ..found.clone() };
        assert_eq!(changed_before(&[], &soaked).unwrap().period_s, Some(8.0));
        assert_eq!(changed_before(&[1.0; 24], &found), None);
    }

    #[test]
    fn enough_windows_off_a_limiter_make_it_none() {
        let kind = |shares: &[f64], found: TargetCaps| {
            let mut found = found;
            doubt_limiters(&mut found, shares);
            found.iops.unwrap().kind
        };
        let found = TargetCaps { iops: Some(cap(1000.0)), ..TargetCaps::default() };
        let scattered = [0.5, 0.9, 1.1, 0.7, 1.3, 0.6, 0.8, 1.2];
        let (throttle, external) = (CapKind::Throttle, CapKind::External);
        assert_eq!(kind(&scattered, found.clone()), external);
        assert_eq!(kind(&scattered[..7], found.clone()), throttle);
        assert_eq!(kind(&[1.0; 8], found.clone()), throttle);
        assert_eq!(kind(&[1.03; 8], found.clone()), external);
        assert_eq!(kind(&[0.97; 8], found), external);
    }
}
