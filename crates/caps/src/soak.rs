//! Saturate first: what is there at the start may be a burst.

use iotax_experiment::{Purpose, Search};
use iotax_stats::bucket::two_phase;

use crate::found::{Burst, Recovery, TargetCaps};
use crate::probe::{Ended, Observation};
use crate::scout::{LARGE_BYTES, SMALL_BYTES, Shape, TargetSearch};

/// Seconds of the load if no burst is waited for: enough to see a level change in its midst.
const LEAST_S: f64 = 12.0;
const QUICK_S: f64 = 4.0;
/// Seconds of each load while waiting for a burst to end.
const TURN_S: f64 = 20.0;
/// Seconds that a lower level must have lasted.
const SETTLED_S: usize = 10;
/// Depth of the load.
pub(crate) const DEPTH: u32 = 64;

/// Seconds of the first look whether credits have come back.
const SHORT_TURN_S: f64 = 1.0;
/// So near to the sustained level, credits are spent.
const NEAR: f64 = 1.03;
/// Depth of the load with large blocks.
const LARGE_DEPTH: u32 = 16;

/// Saturates the target with small I/Os and, where bursts are waited for, with large ones: before
/// anything else does, since what comes first spends the credits.
pub(crate) fn saturate(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    let shape = |block_bytes, queue_depth| Shape {
        purpose: Purpose::Saturate,
        block_bytes,
        queue_depth,
        from_start: true,
        ..Shape::default()
    };
    if on.scout.search.burst.is_some() {
        let series = series(on, shape(LARGE_BYTES, LARGE_DEPTH))?;
        on.found.soak_bw_bytes = series.iter().map(|ios| ios * f64::from(LARGE_BYTES)).collect();
    }
    on.found.soak_iops = series(on, shape(SMALL_BYTES, DEPTH))?;
    Ok(())
}

/// Measures the sustained level of one target, where it was not read before.
pub(crate) fn measure(on: &mut TargetSearch<'_, '_>, shape: Shape) -> Result<Observation, Ended> {
    drain(on, shape)?;
    let window_s = on.scout.window_s(shape.expected_iops);
    let seen = on.measure_for(shape, window_s)?;
    on.scout.note_windows(on.target, shape, &seen);
    Ok(seen)
}

/// Spends what credits have come back since the burst ran out, with I/Os of this size, for at most
/// thrice as long as the burst lasted: another cap may hold the spending up. Does nothing on a
/// target that has shown no burst.
pub(crate) fn drain(on: &mut TargetSearch<'_, '_>, like: Shape) -> Result<(), Ended> {
    let block_bytes = like.block_bytes;
    // What was spent over a path are bytes that go to the peer.
    if like.traffic.is_some_and(|traffic| traffic.is_back || !traffic.engine.is_stream()) {
        return Ok(());
    }
    let Some(level) = sustained_iops(on.found, block_bytes) else { return Ok(()) };
    let lasted = [&on.found.soak_iops, &on.found.soak_bw_bytes].map(|series| spent(series));
    let longest_s = lasted.into_iter().flatten().map(|spent| spent.lasted_s).fold(0.0, f64::max);
    let shape = Shape {
        purpose: Purpose::SpendCredits,
        block_bytes,
        queue_depth: if block_bytes > 64 << 10 { LARGE_DEPTH } else { DEPTH },
        expected_iops: Some(level),
        traffic: like.traffic,
        ..Shape::default()
    };
    let mut drained_s = 0.0;
    let mut turn_s = SHORT_TURN_S;
    while drained_s <= 3.0 * longest_s {
        let iops = on.measure_for(shape, turn_s)?.iops();
        if iops <= level * NEAR {
            break;
        }
        drained_s += turn_s;
        turn_s = (2.0 * turn_s).min(TURN_S);
    }
    Ok(())
}

/// Whether the load at the start has shown what looks like a burst that ran out.
pub(crate) fn has_burst(found: &TargetCaps) -> bool {
    spent(&found.soak_iops).is_some()
}

/// What I/Os of this size can be had per second when credits are spent, of a target that has shown
/// a burst.
fn sustained_iops(found: &TargetCaps, block_bytes: u32) -> Option<f64> {
    let iops = spent(&found.soak_iops).map(|spent| spent.rate);
    let bytes = spent(&found.soak_bw_bytes).map(|spent| spent.rate / f64::from(block_bytes));
    iops.into_iter().chain(bytes).reduce(f64::min)
}

/// Seconds of the load if no burst is waited for.
pub(crate) fn least_s(search: &Search) -> f64 {
    if search.quick { QUICK_S } else { LEAST_S }
}

/// I/Os per second of a saturating load, second by second, for as long as it is worth it.
pub(crate) fn series(on: &mut TargetSearch<'_, '_>, shape: Shape) -> Result<Vec<f64>, Ended> {
    let Some(watch) = on.scout.search.burst.clone() else {
        let seen = on.measure_for(shape, least_s(on.scout.search))?;
        return Ok(seconds(&seen.per_second_ios));
    };
    let longest_s = watch.longest_ns as f64 / 1e9;
    let mut series = Vec::new();
    let mut shape = shape;
    while (series.len() as f64) < longest_s && !has_settled(&series) {
        let turn_s = TURN_S.min(longest_s).max(2.0);
        let seen = on.measure_for(shape, turn_s)?;
        shape.expected_iops = Some(seen.iops());
        series.extend(seconds(&seen.per_second_ios));
    }
    Ok(series)
}

