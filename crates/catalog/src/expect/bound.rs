//! The lowest of several limits, and the sum over disks.

use serde::{Deserialize, Serialize};

use crate::limit::{Burst, Direction, Limit, Rate, Scope};
use crate::note::Note;

/// The limit that binds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// Which bucket.
    pub scope: Scope,
    pub of: String,
}

/// A rate after several limits apply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The sustained rate.
    pub sustained: f64,
    /// The limit that sets it; none if it is a sum over paths.
    pub sustained_by: Option<By>,
    /// The burst rate, if all limits allow more than the sustained rate.
    pub burst: Option<BurstBound>,
}

/// A burst rate after several limits apply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BurstBound {
    /// The rate while it lasts.
    pub per_s: f64,
    /// The limit that sets it; none if it is a sum over paths.
    pub by: Option<By>,
    /// Seconds until the first full bucket is empty, if all of them are documented.
    pub lasts_s: Option<f64>,
    /// Conditions of the bursts it uses.
    pub notes: Vec<Note>,
}

impl Bound {
    /// As a rate whose credits last as long.
    fn rate(&self) -> Rate {
        let burst = self.burst.as_ref().map(|burst| Burst {
            per_s: burst.per_s,
            credits: burst.lasts_s.map(|lasts_s| lasts_s * (burst.per_s - self.sustained)),
            opt_in: false,
            notes: burst.notes.clone(),
        });
        Rate { sustained: self.sustained, burst }
    }
}

/// Rates for I/Os of one direction after all limits apply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// Which I/Os.
    pub direction: Direction,
    /// I/Os per second.
    pub iops: Option<Bound>,
    /// Bytes per second.
    pub bw_bytes: Option<Bound>,
    /// Limits that also apply but have unknown IOPS: the rate may be lower.
    pub unknown_iops: Vec<By>,
    /// Limits that also apply but have unknown bytes per second: the rate may be lower.
    pub unknown_bw: Vec<By>,
}

/// A named rate; `None` is unknown. A limit without a value for a rate does not limit it and is in
/// no list.
pub(super) struct Named {
    pub(super) by: By,
    pub(super) iops: Option<Rate>,
    pub(super) bw_bytes: Option<Rate>,
    /// Whether a rate of `None` means no limit instead of an unknown one.
    pub(super) is_partial: bool,
}

impl Named {
    pub(super) fn limit(limit: &Limit) -> Self {
        Self {
            by: By { scope: limit.scope, of: limit.of.clone() },
            iops: limit.iops.clone(),
            bw_bytes: limit.bw_bytes.clone(),
            is_partial: limit.iops.is_some() != limit.bw_bytes.is_some()
                && limit.scope != Scope::Disk,
        }
    }
}

/// The limits that count reads, and those that count writes, each reduced to the lowest; merged if
/// they are equal.
pub(super) fn effective(of: impl Fn(Direction) -> Vec<Named>) -> Vec<Effective> {
    merged([Direction::Read, Direction::Write].map(|direction| least(direction, &of(direction))))
}

/// The sum of buckets that are independent.
pub(super) fn sum_of(parts: &[&[Effective]], shared: &[Limit]) -> Vec<Effective> {
    effective(|direction| {
        let sides: Vec<_> = parts.iter().filter_map(|part| side(part, direction)).collect();
        let iops = sides.iter().map(|side| side.iops.as_ref().map(Bound::rate));
        let bw_bytes = sides.iter().map(|side| side.bw_bytes.as_ref().map(Bound::rate));
        let by = By { scope: Scope::Disk, of: String::new() };
        let all = Named { by, iops: sum(iops), bw_bytes: sum(bw_bytes), is_partial: false };
        let shared = shared.iter().filter(|limit| limit.direction.counts(direction));
        [all].into_iter().chain(shared.map(Named::limit)).collect()
    })
    .into_iter()
    .map(without_sums)
    .collect()
}

