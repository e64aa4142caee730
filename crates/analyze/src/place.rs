//! What the place of a trial in its block does to a comparison.

use iotax_stats::place::{DifferencesByOrder, LEVEL};
use iotax_stats::rci::Interval;
use iotax_stats::sample::count;

use crate::analysis::PlaceEffect;
use crate::block_differences::BlockDifferences;
use crate::method::Method;

/// The effect of the place on the blocks of `row` up to the latest look, if there is one worth
/// saying. It is taken out of them where there are enough to tell it from noise: both orders are
/// there equally often, so it moves no estimate, but it would pass for noise.
pub(crate) fn take_out(method: &Method, row: &mut BlockDifferences) -> Option<PlaceEffect> {
    if row.gate.is_some() || row.stalled.is_some() || row.base_first.is_empty() {
        return None;
    }
    let look = method.design().look_at_or_before(row.log_ratios.len())?;
    let place = DifferencesByOrder::of(&row.log_ratios[..look], &row.base_first[..look])?;
    if place.p > LEVEL || place.gap() < -(-method.margin).ln_1p() {
        return None;
    }
    let taken_out = place.taken_out(&row.log_ratios, &row.base_first, method.critical());
    let is_taken_out = taken_out.is_some();
    row.log_ratios = taken_out.unwrap_or_else(|| std::mem::take(&mut row.log_ratios));
    let cost = |d: f64| method.cost(row.metric, Interval { mean: d, lo: d, hi: d }).mean;
    Some(PlaceEffect {
        base_first: cost(place.base_first),
        arm_first: cost(place.arm_first),
        blocks: place.blocks.map(count),
        p: place.p,
        taken_out: is_taken_out,
    })
}
