//! What sets a cap: a limiter, the device, or this machine.

use crate::found::{CapKind, CpuBoundSizes, SizeFit, TargetCaps};
use crate::processors::Busy;
use crate::reason::{CapDoubt, CapReason, CapSign};
use crate::sizes::FITS;

/// A limiter whose rate does not repeat to the thousandth shows itself by its kink, if its interval is no
/// wider.
const NEARLY_STILL: f64 = 0.04;
/// A model must fit so many times better than the other to be believed.
const BETTER: f64 = 2.0;
/// Over all sizes throughput changes by less than this on a flat line, and bytes on a falling one.
const SLOPE: f64 = 0.05;

/// A rate that was measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub block_bytes: u32,
    /// Windows come to it again and again, and not beyond.
    pub is_ceiling: bool,
    /// The logarithm of the upper end of its interval over the lower one.
    pub width: f64,
}

/// What the measurements so far say of a cap that was measured with these CPUs busy.
pub(crate) fn of(found: &TargetCaps, rate: &Rate, busy: &Busy) -> (CapKind, CapReason) {
    let (mut kind, sign) = behind(found);
    let mut reason = CapReason::from(sign);
    if is_computed(found, rate.block_bytes) {
        (kind, reason) = (CapKind::ThisMachine, CapSign::SizesComputed.into());
    }
    let has_kink = found.sizes.as_ref().is_some_and(|sizes| one_line(sizes).is_none());
    let holds = rate.is_ceiling || has_kink && rate.width <= NEARLY_STILL;
    if kind == CapKind::Throttle && !holds {
        kind = CapKind::External;
        reason.doubts.push(CapDoubt::Spread(rate.width.exp_m1()));
    }
    // A limiter shows itself, however much is computed below it.
    let in_turn = || busy.works_in_turn().filter(|_| kind != CapKind::Throttle);
    if let Some(busy) = busy.is_limit().or_else(in_turn) {
        let mut reason = CapReason::from(CapSign::Busy(busy));
        if !found.plateau.is_plateau {
            reason.doubts.push(CapDoubt::SlopeLeft(found.plateau.throughput_slope));
        }
        return (CapKind::ThisMachine, reason);
    }
    let others = busy.others().filter(|_| !rate.is_ceiling);
    reason.doubts.extend(others.map(CapDoubt::Busy));
    (kind, reason)
}

/// Whether this machine set the rate of I/Os of this size: there it does not follow what holds the
/// others.
fn is_computed(found: &TargetCaps, block_bytes: u32) -> bool {
    let is_of = |points: &[(u32, f64)]| points.iter().any(|(size, _)| *size == block_bytes);
    let is_it = |of: &SizeFit| is_of(of.single_points()) && !is_of(of.fitted_points());
    found.sizes.as_ref().is_some_and(is_it)
}

/// What it is if it is not this machine.
fn behind(found: &TargetCaps) -> (CapKind, CapSign) {
    let Some(sizes) = &found.sizes else {
        return (CapKind::External, CapSign::SizesUnmeasured);
    };
    if !found.plateau.is_plateau {
        let slope = found.plateau.throughput_slope;
        return (CapKind::External, CapSign::NoPlateau { slope });
    }
    let (kink_off, curve_off) = (sizes.throttle.rms, sizes.device.rms);
    if let Some(line) = one_line(sizes) {
        (CapKind::Throttle, line)
    } else if kink_off <= FITS && kink_off * BETTER <= curve_off {
        (CapKind::Throttle, CapSign::Kink { off: kink_off, curve_off })
    } else if curve_off <= FITS && curve_off * BETTER <= kink_off {
        (CapKind::SaturatedDevice, CapSign::Curve { off: curve_off, kink_off })
    } else {
        (CapKind::External, CapSign::Neither { kink_off, curve_off })
    }
}

/// Only I/Os count, or only bytes.
fn one_line(sizes: &SizeFit) -> Option<CapSign> {
    let points = sizes.fitted_points();
    let (first, last) = (points.first()?, points.last()?);
    let span = (f64::from(last.0) / f64::from(first.0)).ln();
    let slope = (last.1 / first.1).ln() / span;
    let is_bytes = (slope + 1.0).abs() <= SLOPE;
    let is_line = sizes.throttle.rms <= FITS && (is_bytes || slope.abs() <= SLOPE);
    let are_some_computed = sizes.cpu_bound != CpuBoundSizes::default();
    is_line.then(|| CapSign::OneLine {
        is_bytes,
        slope,
        only: are_some_computed.then_some([first.0, last.0]),
        are_larger_several: sizes.fitted < sizes.points.len(),
    })
}
