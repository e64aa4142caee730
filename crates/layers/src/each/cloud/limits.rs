//! Documented limits as throttles.

use iotax_catalog::{Direction, DiskExpectation, Limit, Rate, Scope};

use super::part::{CloudPart, PartLayer, without_caching};
use crate::each::throttle::{Counts, Throttle};

/// The throttles of a disk: first its own, then the shared ones above them.
pub(super) fn throttles(
    expected: &DiskExpectation,
    credits: f64,
    notes: &mut Vec<String>,
) -> Vec<CloudPart> {
    let name = &expected.disk.name;
    let is_shared = |limit: &&Limit| limit.scope != Scope::Disk || limit.of != *name;
    let (shared, own): (Vec<_>, Vec<_>) = expected.limits.iter().partition(is_shared);
    let own = own.into_iter().map(|limit| (limit, None));
    let shared = shared.into_iter().map(|limit| (limit, Some(group(limit))));
    own.chain(shared)
        .flat_map(|(limit, group)| of_limit(limit, group.as_deref(), credits, notes))
        .collect()
}

/// Throttles for limits of the VM.
pub(super) fn of_vm(limits: &[&Limit], notes: &mut Vec<String>) -> Vec<CloudPart> {
    limits.iter().flat_map(|limit| of_limit(limit, Some(&group(limit)), 1.0, notes)).collect()
}

/// The name of a VM's bucket, the same for all its disks.
fn group(limit: &Limit) -> String {
    let scope = match limit.scope {
        Scope::Disk => "disks",
        Scope::VmCached => "cached",
        Scope::VmUncached => "uncached",
        Scope::VmTemporary => "temporary",
        Scope::LocalNvme => "nvme",
        Scope::Instance => "instance",
        Scope::Network | Scope::NetworkFlow => "network",
    };
    let direction = match limit.direction {
        Direction::Both => None,
        Direction::Read => Some("reads"),
        Direction::Write => Some("writes"),
    };
    let kinds = limit.disk_kinds.iter().map(String::as_str);
    let words = [limit.of.as_str(), scope].into_iter().chain(kinds).chain(direction);
    words.collect::<Vec<_>>().join("-").replace(' ', "-")
}

/// A sustained rate and its burst.
#[derive(Clone, Copy)]
struct Modelled {
    sustained: f64,
    /// Burst rate, and how long full credits last at it in nanoseconds.
    burst: Option<(f64, u64)>,
}

fn of_limit(
    limit: &Limit,
    group: Option<&str>,
    credits: f64,
    notes: &mut Vec<String>,
) -> Vec<CloudPart> {
    let what = format!("{} limit of {}", limit.scope, without_caching(&limit.of));
    let mut model = |rate: &Option<Rate>, unit: &str| {
        let rate = rate.as_ref()?;
        Some(modelled(rate, credits, |lack| notes.push(format!("{what}: {lack} {unit}"))))
    };
    let iops = model(&limit.iops, "I/Os per second");
    let bw = model(&limit.bw_bytes, "bytes per second");
    let alike = match (iops.and_then(|rate| rate.burst), bw.and_then(|rate| rate.burst)) {
        (Some((_, iops_ns)), Some((_, bw_ns))) => iops_ns == bw_ns,
        _ => true,
    };
    // Credits are a duration, one for both rates of a throttle.
    let pairs =
        if alike { vec![(iops, bw, "")] } else { vec![(iops, None, "-iops"), (None, bw, "-bw")] };
    let pairs: Vec<_> = pairs.into_iter().filter(|(iops, bw, _)| iops.or(*bw).is_some()).collect();
    if pairs.is_empty() {
        notes.push(format!("{what}: not documented, so not applied"));
    }
    let sources = [Some(&limit.source), limit.burst_source.as_ref()];
    let part = |(iops, bw, suffix): (Option<Modelled>, Option<Modelled>, &str)| {
        let throttle = Throttle {
            iops: iops.map(|rate| rate.sustained),
            bw_bytes: bw.map(|rate| rate.sustained),
            burst_iops: burst_rate(iops),
            burst_bw_bytes: burst_rate(bw),
            credits_ns: [iops, bw].into_iter().flatten().find_map(|rate| rate.burst).map(|b| b.1),
            io_unit_bytes: limit.io_unit_bytes.filter(|_| iops.is_some()),
            counts: match limit.direction {
                Direction::Both => Counts::Both,
                Direction::Read => Counts::Reads,
                Direction::Write => Counts::Writes,
            },
            group: group.map(|group| format!("{group}{suffix}")),
        };
        let sources = sources.into_iter().flatten().cloned().collect();
        CloudPart { layer: PartLayer::Throttle(throttle), what: what.clone(), sources }
    };
    pairs.into_iter().map(part).collect()
}

fn burst_rate(rate: Option<Modelled>) -> Option<f64> {
    Some(rate?.burst?.0)
}

/// Calls `lacks` if a burst is left out.
fn modelled(rate: &Rate, credits: f64, lacks: impl FnOnce(String)) -> Modelled {
    let sustained = rate.sustained;
    let without = Modelled { sustained, burst: None };
    let Some(burst) = &rate.burst else { return without };
    let per_s = burst.per_s;
    // The notes of the expectation say that it is off.
    if burst.opt_in {
        return without;
    }
    let Some(full_s) = burst.full_s(sustained) else {
        lacks(format!(
            "the burst duration is not documented, so iotax does not simulate a burst to {per_s}"
        ));
        return without;
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and centuries saturate"
    )]
    let credits_ns = (full_s * credits * 1e9).round() as u64;
    Modelled { sustained, burst: (credits_ns > 0).then_some((per_s, credits_ns)) }
}