/// Whether a burst has ended for good.
fn has_settled(series: &[f64]) -> bool {
    two_phase(series).is_some_and(|fit| fit.found && series.len() - fit.split >= SETTLED_S)
}

/// The burst in such a series, if one ran out in it, with what comes back in pauses. `unit` is what
/// an I/O of this shape counts in the unit of the series.
pub(crate) fn burst(
    on: &mut TargetSearch<'_, '_>,
    shape: Shape,
    series: &[f64],
    unit: f64,
) -> Result<Option<Burst>, Ended> {
    let Some(first) = spent(series) else { return Ok(None) };
    let pauses_ns = on.scout.search.burst.as_ref().map_or(Vec::new(), |w| w.pauses_ns.clone());
    let mut recoveries = Vec::new();
    for pause_ns in pauses_ns {
        let pause_s = pause_ns as f64 / 1e9;
        drain(on, shape)?;
        on.scout.pause(pause_s)?;
        // What may have come back at the rate, spent at the difference of the levels.
        let lasts_s = first.rate * pause_s / (first.peak - first.rate);
        let window_s = (lasts_s.min(first.lasted_s) * 1.2 + SETTLED_S as f64).ceil();
        let shape = Shape {
            purpose: Purpose::AfterPause,
            most_iops: None,
            // At the start it is a sender's buffers that fill.
            from_start: shape.traffic.is_none(),
            ..shape
        };
        let seen = on.measure_for(shape, window_s)?;
        let series: Vec<f64> = seconds(&seen.per_second_ios).iter().map(|n| n * unit).collect();
        let size = above(&series, first.rate);
        recoveries.push(Recovery { pause_s, size });
    }
    Ok(Some(Burst {
        per_s: first.peak,
        size: first.size,
        lasted_s: first.lasted_s,
        refill_per_s: refill(&recoveries, first.size),
        recoveries,
    }))
}

struct Spent {
    peak: f64,
    rate: f64,
    size: f64,
    lasted_s: f64,
}

/// The second in which the level changes belongs to neither level.
fn spent(series: &[f64]) -> Option<Spent> {
    let fit = two_phase(series).filter(|fit| fit.found)?;
    let after = &series[(fit.split + 1).min(series.len() - 1)..];
    let rate = after.iter().sum::<f64>() / after.len() as f64;
    let before = &series[..fit.split.saturating_sub(1).max(1)];
    let peak = before.iter().sum::<f64>() / before.len() as f64;
    let size: f64 = series[..=fit.split].iter().map(|x| x - rate).sum();
    Some(Spent { peak, rate, size, lasted_s: size / (peak - rate) })
}

fn above(series: &[f64], rate: f64) -> f64 {
    series.iter().map(|x| x - rate).sum::<f64>().max(0.0)
}

/// What came back per second: the slope over the two longest pauses in which credits did not fill
/// up, or that of the only one.
fn refill(recoveries: &[Recovery], full: f64) -> Option<f64> {
    const NEARLY: f64 = 0.9;
    let partial: Vec<&Recovery> = recoveries.iter().filter(|r| r.size < NEARLY * full).collect();
    let last = partial.last()?;
    let (size, pause_s) = match partial.len().checked_sub(2).map(|at| partial[at]) {
        Some(before) => (last.size - before.size, last.pause_s - before.pause_s),
        None => (last.size, last.pause_s),
    };
    (pause_s > 0.0).then_some(size / pause_s)
}

pub(crate) fn seconds(per_second_ios: &[u32]) -> Vec<f64> {
    per_second_ios.iter().map(|ios| f64::from(*ios)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_burst_does_not_depend_on_where_in_a_second_it_ends() {
        for part in [0.0, 0.3, 0.9] {
            let boundary = 100.0 + 900.0 * part;
            let mut series = vec![1000.0; 8];
            series.push(boundary);
            series.extend([100.0; 12]);
            let burst = spent(&series).unwrap();
            assert!((burst.size - 900.0 * (8.0 + part)).abs() < 1e-6, "{}", burst.size);
            assert!((burst.rate - 100.0).abs() < 1e-9 && (burst.peak - 1000.0).abs() < 1e-9);
        }
    }

    #[test]
    fn refill_is_what_a_longer_pause_brings_more() {
        let pauses = [(30.0, 3_500.0), (120.0, 12_500.0)];
        let pauses = pauses.map(|(pause_s, size)| Recovery { pause_s, size });
        assert_eq!(refill(&pauses, 1e6), Some(100.0));
        assert_eq!(refill(&pauses[..1], 1e6), Some(3_500.0 / 30.0));
        assert_eq!(refill(&[], 1e6), None);
        assert_eq!(refill(&pauses, 13_000.0), Some(3_500.0 / 30.0), "the longer one filled up");
    }
}
