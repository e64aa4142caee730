//! The caps, measured again in random order until it is clear what they are.

use iotax_experiment::Purpose;

use crate::estimate::{Estimate, Series, again};
use crate::found::{Burst, Cap, CapKind, TargetCaps};
use crate::kind::{self, Rate};
use crate::probe::{Ended, Observation};
use crate::processors::Busy;
use crate::reason::CapSign;
use crate::scout::{SMALL_BYTES, Shape, TargetSearch};
use crate::unstated::{BlockEnd, Obstacle, STATED, Unreached, Unsteady};
use crate::{sizes, soak};

/// Beyond the kink by this factor only bytes count, and below it only I/Os.
const CLEAR: f64 = 1.5;
/// The same of rates that hold still to the thousandth.
const JUST_CLEAR: f64 = 1.03;
/// As much below what it was at the start, and a burst has run out.
const FALLEN: f64 = 1.2;
/// Bytes are counted with the largest I/Os up to this size of which there are so many per second.
const EASY_BYTES: u32 = 64 << 10;
const EASY_IOPS: f64 = 500.0;
/// How often what was measured may show that another size would have told more.
const ROUNDS: usize = 8;
/// If the load had to wait for CPUs, a wider interval does not show a cap of the storage or path.
const NEARLY: f64 = 0.04;

/// Measures both caps, as far as they are reached.
pub(crate) fn caps(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    (on.found.iops, on.found.bw_bytes) = (None, None);
    on.found.unsteady.clear();
    let mut known: Vec<Known> = Vec::new();
    let mut wanted = quantities(on.found);
    // Those that there was no time for.
    let mut left: Vec<Quantity> = Vec::new();
    for _ in 0..ROUNDS {
        measure(on, &wanted, &mut known)?;
        // With what is known now, the kink may be elsewhere.
        for (quantity, series, _) in &known {
            if let Some(of) = series.estimate().filter(|of| of.is_ceiling) {
                sizes::correct(on.found, quantity.block_bytes, of.rate / quantity.unit());
            }
        }
        sizes::down_to_the_kink(on)?;
        sizes::doubt(on)?;
        let next = quantities(on.found);
        let is_same = next.iter().map(Quantity::id).eq(wanted.iter().map(Quantity::id));
        if is_same {
            break;
        }
        if !on.scout.may_refine() {
            left = next;
            break;
        }
        wanted = next;
    }
    known.retain(|(known, ..)| wanted.iter().any(|quantity| quantity.id() == known.id()));
    let estimates: Vec<_> = known.iter().map(|(of, series, _)| (*of, series.estimate())).collect();
    on.found.unreached = unreached(on, if left.is_empty() { &wanted } else { &left });
    left.retain(|left| wanted.iter().all(|known| known.is_bytes != left.is_bytes));
    on.found.unreached.extend(left.iter().map(|of| Unreached {
        obstacle: Obstacle::Time,
        ..of.unreached(of.expected_iops * of.unit(), false)
    }));
    for (at, (quantity, series, burst)) in known.into_iter().enumerate() {
        let Some(estimate) = estimates[at].1 else { continue };
        let share = on.found.plateau.kernel_threads_share.unwrap_or(0.0);
        let busy = Busy::of(&series.seen, share);
        let is_disturbed = !estimate.is_ceiling && busy.taken().is_some();
        if !is_proven(&estimates, at) && !is_disturbed {
            let is_end =
                quantity.is_bytes || quantity.block_bytes == on.scout.smallest_bytes(on.target);
            on.found.unreached.push(quantity.unreached(estimate.rate, is_end));
            continue;
        }
        keep(on.found, quantity, &series, estimate, &busy, burst);
    }
    on.found.unreached.sort_by(|a, b| b.quantity.cmp(&a.quantity));
    refine(on.found);
    Ok(())
}

/// What was measured of a quantity, and its burst.
type Known = (Quantity, Series, Option<Burst>);

/// Measures those that are not known yet.
fn measure(
    on: &mut TargetSearch<'_, '_>,
    wanted: &[Quantity],
    known: &mut Vec<Known>,
) -> Result<(), Ended> {
    let is_new = |of: &&Quantity| known.iter().all(|(known, ..)| known.id() != of.id());
    let new: Vec<Quantity> = wanted.iter().filter(is_new).copied().collect();
    let mut bursts: Vec<Option<Burst>> = Vec::new();
    for quantity in &new {
        bursts.push(burst(on, *quantity)?);
    }
    let shapes: Vec<_> = new.iter().map(|of| of.shape(Purpose::CapAgain)).collect();
    let rate = |at: usize, seen: &Observation| new[at].value(seen.iops(), seen.bytes_per_s());
    let measured = again(on, &shapes, rate)?;
    let new = new.into_iter().zip(measured).zip(bursts);
    known.extend(new.map(|((quantity, series), burst)| (quantity, series, burst)));
    Ok(())
}

