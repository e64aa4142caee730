//! Documented limits of the VM and its disks: which binds, what bursts, what lies close together.
//! All of it in I/Os and in bytes per second.
//!
//! | module | idea |
//! |---|---|
//! | `quantity` | I/Os and bytes per second |
//! | `binding` | the limit that binds |
//! | `bursts` | credits |

mod binding;
mod bursts;
mod quantity;

use iotax_catalog::{Bound, By, Direction, DiskExpectation, Limit, Rate, Scope};
use iotax_quantity::whole;
use iotax_record::machine::GroupIoLimits;
use serde::Serialize;

use self::binding::{binding, shared_bucket};
use self::bursts::bursts;
pub(super) use self::quantity::observed;
pub use self::quantity::{Counted, own_burst};
use self::quantity::{about, field};
use super::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Finding};
use crate::machine::observation::{Field, Observation, Source, Value};
use crate::machine::snapshot::{Attached, Snapshot};

pub(super) const RULES: &[Rule] = &[
    rule(
        &[
            "azure-disk-limit",
            "azure-vm-limit",
            "ebs-volume-limit",
            "ebs-instance-limit",
            "gcp-disk-limit",
            "gcp-vm-limit",
        ],
        Finder::All(binding),
    ),
    rule(&["azure-vm-limit", "ebs-instance-limit"], Finder::All(shared_bucket)),
    rule(&["azure-burst", "ebs-volume-burst", "ebs-instance-burst"], Finder::All(bursts)),
    rule(&["stacked-limits"], Finder::Documented(stacked)),
    rule(&["queue-too-short", "too-little-parallelism"], Finder::Documented(depths)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitsWhy {
    /// The limit that binds; and what holds I/Os that the host's cache does not answer.
    Binds {
        by: By,
        bounds: Vec<BoundOf>,
        misses: Option<Box<Limit>>,
    },
    Local(Box<Limit>),
    /// By several disks, which may do more together.
    Shared {
        scope: Scope,
        held: Vec<HeldRate>,
    },
    Bursts {
        limit: Box<Limit>,
        bursting: Vec<BurstRate>,
    },
    /// The two least of each quantity.
    Stacked {
        pairs: Vec<StackedPair>,
    },
    /// I/Os in flight that the least documented limit needs; what a queue takes that is too short.
    Depth {
        iops: f64,
        needed: f64,
        takes: Option<u64>,
    },
}

/// What is left of a quantity, in a direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoundOf {
    pub direction: Direction,
    pub counted: Counted,
    pub bound: Bound,
}

/// What several disks may do together, and what they are allowed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldRate {
    pub direction: Direction,
    pub counted: Counted,
    /// As long as credits last.
    pub is_burst: bool,
    pub allowed: f64,
    pub together: f64,
}

/// A rate that may be exceeded for a while.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BurstRate {
    pub counted: Counted,
    pub rate: Rate,
}

/// Two limits that are close, the lower one first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackedPair {
    pub counted: Counted,
    pub limits: [StackedLimit; 2],
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackedLimit {
    pub per_s: f64,
    pub whose: StackedBy,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StackedBy {
    Documented { scope: Scope, of: String },
    Group(String),
}

/// Latency of a network disk that depths are computed with.
const ASSUMED_LATENCY_S: f64 = 0.001;
/// Limits that are nearer to each other than this mask one another.
const CLOSE: f64 = 0.25;
/// From this depth on an application has to do something for it.
const DEEP: f64 = 32.0;

/// I/Os in flight that so many IOPS need.
fn depth(iops: f64) -> f64 {
    (iops * ASSUMED_LATENCY_S).ceil()
}

/// What a control group allows of reads, by quantity.
const OF_GROUPS: [fn(&GroupIoLimits) -> Option<f64>; 2] =
    [|limits| limits.read_iops, |limits| limits.read_bw_bytes];

/// The two least limits of a path, if they are close: of I/Os, of bytes, or of both.
fn stacked(
    seen: &Snapshot<'_>,
    one: &Attached<'_>,
    documented: &DiskExpectation,
) -> Option<Finding> {
    let reads = |limit: &&Limit| limit.direction.counts(Direction::Read);
    let mut pairs = Vec::new();
    let mut observations = Vec::new();
    for (counted, of_group) in Counted::ALL.into_iter().zip(OF_GROUPS) {
        let of_documents = documented.limits.iter().filter(reads).filter_map(|limit| {
            let whose = StackedBy::Documented { scope: limit.scope, of: limit.of.clone() };
            let at = (Source::Documented, field(limit, Direction::Both));
            Some((StackedLimit { per_s: counted.rate(limit)?.sustained, whose }, at))
        });
        let groups = seen.machine.groups.io.iter().filter(|limits| limits.path == one.path);
        let of_groups = groups.filter_map(|limits| {
            let at = (Source::from(&*limits.file), Field::from(&*limits.group));
            let whose = StackedBy::Group(limits.group.clone());
            Some((StackedLimit { per_s: of_group(limits)?, whose }, at))
        });
        let mut all: Vec<_> = of_documents.chain(of_groups).collect();
        all.sort_by(|a, b| a.0.per_s.total_cmp(&b.0.per_s));
        let [least, next, ..] = all.as_slice() else { continue };
        if next.0.per_s > least.0.per_s * (1.0 + CLOSE) {
            continue;
        }
        for (StackedLimit { per_s, .. }, (source, field)) in [least, next] {
            let value = Value::Rate { counted, per_s: *per_s };
            observations.push(Observation::field(source.clone(), field.clone(), value));
        }
        pairs.push(StackedPair { counted, limits: [least.0.clone(), next.0.clone()] });
    }
    let is_close = !pairs.is_empty();
    let why = LimitsWhy::Stacked { pairs };
    let mut finding = Finding::new("stacked-limits", about(one), Certainty::ToBeTested, why)
        .limits(&seen.options(one), one.path);
    finding.seen = observations;
    is_close.then_some(finding)
}

/// Queues that are shorter than the documented IOPS need, and depths that need attention.
fn depths(_: &Snapshot<'_>, one: &Attached<'_>, documented: &DiskExpectation) -> Option<Finding> {
    let queue = &one.device.queue;
    let iops = documented.effective.first()?.iops.as_ref()?.sustained;
    let needed = depth(iops);
    let requests = queue
        .requests
        .map(|requests| requests.saturating_mul(queue.hardware_queues.unwrap_or(1).max(1)));
    let takes = requests.into_iter().chain(queue.depth).min();
    let is_short = takes.is_some_and(|takes| (takes as f64) < needed);
    // The latency is an assumption; a measurement tells which of them it is.
    let cause = if is_short { "queue-too-short" } else { "too-little-parallelism" };
    let why = LimitsWhy::Depth { iops, needed, takes: takes.filter(|_| is_short) };
    let file = |name: &str, value: Option<u64>| {
        value.map(|value| Observation::block(one.device, name, value.to_string()))
    };
    let finding = Finding::new(cause, about(one), Certainty::ToBeTested, why)
        .observed(Observation::documented("IOPS", Value::Count(whole(iops))))
        .observed_if(file("queue/nr_requests", queue.requests))
        .observed_if(file("device/queue_depth", queue.depth))
        .run("randread-4k", one.path, "")
        .run("randread-4k", one.path, &format!("--set depth={needed:.0}"));
    (is_short || needed >= DEEP).then_some(finding)
}