/// The sum of rates: bursts at the same time, with all credits used up together.
pub(super) fn sum(rates: impl Iterator<Item = Option<Rate>>) -> Option<Rate> {
    let rates: Vec<Rate> = rates.collect::<Option<_>>()?;
    let sustained: f64 = rates.iter().map(|rate| rate.sustained).sum();
    let peak: f64 = rates.iter().map(Rate::peak).sum();
    let bursts = || rates.iter().filter_map(|rate| rate.burst.as_ref()).filter(|b| !b.opt_in);
    let mut notes: Vec<_> = bursts().flat_map(|burst| burst.notes.clone()).collect();
    notes.dedup();
    let burst = Burst {
        per_s: peak,
        credits: bursts().map(|burst| burst.credits).sum(),
        opt_in: false,
        notes,
    };
    Some(Rate::with_burst(sustained, Some(burst)))
}

/// The entry of a merged list for this direction.
fn side(effective: &[Effective], direction: Direction) -> Option<&Effective> {
    effective.iter().find(|found| found.direction.counts(direction))
}

fn least(direction: Direction, limits: &[Named]) -> Effective {
    let unknown = |rate: fn(&Named) -> Option<&Rate>| {
        let none = limits.iter().filter(|named| rate(named).is_none() && !named.is_partial);
        none.map(|named| named.by.clone()).collect()
    };
    Effective {
        direction,
        iops: bound(limits, |named| named.iops.as_ref()),
        bw_bytes: bound(limits, |named| named.bw_bytes.as_ref()),
        unknown_iops: unknown(|named| named.iops.as_ref()),
        unknown_bw: unknown(|named| named.bw_bytes.as_ref()),
    }
}

fn bound(limits: &[Named], rate: fn(&Named) -> Option<&Rate>) -> Option<Bound> {
    let known: Vec<_> = limits.iter().filter_map(|named| Some((&named.by, rate(named)?))).collect();
    let least = |of: fn(&Rate) -> f64| {
        known.iter().map(|(by, rate)| (of(rate), *by)).min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let (sustained, sustained_by) = least(|rate| rate.sustained)?;
    let (per_s, by) = least(Rate::peak)?;
    let burst = (per_s > sustained).then(|| {
        // Those that are below this rate without credits.
        let drawn = || known.iter().filter(|(_, rate)| rate.sustained < per_s);
        let lasts_s: Option<Vec<f64>> =
            drawn().map(|(_, rate)| rate.burst.as_ref()?.lasts_s(rate.sustained, per_s)).collect();
        let bursts = drawn().filter_map(|(_, rate)| rate.burst.as_ref());
        let mut notes: Vec<_> = bursts.flat_map(|burst| burst.notes.clone()).collect();
        notes.dedup();
        BurstBound {
            per_s,
            by: Some(by.clone()),
            lasts_s: lasts_s.and_then(|all| all.into_iter().min_by(f64::total_cmp)),
            notes,
        }
    });
    Some(Bound { sustained, sustained_by: Some(sustained_by.clone()), burst })
}

/// Reads and writes merged if all figures are equal.
fn merged([read, write]: [Effective; 2]) -> Vec<Effective> {
    let both = Effective { direction: Direction::Both, ..read.clone() };
    if both == (Effective { direction: Direction::Both, ..write.clone() }) {
        return vec![both];
    }
    vec![read, write]
}

/// Removes limits that are sums over paths.
fn without_sums(effective: Effective) -> Effective {
    let nobody = |by: Option<By>| by.filter(|by| !by.of.is_empty());
    let clean = |bound: Option<Bound>| {
        bound.map(|bound| Bound {
            sustained_by: nobody(bound.sustained_by),
            burst: bound.burst.map(|burst| BurstBound { by: nobody(burst.by), ..burst }),
            ..bound
        })
    };
    let named = |all: Vec<By>| all.into_iter().filter(|by| !by.of.is_empty()).collect();
    Effective {
        iops: clean(effective.iops),
        bw_bytes: clean(effective.bw_bytes),
        unknown_iops: named(effective.unknown_iops),
        unknown_bw: named(effective.unknown_bw),
        ..effective
    }
}