/// Takes a cap, or says why there is none to be stated.
fn keep(
    found: &mut TargetCaps,
    quantity: Quantity,
    series: &Series,
    estimate: Estimate,
    busy: &Busy,
    burst: Option<Burst>,
) {
    let width = estimate.width();
    let rate = Rate { block_bytes: quantity.block_bytes, is_ceiling: estimate.is_ceiling, width };
    let (kind, reason) = kind::of(found, &rate, busy);
    let is_uncertain = !estimate.is_ceiling && width > NEARLY && kind != CapKind::ThisMachine;
    let is_vague = kind == CapKind::External || is_uncertain || width > STATED;
    // What had no CPU asked for less than there may be.
    let in_the_way = busy.is_limit().filter(|_| width > STATED);
    let in_the_way = in_the_way.or_else(|| busy.taken().filter(|_| is_vague));
    let in_the_way = in_the_way.map(Obstacle::ThisMachine);
    if let Some(obstacle) =
        in_the_way.or_else(|| (series.is_cut && width > STATED).then_some(Obstacle::Time))
    {
        found.unreached.push(Unreached {
            quantity: quantity.name().to_owned(),
            at_least: series.reached(),
            block_bytes: quantity.block_bytes,
            obstacle,
        });
        return;
    }
    if width > STATED {
        found.unsteady.push(Unsteady::scattered(quantity.name(), &series.windows));
        return;
    }
    let cap = estimate.cap(series, quantity.shape(Purpose::CapAgain), kind, reason);
    let cap = Cap { burst, ..cap };
    let place = if quantity.is_bytes { &mut found.bw_bytes } else { &mut found.iops };
    *place = Some(cap);
}

/// Whether throughput is clearly lower now than when the search began.
pub(crate) fn has_fallen(found: &TargetCaps) -> bool {
    let Some(cap) = &found.iops else { return false };
    let first = found.ladder.iter().map(|step| step.iops).fold(0.0, f64::max);
    found.unsteady.is_empty() && cap.burst.is_none() && first > cap.cap * FALLEN
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
    fn shape(self, purpose: Purpose) -> Shape {
        Shape {
            purpose,
            block_bytes: self.block_bytes,
            queue_depth: self.queue_depth,
            expected_iops: Some(self.expected_iops),
            most_iops: Some(1.3 * self.expected_iops),
            ..Shape::default()
        }
    }

    const fn id(&self) -> (bool, u32) {
        (self.is_bytes, self.block_bytes)
    }

    const fn name(self) -> &'static str {
        if self.is_bytes { "bw_bytes" } else { "iops" }
    }

    fn value(self, iops: f64, bytes_per_s: f64) -> f64 {
        if self.is_bytes { bytes_per_s } else { iops }
    }

    /// What one I/O counts.
    fn unit(self) -> f64 {
        if self.is_bytes { f64::from(self.block_bytes) } else { 1.0 }
    }

    /// With I/Os of this size the other cap binds first, at this rate.
    fn unreached(self, at_least: f64, is_smallest: bool) -> Unreached {
        let end = match (self.is_bytes, is_smallest) {
            (true, _) => BlockEnd::Largest,
            (_, true) => BlockEnd::Smallest,
            (..) => BlockEnd::Small,
        };
        Unreached {
            quantity: self.name().to_owned(),
            at_least,
            block_bytes: self.block_bytes,
            obstacle: Obstacle::OtherCap(end),
        }
    }
}

/// A block size in bytes, and I/Os per second.
type Point = (u32, f64);

/// The sizes at either end, and the one from which on only bytes count.
fn kink(found: &TargetCaps) -> Option<(Point, Point, f64)> {
    let points = found.sizes.as_ref()?.single_points();
    let (first, last) = (*points.first()?, *points.last()?);
    Some((first, last, sizes::most_bytes(points) / first.1))
}

