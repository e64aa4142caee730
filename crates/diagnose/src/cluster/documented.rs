//! Documented limits of the volumes of a class, by their kind and size.

use std::collections::BTreeMap;

use iotax_catalog::{Cloud, Disk, disk};
use iotax_quantity::span;
use iotax_record::cluster::{ClassSeen, ClusterSeen};

use super::classes::{claims, field, of_class};
use super::disks::{disk_name, disk_of, kind};
use super::figures::figures;
use super::found::{Found, Of};
use crate::machine::{Certainty, Finding, Observation};

const GIB: u64 = 1 << 30;
/// Size of a volume where there is none yet.
const EXAMPLE_BYTES: u64 = 100 * GIB;
/// Sizes that a finding tells of at most.
const SIZES: usize = 4;
/// Claims of a size that it names.
const NAMED: usize = 2;

pub(super) fn find(seen: &ClusterSeen) -> Found {
    let of = |class| of_one(seen, class).map(|one| (Of::Class(class.name.clone()), one));
    seen.classes.iter().filter_map(of).collect()
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
    let disks: Vec<(u64, Vec<String>, Disk)> = used
        .into_iter()
        .filter_map(|((bytes, name), claims)| Some((bytes, claims, disk(&name).ok()?)))
        .collect();
    let (bytes, _, smallest) = disks.first()?;
    let burst = burst(smallest);
    let cause = match (smallest.cloud, burst.is_some()) {
        (Cloud::Azure, true) => "azure-burst",
        (Cloud::Azure, false) => "azure-disk-limit",
        (Cloud::Aws, true) => "ebs-volume-burst",
        (Cloud::Aws, false) => "ebs-volume-limit",
        (Cloud::Gcp, _) => "gcp-disk-limit",
    };
    let certainty = if burst.is_some() { Certainty::Likely } else { Certainty::ToBeTested };
    let size = format!("{} GiB", bytes.div_ceil(GIB));
    let why = match burst {
        Some(lasts) => format!(
            "A volume of {size} of {} has its burst {lasts}, then what its size gives it: a short \
             benchmark measures the burst.",
            class.name
        ),
        None => format!(
            "A volume of {size} of {} has {}, whatever is below.",
            class.name,
            figures(smallest)
        ),
    };
    let asked = if cause.ends_with("burst") { " --burst=40m" } else { "" };
    let command =
        format!("iotax kube limits --class {} --size {}G{asked}", class.name, bytes.div_ceil(GIB));
    let name = said_by.map_or_else(
        || "kind, the driver's own choice".to_owned(),
        |name| format!("parameters, {name}"),
    );
    let mut finding = of_class(cause, class, certainty, why)
        .observed(field(class, &name, &kind))
        .command(command);
    finding.seen.extend(disks.iter().take(SIZES).map(|(_, claims, disk)| observed(claims, disk)));
    Some(finding)
}

/// `documented limits, P10 (bench/a, bench/b and 3 more): 500 IOPS, 100 MB/s`.
fn observed(claims: &[String], disk: &Disk) -> Observation {
    let (first, rest) = claims.split_at(claims.len().min(NAMED));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let of = match first {
        [] => format!("{}, as an example", disk.name),
        _ => format!("{} ({}{more})", disk.name, first.join(", ")),
    };
    Observation::documented(of, figures(disk))
}

/// How long a burst lasts that needs nobody's consent, if there is one: `for 30 min`.
fn burst(disk: &Disk) -> Option<String> {
    let mut rates = disk.limits.iter().flat_map(|limit| limit.iops.iter().chain(&limit.bw_bytes));
    rates.find_map(|rate| {
        let burst = rate.burst.as_ref().filter(|burst| !burst.opt_in)?;
        let full = burst.full_s(rate.sustained).filter(|seconds| seconds.is_finite());
        let full = full.map(|seconds| format!("for {}", span(iotax_quantity::whole(seconds))));
        Some(full.unwrap_or_else(|| "for a while".to_owned()))
    })
}
