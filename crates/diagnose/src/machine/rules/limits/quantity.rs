//! I/Os and bytes per second: every rule about limits looks at both.

use iotax_catalog::{Bound, Burst, Direction, Effective, Limit, Rate};
use serde::Serialize;

use crate::machine::finding::Component;
use crate::machine::observation::{Field, Observation, Value};
use crate::machine::snapshot::Attached;

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    Iops,
    Bytes,
}

impl Counted {
    pub const ALL: [Self; 2] = [Self::Iops, Self::Bytes];

    /// What a limit allows of it.
    pub fn rate(self, limit: &Limit) -> Option<&Rate> {
        match self {
            Self::Iops => limit.iops.as_ref(),
            Self::Bytes => limit.bw_bytes.as_ref(),
        }
    }

    /// What several limits leave of it.
    pub fn left(self, effective: &Effective) -> Option<&Bound> {
        match self {
            Self::Iops => effective.iops.as_ref(),
            Self::Bytes => effective.bw_bytes.as_ref(),
        }
    }
}

/// The burst above a rate that nobody has to turn on.
pub fn own_burst(rate: &Rate) -> Option<&Burst> {
    rate.burst.as_ref().filter(|burst| !burst.opt_in)
}

/// `nvme1n1 (gp3:size=10G) of /data`.
pub(super) fn about(one: &Attached<'_>) -> Component {
    Component::device(one.device).also(one.name.as_str()).of(one.path)
}

pub(super) fn field(limit: &Limit, direction: Direction) -> Field {
    Field::Limit { scope: limit.scope, of: limit.of.clone(), direction }
}

/// Limits with figures, as observations.
pub(in crate::machine::rules) fn observed(limits: &[Limit]) -> impl Iterator<Item = Observation> {
    let has_figures =
        limits.iter().filter(|limit| limit.iops.is_some() || limit.bw_bytes.is_some());
    has_figures.map(|limit| {
        let value = Value::Limit(Box::new(limit.clone()));
        Observation::documented(field(limit, limit.direction), value)
    })
}