/// The caps that the sizes show, each with I/Os of a size at which it alone binds.
fn quantities(found: &TargetCaps) -> Vec<Quantity> {
    let Some(((first, last, kink), sizes)) = kink(found).zip(found.sizes.as_ref()) else {
        return Vec::new();
    };
    let of = |is_bytes, (block_bytes, expected_iops): (u32, f64)| Quantity {
        is_bytes,
        block_bytes,
        queue_depth: sizes::depth(found, Some(expected_iops)),
        expected_iops,
    };
    let points = sizes.single_points();
    let mut wanted = Vec::new();
    if kink >= JUST_CLEAR * f64::from(first.0) {
        // A page if that is small enough: smaller ones are unusual, and cost more CPU.
        let clear =
            |(size, _): &&(u32, f64)| *size <= SMALL_BYTES && f64::from(*size) * CLEAR <= kink;
        wanted.push(of(false, points.iter().rfind(clear).copied().unwrap_or(first)));
    }
    if kink * JUST_CLEAR <= f64::from(last.0) {
        // Large I/Os may count as several, and many small ones cost CPU.
        let clear = |(size, _): &&(u32, f64)| f64::from(*size) >= CLEAR * kink;
        let easy = |(size, iops): &&(u32, f64)| *size <= EASY_BYTES && *iops >= EASY_IOPS;
        let point = points.iter().filter(clear).rfind(easy).or_else(|| points.iter().find(clear));
        wanted.push(of(true, point.copied().unwrap_or(last)));
    }
    if wanted.is_empty() {
        wanted.push(of(true, last));
    }
    wanted
}

/// Whether each of both rates is one that the other would not allow: by far, or a little where both
/// hold still.
fn is_proven(estimates: &[(Quantity, Option<Estimate>)], at: usize) -> bool {
    let of = |is_bytes: bool| {
        let (quantity, rate) = estimates.iter().find(|(of, _)| of.is_bytes == is_bytes)?;
        Some((quantity, (*rate)?))
    };
    let Some(((of_ios, ios), (of_bytes, bytes))) = of(false).zip(of(true)) else { return true };
    let kink = bytes.rate / ios.rate;
    let margin = if estimates[at].0.is_bytes {
        f64::from(of_bytes.block_bytes) / kink
    } else {
        kink / f64::from(of_ios.block_bytes)
    };
    margin >= if ios.is_ceiling && bytes.is_ceiling { JUST_CLEAR } else { CLEAR / JUST_CLEAR }
}

/// The cap that no size came to, where a plateau shows that there is another.
fn unreached(on: &TargetSearch<'_, '_>, wanted: &[Quantity]) -> Vec<Unreached> {
    let Some((first, last, _)) = kink(on.found).filter(|_| on.found.plateau.is_plateau) else {
        return Vec::new();
    };
    let is_missing = |is_bytes: bool| wanted.iter().all(|of| of.is_bytes != is_bytes);
    let of = |is_bytes, (block_bytes, expected_iops): (u32, f64)| Quantity {
        is_bytes,
        block_bytes,
        queue_depth: 1,
        expected_iops,
    };
    let mut unreached = Vec::new();
    if is_missing(false) {
        let is_smallest = first.0 == on.scout.smallest_bytes(on.target);
        unreached.push(of(false, first).unreached(first.1, is_smallest));
    }
    if is_missing(true) {
        unreached.push(of(true, last).unreached(last.1 * f64::from(last.0), false));
    }
    unreached
}

