//! The caps, measured again in random order until their intervals are narrow.

use iotax_stats::design::Design;
use iotax_stats::rci::{CriticalValues, Interval};

use crate::found::{Burst, Cap, CapKind, TargetCaps};
use crate::kind;
use crate::probe::{Ended, Observation};
use crate::processors::Busy;
use crate::scout::{SMALL_BYTES, Scout, Shape};
use crate::{sizes, soak};

/// Half-width at which an interval is narrow enough, as a share of the cap.
const NARROW: f64 = 0.01;
/// Measurements at most.
const MOST: usize = 10;
/// Error rate of the intervals.
const ALPHA: f64 = 0.05;
/// Beyond the kink by this factor only bytes count, and below it only I/Os.
const CLEAR: f64 = 1.5;
/// As much below what it was at the start, and a burst has run out.
const FALLEN: f64 = 1.2;

/// Measures both caps, as far as there are two.
pub(crate) fn caps(
    scout: &mut Scout<'_>,
    target: usize,
    found: &mut TargetCaps,
) -> Result<(), Ended> {
    let wanted = quantities(found);
    let mut bursts: Vec<Option<Burst>> = Vec::new();
    for quantity in &wanted {
        bursts.push(burst(scout, target, *quantity, found)?);
    }
    let shapes: Vec<_> = wanted.iter().map(|of| of.shape("measure the cap again")).collect();
    let value = |at: usize, seen: &Observation| wanted[at].value(seen.iops(), seen.bytes_per_s());
    let measured = again(scout, target, &shapes, value, found)?;
    for ((quantity, (values, observed)), burst) in wanted.iter().zip(measured).zip(bursts) {
        let Some(interval) = interval(&values) else { continue };
        let share = found.evidence.kernel_threads_share.unwrap_or(0.0);
        let (busy, width) = (Busy::of(&observed, share), interval.hi - interval.lo);
        let (kind, why) = kind::of(found, quantity.block_bytes, &busy, width);
        let cap = Cap {
            cap: interval.mean.exp(),
            lo: interval.lo.exp(),
            hi: interval.hi.exp(),
            measurements: u32::try_from(values.len()).unwrap_or(u32::MAX),
            block_bytes: quantity.block_bytes,
            queue_depth: quantity.queue_depth,
            kind,
            why,
            burst,
        };
        let place = if quantity.is_bytes { &mut found.bw_bytes } else { &mut found.iops };
        *place = Some(cap);
    }
    refine(found);
    Ok(())
}

/// The logarithms of a quantity, and the observations that they are of.
pub(crate) type Measured = (Vec<f64>, Vec<Observation>);

/// Measures each of these in random order, again and again until all of their intervals are narrow:
/// the logarithms of what `value` makes of the observations, and these.
pub(crate) fn again(
    scout: &mut Scout<'_>,
    target: usize,
    shapes: &[Shape<'_>],
    value: impl Fn(usize, &Observation) -> f64,
    found: &mut TargetCaps,
) -> Result<Vec<Measured>, Ended> {
    let mut measured: Vec<Measured> = vec![Default::default(); shapes.len()];
    let most = if scout.search().quick { 3 } else { MOST };
    let critical = critical();
    for times in 1..=most {
        for at in scout.order(shapes.len()) {
            let seen = soak::measure(scout, target, shapes[at], found)?;
            measured[at].0.push(value(at, &seen).ln());
            measured[at].1.push(seen);
        }
        let is_look = critical.design().is_look(times);
        if is_look && measured.iter().all(|(values, _)| is_narrow(&critical, values)) {
            break;
        }
    }
    Ok(measured)
}

fn critical() -> CriticalValues {
    CriticalValues::new(Design::with_max_blocks(MOST), ALPHA)
}

/// Of the logarithms.
pub(crate) fn interval(values: &[f64]) -> Option<Interval> {
    critical().rci(values)
}

/// Whether throughput is clearly lower now than when the search began.
pub(crate) fn has_fallen(found: &TargetCaps) -> bool {
    let Some(cap) = &found.iops else { return false };
    let first = found.ladder.iter().map(|step| step.iops).fold(0.0, f64::max);
    cap.burst.is_none() && first > cap.cap * FALLEN
}

/// What to measure a cap with.
#[derive(Debug, Clone, Copy)]
struct Quantity {
    is_bytes: bool,
    block_bytes: u32,
    queue_depth: u32,
    expected_iops: f64,
}

impl Quantity {
    fn shape(self, purpose: &str) -> Shape<'_> {
        Shape {
            purpose,
            block_bytes: self.block_bytes,
            queue_depth: self.queue_depth,
            expected_iops: Some(self.expected_iops),
            most_iops: Some(1.3 * self.expected_iops),
            ..Shape::default()
        }
    }

    fn value(self, iops: f64, bytes_per_s: f64) -> f64 {
        if self.is_bytes { bytes_per_s } else { iops }
    }

    /// What one I/O counts.
    fn unit(self) -> f64 {
        if self.is_bytes { f64::from(self.block_bytes) } else { 1.0 }
    }
}

/// The caps that the sizes show, each with I/Os of a size at which it alone binds.
fn quantities(found: &TargetCaps) -> Vec<Quantity> {
    let Some(sizes) = &found.sizes else { return Vec::new() };
    let of = |is_bytes, (block_bytes, expected_iops): (u32, f64)| Quantity {
        is_bytes,
        block_bytes,
        queue_depth: sizes::depth(found, Some(expected_iops)),
        expected_iops,
    };
    let points = sizes.single_points();
    let (first, last) = (points[0], points[points.len() - 1]);
    let kink_bytes = last.1 * f64::from(last.0) / first.1;
    let mut wanted = Vec::new();
    if kink_bytes >= CLEAR * f64::from(SMALL_BYTES) {
        wanted.push(of(false, first));
    }
    if kink_bytes * CLEAR <= f64::from(last.0) {
        // No larger than it must be: large I/Os may count as several.
        let clear = |(size, _): &&(u32, f64)| f64::from(*size) >= CLEAR * kink_bytes;
        wanted.push(of(true, points.iter().find(clear).copied().unwrap_or(last)));
    }
    if wanted.is_empty() {
        wanted.push(of(true, last));
    }
    wanted
}

/// The burst on a cap, if one is waited for.
fn burst(
    scout: &mut Scout<'_>,
    target: usize,
    quantity: Quantity,
    found: &mut TargetCaps,
) -> Result<Option<Burst>, Ended> {
    let series = if quantity.is_bytes { &found.soak_bw_bytes } else { &found.soak_iops };
    let (series, shape) = (series.clone(), quantity.shape(""));
    soak::burst(scout, target, shape, &series, (quantity.unit(), found))
}

fn is_narrow(critical: &CriticalValues, values: &[f64]) -> bool {
    critical.rci(values).is_some_and(|interval| interval.half_width() <= NARROW)
}

/// A burst whose credits come back in pauses is a limiter's, whatever the sizes say.
fn refine(found: &mut TargetCaps) {
    for cap in [&mut found.iops, &mut found.bw_bytes].into_iter().flatten() {
        let refill = cap.burst.as_ref().and_then(|burst| burst.refill_per_s);
        if cap.kind == CapKind::External
            && let Some(refill) = refill
            && (refill / cap.cap - 1.0).abs() < 0.25
        {
            cap.kind = CapKind::Throttle;
            cap.why.clear();
            cap.why.push_str(
                "what can be had above it comes back in pauses at the rate of the cap, as \
                       a token bucket's credits do",
            );
        }
    }
}
