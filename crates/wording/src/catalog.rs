//! Documented limits: figures, notes, and conflicts between sources.

use iotax_catalog::{
    Agreement, Bound, Caching, Cloud, Conflict, Direction, HostCache, Limit, Note, Property, Rate,
    Scope,
};
use iotax_quantity::{
    bit_rate, exact, gib, grouped, iops_limit, limit_figure, mb_per_s, mib_per_s_limit,
    size as bytes, span, whole,
};

use crate::bandwidth::Unit;

const MIB: f64 = 1_048_576.0;

/// The value if the sources have none.
pub const UNKNOWN: &str = "unknown";

/// The unit of all bandwidths of a page: the one in which its limits are whole numbers, or else that
/// of most documents about these VMs.
pub fn unit_of_vms<'a>(cloud: Cloud, limits: impl Iterator<Item = &'a Limit>) -> Unit {
    unit(limits, if cloud == Cloud::Gcp { Unit::Mib } else { Unit::Mb })
}

/// The same for disks.
pub fn unit_of_disks<'a>(cloud: Cloud, limits: impl Iterator<Item = &'a Limit>) -> Unit {
    unit(limits, if cloud == Cloud::Azure { Unit::Mb } else { Unit::Mib })
}

fn unit<'a>(limits: impl Iterator<Item = &'a Limit>, usual: Unit) -> Unit {
    let rates = limits.filter_map(|limit| limit.bw_bytes.as_ref());
    Unit::of(&rates.map(|rate| rate.sustained).collect::<Vec<_>>()).unwrap_or(usual)
}

/// Bytes per second without a unit, for columns whose heading has it.
pub fn bandwidth(unit: Unit, bytes: f64) -> String {
    limit_figure(unit.amount(bytes))
}

/// How long a limit's own burst lasts.
pub fn burst_lasts(rate: &Rate) -> String {
    let Some(burst) = &rate.burst else { return String::new() };
    match burst.full_s(rate.sustained) {
        Some(seconds) => span(whole(seconds)),
        None if burst.opt_in => "opt-in".to_owned(),
        None => UNKNOWN.to_owned(),
    }
}

/// How long a burst through several limits lasts.
pub fn bound_lasts(bound: &Bound) -> String {
    let Some(burst) = &bound.burst else { return String::new() };
    burst.lasts_s.map_or_else(|| UNKNOWN.to_owned(), |seconds| span(whole(seconds)))
}

/// A bucket's name: its I/Os and its disks.
pub fn scope(limit: &Limit) -> String {
    let mut words = vec![limit.scope.to_string()];
    match limit.disk_kinds.as_slice() {
        [] => {}
        [one] => words.push(one.clone()),
        [one, other] => words.push(format!("{one} and {other}")),
        _ => words.push("all disks".to_owned()),
    }
    match limit.direction {
        Direction::Both => {}
        Direction::Read => words.push("reads".to_owned()),
        Direction::Write => words.push("writes".to_owned()),
    }
    words.join(", ")
}

/// Size of memory or a disk, in GiB as in documents.
pub fn size(bytes: u64) -> String {
    const GIB: f64 = 1_073_741_824.0;
    gib(bytes as f64 / GIB)
}

/// Published figures that contradict the catalog's sources.
pub fn conflict(conflict: &Conflict) -> String {
    let Conflict { claimed_by, name, size_bytes, scope, explanation, .. } = conflict;
    let of_size = size_bytes.map(|bytes| format!(" with {}", size(bytes))).unwrap_or_default();
    let pair = |iops: Option<f64>, bytes: Option<f64>| {
        let iops = iops.map(iops_limit);
        let bytes = bytes.map(mb_per_s);
        let known: Vec<String> = iops.into_iter().chain(bytes).collect();
        (!known.is_empty()).then(|| known.join(" and "))
    };
    let steady = pair(conflict.iops, conflict.bw_bytes);
    let bursts = pair(conflict.burst_iops, conflict.burst_bw_bytes);
    let bursts = bursts.map(|pair| format!("bursts of {pair}"));
    let figures: Vec<String> = steady.into_iter().chain(bursts).collect();
    let figures = figures.join(", ");
    format!(
        "Conflict: {} gives {figures} for {name}{of_size} ({scope}), but {explanation}.",
        claimed_by.text
    )
}

