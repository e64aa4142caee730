//! What sets a cap: a limiter, the device, or this machine.

use crate::found::{CapKind, CpuBoundSizes, SizeFit, TargetCaps};
use crate::processors::Busy;
use crate::reason::{CapDoubt, CapReason, CapSign};
use crate::sizes::FITS;

/// A limiter whose rate does not repeat to the thousandth shows itself by its kink, if its interval
/// is no wider.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::{Fit, Plateau};

    /// Sizes from 4 KiB on, each four times as large, and how far both models are off.
    fn found(rates: &[f64], [kink_off, curve_off]: [f64; 2]) -> TargetCaps {
        let fit = |rms| Fit { iops: Some(1.0), bw_bytes: Some(1.0), rms };
        let size = |at: usize| 4096 << (2 * at);
        let sizes = SizeFit {
            points: rates.iter().enumerate().map(|(at, rate)| (size(at), *rate)).collect(),
            fitted: rates.len(),
            computed: Vec::new(),
            cpu_bound: CpuBoundSizes::default(),
            disturbed: Vec::new(),
            throttle: fit(kink_off),
            device: fit(curve_off),
        };
        let plateau = Plateau { is_plateau: true, ..Plateau::default() };
        TargetCaps { sizes: Some(sizes), plateau, ..TargetCaps::default() }
    }

    const CURVE: [f64; 4] = [1000.0, 900.0, 500.0, 200.0];
    const FLAT: [f64; 4] = [1000.0, 1001.0, 1000.0, 999.0];

    #[test]
    fn the_model_that_fits_twice_as_well_is_believed() {
        let sign = |kink_off, curve_off| behind(&found(&CURVE, [kink_off, curve_off])).1;
        assert_eq!(sign(0.01, 0.03), CapSign::Kink { off: 0.01, curve_off: 0.03 });
        assert_eq!(sign(0.03, 0.01), CapSign::Curve { off: 0.01, kink_off: 0.03 });
        for (kink_off, curve_off) in [(0.01, 0.015), (0.015, 0.01), (0.05, 0.2), (0.2, 0.05)] {
            assert_eq!(sign(kink_off, curve_off), CapSign::Neither { kink_off, curve_off });
        }
    }

    #[test]
    fn one_line_is_flat_or_falls_as_bytes_do() {
        let line = |rates: &[f64], fitted: usize| {
            let mut of = found(rates, [0.01, 0.2]);
            let sizes = of.sizes.as_mut().unwrap();
            sizes.fitted = fitted;
            one_line(sizes)
        };
        let is = |line: Option<CapSign>, bytes: bool, several: bool| {
            let Some(CapSign::OneLine { is_bytes, only, are_larger_several, .. }) = line else {
                panic!("{line:?}")
            };
            assert_eq!((is_bytes, only, are_larger_several), (bytes, None, several));
        };
        is(line(&FLAT, 4), false, false);
        is(line(&FLAT, 3), false, true);
        is(line(&[6400.0, 1600.0, 400.0, 100.0], 4), true, false);
        assert_eq!(line(&CURVE, 4), None);
        let mut computed = found(&FLAT, [0.01, 0.2]).sizes.unwrap();
        computed.cpu_bound.smallest = 1;
        let only = one_line(&computed);
        assert!(matches!(only, Some(CapSign::OneLine { only: Some([16384, 262_144]), .. })));
    }

    #[test]
    fn a_limiter_holds_its_rate_and_a_size_that_was_computed_is_this_machines() {
        let rate = |width, is_ceiling| Rate { block_bytes: 4096, is_ceiling, width };
        let kind = |of: &TargetCaps, rate: Rate| {
            let (kind, reason) = super::of(of, &rate, &Busy::default());
            (kind, reason.doubts.len())
        };
        let limited = found(&CURVE, [0.01, 0.03]);
        assert_eq!(kind(&limited, rate(0.5, true)), (CapKind::Throttle, 0));
        assert_eq!(kind(&limited, rate(0.04, false)), (CapKind::Throttle, 0));
        assert_eq!(kind(&limited, rate(0.05, false)), (CapKind::External, 1));
        assert_eq!(kind(&found(&FLAT, [0.01, 0.2]), rate(0.01, false)), (CapKind::External, 1));
        let mut computed = limited;
        computed.sizes.as_mut().unwrap().cpu_bound.smallest = 1;
        assert_eq!(kind(&computed, rate(0.01, true)), (CapKind::ThisMachine, 0));
        let other = Rate { block_bytes: 16384, ..rate(0.01, true) };
        assert_eq!(kind(&computed, other), (CapKind::Throttle, 0));
    }
}
