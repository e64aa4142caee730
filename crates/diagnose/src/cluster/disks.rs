//! What the catalogue of documented limits knows of the volumes of a class.

use iotax_catalog::{Caching, Disk, attached_disk, azure_disk_of, disk};
use iotax_record::cluster::{ClaimSeen, ClassSeen, ClusterSeen, VolumeSeen};

use super::figures::figures;

const GIB: u64 = 1 << 30;

/// Drivers whose disks are documented, and what they make if they are told no kind.
const EBS: [&str; 2] = ["ebs.csi.aws.com", "kubernetes.io/aws-ebs"];
const GCP: [&str; 2] = ["pd.csi.storage.gke.io", "kubernetes.io/gce-pd"];
const AZURE: [&str; 2] = ["disk.csi.azure.com", "kubernetes.io/azure-disk"];

/// What the driver of a class is told; names of parameters have no case.
pub(super) fn parameter<'a>(class: &'a ClassSeen, names: &[&str]) -> Option<&'a str> {
    let is_named = |key: &str| names.iter().any(|name| key.eq_ignore_ascii_case(name));
    let found = class.parameters.iter().find(|(key, _)| is_named(key));
    found.map(|(_, value)| value.as_str())
}

/// Whether the disks of a class are of one zone.
pub(super) fn is_zonal(class: &ClassSeen) -> bool {
    let provisioner = class.provisioner.as_str();
    let kind = parameter(class, &["skuName", "storageAccountType", "replication-type"]);
    let is_replicated = kind.is_some_and(|kind| kind.ends_with("ZRS") || kind == "regional-pd");
    [EBS, GCP, AZURE].concat().contains(&provisioner) && !is_replicated
}

/// The kind of disk that a class makes, and the parameter that says so; without one it is the
/// driver's choice. `None` where it is not known.
pub(super) fn kind(class: &ClassSeen) -> Option<(String, Option<&'static str>)> {
    let provisioner = class.provisioner.as_str();
    let (name, keys, default): (_, &[&str], _) = match () {
        () if provisioner == EBS[0] => ("type", &["type"], "gp3"),
        () if provisioner == EBS[1] => ("type", &["type"], "gp2"),
        () if GCP.contains(&provisioner) => ("type", &["type"], "pd-standard"),
        () if AZURE.contains(&provisioner) => {
            ("skuName", &["skuName", "storageAccountType"], "StandardSSD_LRS")
        }
        () => return None,
    };
    let said = parameter(class, keys);
    Some((said.unwrap_or(default).to_owned(), said.map(|_| name)))
}

/// A volume of so many bytes of a class, as the catalogue names it: `gp3:size=100G`, `P10`.
pub(super) fn disk_name(class: &ClassSeen, bytes: u64) -> Option<String> {
    let (kind, _) = kind(class)?;
    if AZURE.contains(&class.provisioner.as_str()) {
        return azure_disk_of(&kind, None, bytes);
    }
    let gib = bytes.div_ceil(GIB);
    let iops = parameter(class, &["iops"]).map(str::to_owned).or_else(|| {
        let of_each: u64 = parameter(class, &["iopsPerGB"])?.parse().ok()?;
        Some(of_each.saturating_mul(gib).to_string())
    });
    let iops = iops.map_or_else(String::new, |iops| format!(",iops={iops}"));
    let throughput = parameter(class, &["throughput"]);
    let throughput = throughput.map_or_else(String::new, |mib| format!(",bw={mib}M"));
    Some(format!("{kind}:size={gib}G{iops}{throughput}"))
}

/// What the class says of the host's cache.
pub(super) fn caching(class: &ClassSeen) -> Caching {
    let said = parameter(class, &["cachingMode"]).and_then(Caching::parse);
    // The driver caches reads, unless it is told otherwise.
    let is_azure = AZURE.contains(&class.provisioner.as_str());
    said.unwrap_or(if is_azure { Caching::ReadOnly } else { Caching::None })
}

/// The same as the catalogue writes it, if anything is cached.
pub(super) fn caching_word(class: &ClassSeen) -> Option<&'static str> {
    match caching(class) {
        Caching::None => None,
        Caching::ReadOnly => Some("readonly"),
        Caching::ReadWrite => Some("readwrite"),
    }
}

/// As the class of its attributes has changed it.
fn as_it_is(seen: &ClusterSeen, class: &ClassSeen, volume: Option<&VolumeSeen>) -> ClassSeen {
    let changed = volume.and_then(|volume| volume.attributes_class.as_ref());
    let changed = seen.attributes.iter().find(|one| Some(&one.name) == changed);
    let mut class = class.clone();
    for (key, value) in changed.into_iter().flat_map(|one| &one.parameters) {
        class.parameters.retain(|known, _| !known.eq_ignore_ascii_case(key));
        class.parameters.insert(key.clone(), value.clone());
    }
    class
}

/// The disk under a claim, as the catalogue names it and with its caching, if it is known there.
pub fn claim_disk(seen: &ClusterSeen, claim: &ClaimSeen) -> Option<(String, Caching)> {
    let class = seen.class(claim.class.as_deref()?)?;
    let volume = claim.volume.as_deref().and_then(|name| seen.volume(name));
    let bytes = volume.and_then(|volume| volume.bytes).or(claim.bytes)?;
    let class = as_it_is(seen, class, volume);
    let name = disk_name(&class, bytes)?;
    let (_, caching) = attached_disk(&name, caching(&class)).ok()?;
    Some((name, caching))
}

/// What is documented of a disk, in short: `300 IOPS, 128 MiB/s; in bursts 3,000 IOPS`.
pub fn documented_limits(name: &str) -> Option<String> {
    Some(figures(&disk(name).ok()?))
}

/// What is documented of a class's disk of so many bytes.
pub(super) fn documented(class: &ClassSeen, bytes: u64) -> Option<Disk> {
    disk(&disk_name(class, bytes)?).ok()
}