/// The burst on a cap, if one is waited for.
fn burst(on: &mut TargetSearch<'_, '_>, quantity: Quantity) -> Result<Option<Burst>, Ended> {
    let TargetCaps { soak_iops, soak_bw_bytes, .. } = &on.found;
    let series = if quantity.is_bytes { soak_bw_bytes } else { soak_iops }.clone();
    soak::burst(on, quantity.shape(Purpose::AfterPause), &series, quantity.unit())
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
            cap.reason = CapSign::Refill.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::CapReason;

    fn cap(kind: CapKind, per_s: f64, refill_per_s: Option<f64>) -> Cap {
        let burst = Burst {
            per_s: 2.0 * per_s,
            size: per_s,
            lasted_s: 1.0,
            recoveries: Vec::new(),
            refill_per_s,
        };
        Cap {
            cap: per_s,
            lo: per_s,
            hi: per_s,
            measurements: 3,
            block_bytes: 4096,
            queue_depth: 64,
            kind,
            reason: CapReason::from(CapSign::SizesUnmeasured),
            burst: Some(burst),
        }
    }

    #[test]
    fn what_comes_back_at_the_caps_rate_is_a_limiters() {
        let kind = |kind, refill| {
            let iops = Some(cap(kind, 1000.0, refill));
            let mut found = TargetCaps { iops, ..TargetCaps::default() };
            refine(&mut found);
            found.iops.unwrap().kind
        };
        let (external, throttle) = (CapKind::External, CapKind::Throttle);
        assert_eq!([kind(external, Some(1240.0)), kind(external, Some(760.0))], [throttle; 2]);
        assert_eq!([kind(external, Some(1260.0)), kind(external, Some(740.0))], [external; 2]);
        assert_eq!(kind(external, None), external);
        assert_eq!(kind(CapKind::SaturatedDevice, Some(1000.0)), CapKind::SaturatedDevice);
    }

    #[test]
    fn a_rate_is_proven_where_the_other_would_allow_more() {
        let of = |is_bytes, block_bytes| Quantity {
            is_bytes,
            block_bytes,
            queue_depth: 1,
            expected_iops: 1.0,
        };
        let rate = |rate, is_ceiling| Some(Estimate { rate, lo: rate, hi: rate, is_ceiling });
        // 1000 I/Os of 16 KiB are as many bytes: that is the kink.
        let both = |small: u32, large: u32, is_ceiling| {
            let bytes = rate(16_384_000.0, is_ceiling);
            let all = [(of(false, small), rate(1000.0, is_ceiling)), (of(true, large), bytes)];
            [is_proven(&all, 0), is_proven(&all, 1)]
        };
        assert_eq!(both(8192, 32_768, false), [true; 2]);
        assert_eq!(both(12_000, 22_000, false), [false; 2]);
        assert_eq!(both(12_000, 22_000, true), [true; 2]);
        assert_eq!(both(16_000, 16_800, true), [false; 2]);
        assert_eq!(both(11_200, 24_000, false), [true; 2], "1.5 / 1.03 is enough");
        let alone = [(of(false, 16_384), rate(1000.0, false)), (of(true, 16_384), None)];
        assert!(is_proven(&alone, 0));
    }

    #[test]
    fn a_wide_interval_is_no_cap_and_of_a_load_without_cpus_only_the_least() {
        let of = |width: f64, is_ceiling: bool, waited: Option<f64>| {
            let mut found = TargetCaps::default();
            let (lo, hi) = (1000.0 * (-width / 2.0).exp(), 1000.0 * (width / 2.0).exp());
            let estimate = Estimate { rate: 1000.0, lo, hi, is_ceiling };
            let mut series = Series::default();
            series.windows = vec![900.0, 1000.0, 1100.0];
            let quantity =
                Quantity { is_bytes: false, block_bytes: 4096, queue_depth: 1, expected_iops: 1.0 };
            let busy = Busy { waited, ..Busy::default() };
            series.is_cut = waited == Some(0.0);
            keep(&mut found, quantity, &series, estimate, &busy, None);
            let at_least = found.unreached.first().map(|cap| cap.at_least);
            (found.iops.map(|cap| cap.cap), at_least, found.unsteady.len())
        };
        assert_eq!(of(0.6, false, Some(0.0)), (Some(1000.0), None, 0), "time was up");
        assert_eq!(of(0.8, false, Some(0.0)), (None, Some(1000.0), 0), "time was up");
        assert_eq!(of(0.6, false, None), (Some(1000.0), None, 0));
        assert_eq!(of(0.8, false, None), (None, None, 1));
        assert_eq!(of(0.01, true, Some(0.2)), (None, Some(1000.0), 0), "sizes were not measured");
        assert_eq!(of(0.8, true, Some(0.2)), (None, Some(1000.0), 0));
        assert_eq!(of(0.01, true, Some(0.05)), (Some(1000.0), None, 0));
    }

    #[test]
    fn a_rate_has_fallen_if_the_ladder_had_more_and_no_burst_explains_it() {
        let fallen = |first: f64, burst: bool, unsteady: bool| {
            let iops = cap(CapKind::Throttle, 1000.0, None);
            let iops = Some(if burst { iops } else { Cap { burst: None, ..iops } });
            let step =
                |iops| crate::found::DepthStep { queue_depth: 1, iops, mean_latency_ns: 1.0 };
            let rate = Unsteady::scattered("iops", &[1.0, 2.0]);
            has_fallen(&TargetCaps {
                iops,
                ladder: vec![step(900.0), step(first)],
                unsteady: if unsteady { vec![rate] } else { Vec::new() },
                ..TargetCaps::default()
            })
        };
        assert!(fallen(1210.0, false, false) && !fallen(1190.0, false, false));
        assert!(!fallen(1210.0, true, false) && !fallen(1210.0, false, true));
        assert!(!has_fallen(&TargetCaps::default()));
    }
}
