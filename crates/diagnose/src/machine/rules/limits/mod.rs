//! Documented limits of the VM and its disks: which binds, what bursts, what lies close together.
//! All of it in I/Os and in bytes per second.
//!
//! | module | idea |
//! |---|---|
//! | `quantity` | I/Os and bytes per second, and their figures for people |
//! | `binding` | the limit that binds |
//! | `bursts` | credits |

mod binding;
mod bursts;
mod quantity;

use iotax_catalog::{Direction, DiskExpectation, Limit};
use iotax_quantity::{grouped, whole};
use iotax_record::machine::GroupIoLimits;

pub(super) use self::binding::{binding, shared_bucket};
pub(super) use self::bursts::bursts;
pub(super) use self::quantity::observed;
use self::quantity::{QUANTITIES, about, name};
use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Attached, Snapshot};

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

fn in_flight(iops: f64) -> String {
    let depth = depth(iops);
    if depth == 1.0 { "1 I/O".to_owned() } else { format!("{depth:.0} I/Os") }
}

/// What a control group allows of reads, by quantity.
const OF_GROUPS: [fn(&GroupIoLimits) -> Option<f64>; 2] =
    [|limits| limits.read_iops, |limits| limits.read_bw_bytes];

/// The two least limits of a path, if they are close: of I/Os, of bytes, or of both.
pub(super) fn stacked(
    seen: &Snapshot<'_>,
    one: &Attached<'_>,
    documented: &DiskExpectation,
) -> Option<Finding> {
    let reads = |limit: &&Limit| limit.direction.counts(Direction::Read);
    let mut whys = Vec::new();
    let mut observations = Vec::new();
    for (quantity, of_group) in QUANTITIES.into_iter().zip(OF_GROUPS) {
        let of_documents = documented.limits.iter().filter(reads).filter_map(|limit| {
            Some(((quantity.of)(limit)?.sustained, name(limit), "documented limits"))
        });
        let groups = seen.machine.groups.io.iter().filter(|limits| limits.path == one.path);
        let of_groups = groups
            .filter_map(|limits| Some((of_group(limits)?, limits.group.clone(), &*limits.file)));
        let mut all: Vec<_> = of_documents.chain(of_groups).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [least, next, ..] = all.as_slice() else { continue };
        if next.0 > least.0 * (1.0 + CLOSE) {
            continue;
        }
        let [low, high] = [least, next].map(|limit| quantity.figure(limit.0));
        whys.push(format!("{} ({low}) and {} ({high}) are close.", least.1, next.1));
        observations.push(Observation::field(least.2, least.1.clone(), low));
        observations.push(Observation::field(next.2, next.1.clone(), high));
    }
    let why = format!(
        "{} Lifting the first changes little, and what costs less than the gap does not show.",
        whys.join(" ")
    );
    let mut finding = Finding::new("stacked-limits", about(one), Certainty::ToBeTested, why)
        .limits(&seen.options(one), one.path);
    finding.seen = observations;
    (!whys.is_empty()).then_some(finding)
}

/// Queues that are shorter than the documented IOPS need, and depths that need attention.
pub(super) fn depths(
    _: &Snapshot<'_>,
    one: &Attached<'_>,
    documented: &DiskExpectation,
) -> Option<Finding> {
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
    let instead = match takes {
        Some(takes) if is_short => format!(" Its queue takes {takes}."),
        _ => " A program with one thread and no asynchronous I/O has one.".to_owned(),
    };
    let why = format!(
        "{} IOPS, the least documented limit, need {} in flight at 1 ms, which is an \
         assumption.{instead}",
        grouped(whole(iops)),
        in_flight(iops)
    );
    let file = |name: &str, value: Option<u64>| {
        value.map(|value| Observation::block(one.device, name, value.to_string()))
    };
    let finding = Finding::new(cause, about(one), Certainty::ToBeTested, why)
        .observed(Observation::documented("IOPS", grouped(whole(iops))))
        .observed_if(file("queue/nr_requests", queue.requests))
        .observed_if(file("device/queue_depth", queue.depth))
        .run("randread-4k", one.path, "")
        .run("randread-4k", one.path, &format!("--set depth={needed:.0}"));
    (is_short || needed >= DEEP).then_some(finding)
}
