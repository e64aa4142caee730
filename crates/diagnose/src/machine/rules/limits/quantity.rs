//! I/Os and bytes per second: every rule about limits looks at both.

use iotax_catalog::{Bound, BurstBound, By, Direction, Effective, Limit, Rate};
use iotax_quantity::{grouped, mb_per_s, span, whole};

use crate::machine::finding::Observation;
use crate::machine::snapshot::Attached;

/// What is limited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantity {
    pub(super) of: fn(&Limit) -> Option<&Rate>,
    /// What several limits leave of it.
    pub(super) left: fn(&Effective) -> Option<&Bound>,
    figure: fn(f64) -> String,
}

pub(super) const QUANTITIES: [Quantity; 2] = [
    Quantity {
        of: |limit| limit.iops.as_ref(),
        left: |effective| effective.iops.as_ref(),
        figure: |rate| format!("{} IOPS", grouped(whole(rate))),
    },
    Quantity {
        of: |limit| limit.bw_bytes.as_ref(),
        left: |effective| effective.bw_bytes.as_ref(),
        figure: mb_per_s,
    },
];

impl Quantity {
    /// A rate of it, for people.
    pub(super) fn figure(self, rate: f64) -> String {
        (self.figure)(rate)
    }

    /// The rate of a limit and the burst above it, for people: `156 MB/s, burst 1250 MB/s`.
    fn rate(self, rate: &Rate) -> String {
        let burst = rate.burst.as_ref().filter(|burst| !burst.opt_in);
        let burst =
            burst.map(|burst| format!(" (burst {})", self.figure(burst.per_s))).unwrap_or_default();
        format!("{}{burst}", self.figure(rate.sustained))
    }
}

/// `instance limit of m5.large`.
pub(super) fn name(limit: &Limit) -> String {
    format!("{} limit of {}", limit.scope, limit.of)
}

/// `disk limit of P30`.
pub(super) fn by_name(by: &By) -> String {
    format!("{} limit of {}", by.scope, by.of)
}

/// `nvme1n1 (gp3:size=10G) of /data`.
pub(super) fn about(one: &Attached<'_>) -> String {
    format!("{} ({}) of {}", one.device.name, one.name, one.path)
}

/// The rates of a limit, for people.
pub(super) fn rates(limit: &Limit) -> String {
    let rates = QUANTITIES.iter().filter_map(|quantity| Some(quantity.rate((quantity.of)(limit)?)));
    rates.collect::<Vec<_>>().join(", ")
}

/// Limits with figures, as observations.
pub(in crate::machine::rules) fn observed(limits: &[Limit]) -> impl Iterator<Item = Observation> {
    let told = limits.iter().filter(|limit| limit.iops.is_some() || limit.bw_bytes.is_some());
    told.map(|limit| {
        let direction = match limit.direction {
            Direction::Both => String::new(),
            direction => format!(", {direction}"),
        };
        Observation::documented(name(limit) + &direction, rates(limit))
    })
}

/// How long full credits last, for people.
pub(super) fn lasts(seconds: Option<f64>) -> String {
    match seconds {
        Some(seconds) if seconds.is_finite() => {
            format!("for {} from full credits", span(whole(seconds)))
        }
        _ => "for a time that is not documented".to_owned(),
    }
}

/// What a burst of several limits comes to: `a burst reaches 786 MB/s for 52 min from full credits`.
pub(super) fn burst(quantity: Quantity, burst: &BurstBound) -> String {
    format!("a burst reaches {} {}", quantity.figure(burst.per_s), lasts(burst.lasts_s))
}
