//! What sets a cap: a limiter, the device, or this machine.

use std::fmt::Write as _;

use iotax_quantity::bytes;

use crate::found::{CapKind, CpuBoundSizes, SizeFit, TargetCaps};
use crate::processors::Busy;
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
pub(crate) fn of(found: &TargetCaps, rate: &Rate, busy: &Busy) -> (CapKind, String) {
    let (mut kind, mut why) = behind(found);
    if let Some(computed) = computed(found, rate.block_bytes) {
        (kind, why) = (CapKind::ThisMachine, computed);
    }
    let has_kink = found.sizes.as_ref().is_some_and(|sizes| one_line(sizes).is_none());
    let holds = rate.is_ceiling || has_kink && rate.width <= NEARLY_STILL;
    if kind == CapKind::Throttle && !holds {
        kind = CapKind::External;
        let spread = iotax_quantity::percent(rate.width.exp_m1());
        let _ = write!(
            why,
            ", but a limiter holds its rate, and the interval of this one spans {spread}"
        );
    }
    // A limiter shows itself, however much is computed below it.
    let in_turn = || busy.works_in_turn().filter(|_| kind != CapKind::Throttle);
    if let Some(mut why) = busy.is_limit().or_else(in_turn) {
        if !found.evidence.is_plateau {
            let slope = found.evidence.throughput_slope;
            let _ = write!(why, "; throughput still changes with depth (slope {slope:.2})");
        }
        return (CapKind::ThisMachine, why);
    }
    if let Some(others) = busy.others().filter(|_| !rate.is_ceiling) {
        let _ = write!(why, "; {others}");
    }
    (kind, why)
}

/// Why this machine set the rate of I/Os of this size: there it does not follow what holds the
/// others.
fn computed(found: &TargetCaps, block_bytes: u32) -> Option<String> {
    let sizes = found.sizes.as_ref()?;
    let is_of = |points: &[(u32, f64)]| points.iter().any(|(size, _)| *size == block_bytes);
    (is_of(sizes.single_points()) && !is_of(sizes.fitted_points())).then(|| {
        "this machine's CPUs were busy with I/Os of this size, and others are held by something else"
            .to_owned()
    })
}

/// What it is if it is not this machine.
fn behind(found: &TargetCaps) -> (CapKind, String) {
    let Some(sizes) = &found.sizes else {
        return (CapKind::External, "throughput over block size was not measured".to_owned());
    };
    if !found.evidence.is_plateau {
        let slope = found.evidence.throughput_slope;
        return (
            CapKind::External,
            format!(
                "no plateau: throughput still changes with depth (slope {slope:.2}), so this is \
                 what was reached and no cap"
            ),
        );
    }
    by_sizes(sizes)
}

fn by_sizes(sizes: &SizeFit) -> (CapKind, String) {
    let (throttle, device) = (sizes.throttle, sizes.device);
    let percent = |rms: f64| format!("{:.1} %", rms * 100.0);
    if let Some(what) = one_line(sizes) {
        return (CapKind::Throttle, what);
    }
    if throttle.rms <= FITS && throttle.rms * BETTER <= device.rms {
        let why = format!(
            "over block size throughput has a kink, a cap on I/Os and one on bytes: off by {}, a \
             device's curve by {}",
            percent(throttle.rms),
            percent(device.rms)
        );
        return (CapKind::Throttle, why);
    }
    if device.rms <= FITS && device.rms * BETTER <= throttle.rms {
        let why = format!(
            "over block size throughput follows a time per I/O plus a time per byte: off by {}, a \
             limiter's kink by {}",
            percent(device.rms),
            percent(throttle.rms)
        );
        return (CapKind::SaturatedDevice, why);
    }
    let why = format!(
        "a limiter's kink is off by {}, a device's curve by {}: neither is clearly right",
        percent(throttle.rms),
        percent(device.rms)
    );
    (CapKind::External, why)
}

/// Only I/Os count, or only bytes.
fn one_line(sizes: &SizeFit) -> Option<String> {
    let points = sizes.fitted_points();
    let (first, last) = (points.first()?, points.last()?);
    let span = (f64::from(last.0) / f64::from(first.0)).ln();
    let slope = (last.1 / first.1).ln() / span;
    if sizes.throttle.rms > FITS {
        return None;
    }
    let what = match slope {
        s if s.abs() <= SLOPE => "I/Os per second do not depend on the block size",
        s if (s + 1.0).abs() <= SLOPE => "bytes per second do not depend on the block size",
        _ => return None,
    };
    let several = if sizes.fitted < sizes.points.len() {
        "; larger ones seem to be counted as several"
    } else {
        ""
    };
    let computed = if sizes.cpu_bound == CpuBoundSizes::default() {
        String::new()
    } else {
        let (from, to) = (bytes(f64::from(first.0)), bytes(f64::from(last.0)));
        format!(" from {from} to {to}; with others this machine's CPUs were busy")
    };
    Some(format!("{what} (slope {slope:.2}){computed}{several}"))
}
