//! What clouds document beside figures.

use iotax_catalog::{Caching, HostCache, Note, Property};

/// What is to be known of a figure.
pub fn note(note: &Note) -> String {
    let fixed = match note {
        Note::HalfAnHourADay => "at least 30 min in 24 h",
        Note::NetworkFromCredits => "network: from credits; for how long is not documented",
        Note::WhileIoCredits => "while there are I/O credits",
        Note::IopsAreProvisioned => "IOPS are provisioned: give iops=",
        Note::RatesAreProvisioned => "IOPS and throughput are provisioned: give iops= and bw=",
        Note::NeedsSize => "depends on the size: give size=",
        Note::MostProvisionable => "what was not given is the most that can be provisioned",
        Note::MeteredOneWay => "network: what leaves is metered, what comes in is not",
        Note::NetworkEgress => "network egress",
        Note::NoPersistentDiskLimits => {
            "no limits of Persistent Disk on this machine type were found"
        }
        Note::CachedDisks => {
            "Cached disks: reads that the cache answers are not held by the disk's own limit. \
             Reads that miss it, and writes with read-only caching, are documented to count \
             against the VM's uncached limits, too; these figures do not take that off."
        }
        Note::FastBesideOthers => {
            "Premium SSD v2 or Ultra beside other disks: how they share the VM's limits is not \
             documented; the sum takes them as apart."
        }
        Note::Tabled(text) => text,
        Note::StatedAt { iops_kib, throughput_kib } => {
            return format!("IOPS stated at {iops_kib} KiB, throughput at {throughput_kib} KiB");
        }
        Note::OneFlow { bytes_per_s } => {
            let gbit = bytes_per_s * 8.0 / 1e9;
            return format!(
                "one flow: {gbit} Gbit/s between instances that are not in one cluster placement \
                 group"
            );
        }
        Note::UserGuide { figures } => {
            return format!("the user guide of 2023-05-11 says {figures} (baseline/maximum)");
        }
        Note::ThroughputWithoutCredits { io_kib } => {
            return format!(
                "throughput without credits is not documented: taken as I/Os of {io_kib} KiB at \
                 the baseline"
            );
        }
        Note::IopsRule(rule) => return format!("IOPS: {rule}"),
        Note::ThroughputRule(rule) => return format!("throughput: {rule}"),
        Note::NoLimitFor { kind } => return format!("no such limit was found for {kind}"),
        Note::OnDemandOff { disk } => {
            return format!(
                "On-demand bursting of {disk} is off, as it is unless it is turned on and paid \
                 for; {disk}:burst=on counts it."
            );
        }
        Note::BurstUnknown { of, scope } => {
            return format!("Whether {of} ({scope}) bursts is not known.");
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
        Property::TemporaryDiskGib(gib) => ("Temporary disk", format!("{gib} GiB")),
        Property::LocalNvmeGib(gib) => ("Local NVMe", format!("{gib} GiB")),
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
        Property::PersistentDiskGb(gb) => ("Persistent Disk in all", format!("{gb} GB")),
        Property::DiskType(name) => ("Type", name.clone()),
        Property::MostShares(most) => ("Shared by VMs at most", most.to_string()),
        Property::Variant(name) => ("Variant", name.clone()),
        Property::SizesGib { least, most } => ("Sizes", format!("{least} to {most} GiB")),
        Property::IopsRule(rule) => ("IOPS", rule.clone()),
        Property::ThroughputRule(rule) => ("Throughput", rule.clone()),
        Property::Promised(what) => ("Promised", what.clone()),
        Property::BaselineIops(iops) => ("Baseline of all on a VM", format!("{iops} IOPS")),
        Property::BaselineMib(mib) => ("Baseline throughput", format!("{mib} MiB/s")),
        Property::ReadIopsPerGib(iops) => ("Read IOPS per GiB", iops.to_string()),
        Property::WriteIopsPerGib(iops) => ("Write IOPS per GiB", iops.to_string()),
        Property::MibPerGib(mib) => ("Throughput per GiB", format!("{mib} MiB/s")),
        Property::MostIops(iops) => ("IOPS at most", format!("{iops} IOPS")),
        Property::MostMib(mib) => ("Throughput at most", format!("{mib} MiB/s")),
        Property::ConsoleIops(iops) => ("Console's default", format!("{iops} IOPS")),
        Property::ConsoleThroughput(amount) => {
            ("Console's default throughput", format!("{amount} (the source names no unit)"))
        }
    };
    NamedValue { name, value }
}

/// What the host caches of a disk.
pub const fn caching(caching: Caching) -> &'static str {
    match caching {
        Caching::None => "none",
        Caching::ReadOnly => "read only",
        Caching::ReadWrite => "read and write",
    }
}

/// What the host may cache of a disk.
pub const fn host_cache(possible: HostCache) -> &'static str {
    match possible {
        HostCache::Possible => "none, read only, read and write",
        HostCache::NotSupported => "not supported",
    }
}
