//! What a search for caps says of causes.
//!
//! | module | of |
//! |---|---|
//! | `path` | the caps of a network path; one limit for several targets |

mod path;

use iotax_caps::{Cap, CapKind, Caps, Obstacle, SecondPass, TargetCaps};
use iotax_catalog::{Cloud, Scope};
use iotax_experiment::documented::{Documented, LimitBy};
use iotax_record::SearchHead;

use crate::machine::Counted;
use crate::machine::limits::limit_cause;
use crate::measured::suspect::{Confidence, Diagnosis, SearchEvidence, Suspect};

/// So many times as fast is a cache, and no chance.
const MANY_TIMES: f64 = 2.0;

/// The causes that are named here.
pub(crate) const CAUSES: [&str; 19] = [
    "azure-disk-limit",
    "azure-vm-limit",
    "burst-spent",
    "cache-answers",
    "cgroup-io-max",
    "cpu-bound",
    "ebs-instance-limit",
    "ebs-volume-limit",
    "gcp-disk-limit",
    "saturated-device",
    "shaper-in-path",
    "shared-limit",
    "storage-shares-network",
    "tcp-buffers",
    "throttle",
    "vm-flow-limit",
    "vm-network-burst",
    "vm-network-limit",
    "vm-packet-limit",
];

/// What is suspected of each target; those of which nothing is are left out.
pub fn of_search(asked: &SearchHead, caps: &Caps) -> Vec<Diagnosis> {
    let of_target = |target: &TargetCaps| {
        // Of what is as sure, that which has a name or another target in it says more than a cap
        // does by itself. A search measures no shares of an I/O's time.
        let (named, unnamed) = if target.path.is_empty() {
            limits(asked, target, caps)
        } else {
            path::limits(target, caps, provider(asked))
        };
        let shared = path::shared(target, caps);
        let mut suspects = Vec::new();
        for suspect in [named, cached(target), shared, bursts(target), unnamed, computed(target)]
            .into_iter()
            .flatten()
        {
            Suspect::merge(&mut suspects, suspect);
        }
        Diagnosis::of(&target.name, suspects)
    };
    caps.targets.iter().filter_map(of_target).collect()
}

/// What holds each of its caps: limits that are known and fit, and what the others look like.
fn limits(asked: &SearchHead, target: &TargetCaps, caps: &Caps) -> (Vec<Suspect>, Vec<Suspect>) {
    let (mut by_name, mut by_shape) = (Vec::new(), Vec::new());
    for (cap, is_bytes) in [(&target.iops, false), (&target.bw_bytes, true)] {
        let Some(cap) = cap else { continue };
        let fits = |row: &&Documented| row.is_of(&target.name) && row.is_bytes() == is_bytes;
        match caps.documented.iter().find(fits).and_then(|row| named(asked, cap, row)) {
            Some(suspect) => Suspect::merge(&mut by_name, suspect),
            None => Suspect::merge(&mut by_shape, unnamed(target, cap)),
        }
    }
    (by_name, by_shape)
}

/// A limit that is documented, or that this machine sets. That a figure is the same may be chance:
/// it counts for as much as the cap looks like a limiter's.
fn named(asked: &SearchHead, cap: &Cap, documented: &Documented) -> Option<Suspect> {
    let limit = documented.binding()?;
    let is_here = limit.by == LimitBy::Cgroup;
    let to_blame = match (&limit.by, provider(asked)) {
        (LimitBy::Cgroup, _) => "cgroup-io-max",
        (LimitBy::Documented(scope), Some(cloud)) => limit_cause(cloud, *scope),
        (_, Some(cloud)) => limit_cause(cloud, Scope::Instance),
        (_, None) => "throttle",
    };
    let (confidence, against) = match cap.kind {
        CapKind::Throttle => (Confidence::Sure, None),
        CapKind::External if is_here => (Confidence::Sure, None),
        CapKind::External => (Confidence::Likely, Some(reason(cap))),
        CapKind::SaturatedDevice | CapKind::ThisMachine => {
            (Confidence::Possible, Some(reason(cap)))
        }
    };
    let source = SearchEvidence::Source { of: limit.of.clone(), source: limit.source.clone() };
    let suspect = Suspect::new(to_blame, confidence, SearchEvidence::Beside(documented.clone()));
    Some(suspect.and([source]).but(against))
}