/// The names that these figures belong to.
pub fn belongs_to(names: &[String]) -> Option<String> {
    let (first, others) = names.split_first()?;
    let also = match others {
        [] => String::new(),
        _ => format!(" (and to {})", others.join(", ")),
    };
    Some(format!("These figures apply to {first}{also}."))
}

/// How a user's figure compares with the catalog.
pub const fn agreement(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Same => "same",
        Agreement::Differs => "differs",
        Agreement::Unconfirmed => "not all figures are in the catalog",
        Agreement::Unknown => "unknown",
    }
}

/// A number of figures: `3 different from the catalog`.
pub fn agree(agreement: Agreement, count: u64) -> String {
    let words = match agreement {
        Agreement::Same => "the same",
        Agreement::Differs => "different from the catalog",
        Agreement::Unconfirmed => "only partly in the catalog",
        Agreement::Unknown => "not in the catalog",
    };
    format!("{} {words}", grouped(count))
}

/// A note about a limit that is not documented.
pub fn unknown(of: &str, scope: Scope, rate: &str) -> String {
    format!("{of} ({scope}): the {rate} limit is unknown and may be lower than the known limits.")
}

pub fn none_found(title: &str) -> String {
    format!("{title}: none found in the sources.")
}

pub const NO_NETWORK_LIMITS: &str = "Network: no limits were found in the sources.";

/// A note about a figure.
pub fn note(note: &Note) -> String {
    let fixed = match note {
        Note::HalfAnHourADay => "for at least 30 min in every 24 h",
        Note::NetworkFromCredits => {
            "the network uses credits; how long they last is not documented"
        }
        Note::WhileIoCredits => "while I/O credits last",
        Note::IopsAreProvisioned => "IOPS are provisioned: specify iops=",
        Note::RatesAreProvisioned => "IOPS and throughput are provisioned: specify iops= and bw=",
        Note::NeedsSize => "depends on the size: specify size=",
        Note::MostProvisionable => {
            "each value that is not specified is assumed to be the maximum that can be provisioned"
        }
        Note::MeteredOneWay => "network: only outgoing data counts toward the limit",
        Note::NetworkEgress => "network egress",
        Note::NoPersistentDiskLimits => {
            "no Persistent Disk limits were found for this machine type"
        }
        Note::CachedDisks => {
            "Cached disks: reads served by the cache do not count against the disk's own limit. \
             According to the documentation, cache misses also count against the VM's uncached \
             limits, and so do writes to disks with read-only caching. These figures do not \
             include that effect."
        }
        Note::FastBesideOthers => {
            "It is not documented how Premium SSD v2 or Ultra disks share the VM's limits with \
             other disks. The sum treats the VM's limits for the two groups as separate."
        }
        Note::Tabled(text) => text,
        Note::StatedAt { iops_kib, throughput_kib } => {
            let [iops, throughput] = [iops_kib, throughput_kib].map(|kib| bytes(kib << 10));
            return format!(
                "IOPS are stated for {iops} I/Os, and throughput for {throughput} I/Os"
            );
        }
        Note::OneFlow { bytes_per_s } => {
            return format!(
                "one flow: {} between instances that are not in the same cluster placement group",
                bit_rate(bytes_per_s * 8.0)
            );
        }
        Note::UserGuide { figures } => {
            return format!("the user guide from 2023-05-11 gives {figures} (baseline/maximum)");
        }
        Note::ThroughputWithoutCredits { io_kib } => {
            return format!(
                "throughput without credits is not documented; iotax computes it from {} I/Os at \
                 the baseline rate",
                bytes(io_kib << 10)
            );
        }
        Note::IopsRule(rule) => return format!("IOPS: {rule}"),
        Note::ThroughputRule(rule) => return format!("throughput: {rule}"),
        Note::NoLimitFor { kind } => {
            return format!("no VM limit for {kind} was found in the sources");
        }
        Note::OnDemandOff { disk } => {
            return format!(
                "On-demand bursting is off for {disk} by default, because it costs extra. Use \
                 {disk}:burst=on to include it."
            );
        }
        Note::BurstUnknown { of, scope } => {
            return format!("It is not known whether {of} ({scope}) can burst.");
        }
    };
    fixed.to_owned()
}

