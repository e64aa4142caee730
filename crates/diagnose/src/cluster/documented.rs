//! Documented limits of the volumes of a class, by their kind and size.

use std::collections::BTreeMap;

use iotax_catalog::{Disk, Scope, disk};
use iotax_record::cluster::{ClassSeen, ClusterSeen};

use super::classes::{claims, field, of_class};
use super::disks::{disk_name, disk_of, kind};
use super::why::ClusterWhy;
use crate::machine::limits::{burst_cause, limit_cause, own_burst};
use crate::machine::{BurstFor, Certainty, Field, Finding, Names, Observation, Value};

const GIB: u64 = 1 << 30;
/// Size of a volume where there is none yet.
const EXAMPLE_BYTES: u64 = 100 * GIB;
/// Sizes that a finding tells of at most.
const SIZES: usize = 4;
/// Claims of a size that it names.
const NAMED: usize = 2;

pub(super) fn limits_of_volumes(seen: &ClusterSeen) -> Vec<Finding> {
    seen.classes.iter().filter_map(|class| of_one(seen, class)).collect()
}

fn of_one(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    let (kind, said_by) = kind(class)?;
    // Disks in use, each with its claims; the smallest first.
    let mut used: BTreeMap<(u64, String), Vec<String>> = BTreeMap::new();
    for claim in claims(seen, class) {
        let Some(disk) = disk_of(seen, claim) else { continue };
        used.entry(disk).or_default().push(claim.full_name());
    }
    if used.is_empty() {
        used.insert((EXAMPLE_BYTES, disk_name(class, EXAMPLE_BYTES)?), Vec::new());
    }
    let known =
        |((bytes, name), claims): ((u64, String), _)| Some((bytes, claims, disk(&name).ok()?));
    let disks: Vec<(u64, Vec<String>, Disk)> = used.into_iter().filter_map(known).collect();
    let (bytes, _, smallest) = disks.first()?;
    let (gib, burst) = (bytes.div_ceil(GIB), burst(smallest));
    let of_burst = burst.and_then(|_| burst_cause(smallest.cloud, Scope::Disk));
    let cause = of_burst.unwrap_or(limit_cause(smallest.cloud, Scope::Disk));
    let (certainty, asked, why) = if let Some(burst) = burst {
        (Certainty::Likely, " --burst=40m", ClusterWhy::Burst { gib, burst })
    } else {
        let disk = Box::new(smallest.clone());
        (Certainty::ToBeTested, "", ClusterWhy::Limit { gib, disk })
    };
    let name = said_by.map_or(Field::DriversChoice, |name| Field::Parameter(name.to_owned()));
    of_class(cause, class, certainty, why)
        .observed(field(class, name, &kind))
        .observed_all(disks.into_iter().take(SIZES).map(|(_, claims, disk)| observed(claims, disk)))
        .command(format!("iotax kube limits --class {} --size {gib}G{asked}", class.name))
        .into()
}

/// `documented limits, P10 (bench/a, bench/b and 3 more): 500 IOPS, 100 MB/s`.
fn observed(claims: Vec<String>, disk: Disk) -> Observation {
    let field = Field::DiskOf { disk: disk.name.clone(), claims: Names::of(claims, NAMED) };
    Observation::documented(field, Value::DiskLimits(Box::new(disk)))
}

/// A burst that needs nobody's consent, if there is one.
fn burst(disk: &Disk) -> Option<BurstFor> {
    let mut rates = disk.limits.iter().flat_map(|limit| limit.iops.iter().chain(&limit.bw_bytes));
    rates.find_map(|rate| {
        let burst = own_burst(rate)?;
        let lasts_s = burst.full_s(rate.sustained).filter(|seconds| seconds.is_finite());
        Some(BurstFor { per_s: burst.per_s, lasts_s })
    })
}