/// Whose limits were asked for.
fn provider(asked: &SearchHead) -> Option<Cloud> {
    let of_vm = |name: &str| Some(iotax_catalog::vm(name).ok()?.first()?.cloud);
    let of_disk = |text: &String| Some(iotax_catalog::disk(text).ok()?.cloud);
    let cloud = &asked.opened.cloud;
    cloud.vm.as_deref().and_then(of_vm).or_else(|| cloud.disks.iter().find_map(of_disk))
}

fn unnamed(target: &TargetCaps, cap: &Cap) -> Suspect {
    let (to_blame, confidence) = match cap.kind {
        CapKind::Throttle => ("throttle", Confidence::Sure),
        // A search drives every device to its end: that it came there accuses none.
        CapKind::SaturatedDevice => ("saturated-device", Confidence::Possible),
        CapKind::ThisMachine => ("cpu-bound", Confidence::Likely),
        CapKind::External => ("throttle", Confidence::Possible),
    };
    let depth = target.useful_depth;
    let depth = depth.map(|depth| SearchEvidence::DeeperBroughtNoMore { depth });
    Suspect::new(to_blame, confidence, reason(cap)).and(depth)
}

/// Caps that this machine was too busy to come to.
fn computed(target: &TargetCaps) -> Vec<Suspect> {
    let here = target.unreached.iter().filter_map(|cap| match &cap.obstacle {
        Obstacle::ThisMachine(busy) => Some(SearchEvidence::Busy(busy.clone())),
        Obstacle::OtherCap(_) | Obstacle::Time => None,
    });
    here.map(|busy| Suspect::new("cpu-bound", Confidence::Likely, busy)).collect()
}

/// Credits that ran out during the search.
fn bursts(target: &TargetCaps) -> Vec<Suspect> {
    let with_burst = |(cap, counted): (&Option<Cap>, Counted)| {
        let (cap, burst) = cap.as_ref().and_then(|cap| Some((cap, cap.burst.as_ref()?)))?;
        let (times, lasted_s) = (burst.per_s / cap.cap, burst.lasted_s);
        let evidence = SearchEvidence::Burst { counted, times, lasted_s };
        Some(Suspect::new("burst-spent", Confidence::Sure, evidence))
    };
    let both = [(&target.iops, Counted::Iops), (&target.bw_bytes, Counted::Bytes)];
    both.into_iter().filter_map(with_burst).collect()
}

/// Reads that something above the disk answered.
fn cached(target: &TargetCaps) -> Vec<Suspect> {
    // No more than what the cap itself is uncertain by is no cache.
    let caps = target.iops.iter().chain(&target.bw_bytes);
    let uncertain = caps.map(|cap| cap.hi / cap.lo).fold(1.0, f64::max);
    let is_hit = |second: &&SecondPass| second.hits && second.ratio > uncertain;
    let Some(second) = target.second_pass.as_ref().filter(is_hit) else { return Vec::new() };
    let is_clear = second.ratio > MANY_TIMES;
    let confidence = if is_clear { Confidence::Sure } else { Confidence::Possible };
    let evidence = SearchEvidence::ReadAgain {
        times: second.ratio,
        bytes_per_s: second.bw_bytes,
        latency_ns: second.mean_latency_ns,
    };
    vec![Suspect::new("cache-answers", confidence, evidence)]
}

fn reason(cap: &Cap) -> SearchEvidence {
    SearchEvidence::Cap(cap.reason.clone())
}