/// A property and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedValue {
    pub name: &'static str,
    pub value: String,
}

pub fn property(property: &Property) -> NamedValue {
    let yes = |is: &bool| if *is { "yes" } else { "no" }.to_owned();
    let (name, value) = match property {
        Property::TemporaryDiskGib(size) => ("Temporary disk", gib(*size)),
        Property::LocalNvmeGib(size) => ("Local NVMe", gib(*size)),
        Property::LocalNvmeDisks(count) => ("Local NVMe disks", count.to_string()),
        Property::DiskControllers(names) => ("Disk controllers", names.clone()),
        Property::EphemeralOsDiskOn(storage) => ("Ephemeral OS disk on", storage.clone()),
        Property::UltraDisks(can) => ("Ultra disks", yes(can)),
        Property::ConfidentialType(name) => ("Confidential", name.clone()),
        Property::ConstrainedFrom(size) => ("Constrained from", size.clone()),
        Property::Retires(date) => ("Retires", date.clone()),
        Property::Family(name) => ("Family", name.clone()),
        Property::InstanceStore(has) => ("Instance store", yes(has)),
        Property::Hypervisor(name) => ("Hypervisor", name.clone()),
        Property::BareMetal(is) => ("Bare metal", yes(is)),
        Property::SharedCpu => ("Shared CPU", yes(&true)),
        Property::PersistentDiskGb(gb) => ("Total Persistent Disk", format!("{gb} GB")),
        Property::DiskType(name) => ("Type", name.clone()),
        Property::MostShares(most) => ("Maximum number of VMs", most.to_string()),
        Property::Variant(name) => ("Variant", name.clone()),
        Property::SizesGib { least, most } => {
            ("Sizes", format!("{} to {}", exact(*least), gib(*most)))
        }
        Property::IopsRule(rule) => ("IOPS", rule.clone()),
        Property::ThroughputRule(rule) => ("Throughput", rule.clone()),
        Property::Promised(what) => ("Promised", what.clone()),
        Property::BaselineIops(iops) => ("Baseline per VM", iops_limit(*iops)),
        Property::BaselineMib(mib) => ("Baseline throughput", mib_per_s_limit(mib * MIB)),
        Property::ReadIopsPerGib(iops) => ("Read IOPS per GiB", iops.to_string()),
        Property::WriteIopsPerGib(iops) => ("Write IOPS per GiB", iops.to_string()),
        Property::MibPerGib(mib) => ("Throughput per GiB", mib_per_s_limit(mib * MIB)),
        Property::MostIops(iops) => ("Maximum IOPS", iops_limit(*iops)),
        Property::MostMib(mib) => ("Maximum throughput", mib_per_s_limit(mib * MIB)),
        Property::ConsoleIops(iops) => ("Console default", iops_limit(*iops)),
        Property::ConsoleThroughput(amount) => {
            ("Console default throughput", format!("{amount} (the source does not state a unit)"))
        }
    };
    NamedValue { name, value }
}

/// The host's cache mode of a disk.
pub const fn caching(caching: Caching) -> &'static str {
    match caching {
        Caching::None => "none",
        Caching::ReadOnly => "read only",
        Caching::ReadWrite => "read and write",
    }
}

/// The host's possible cache modes of a disk.
pub const fn host_cache(possible: HostCache) -> &'static str {
    match possible {
        HostCache::Possible => "none, read-only or read-write",
        HostCache::NotSupported => "not supported",
    }
}
