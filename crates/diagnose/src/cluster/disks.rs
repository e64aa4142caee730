//! What the catalogue of documented limits knows of the volumes of a class.

use iotax_catalog::{Caching, attached_disk, azure_disk_of, disk};
use iotax_record::cluster::{ClaimSeen, ClassSeen, ClusterSeen, VolumeSeen};

const MIB: u64 = 1 << 20;
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
    let provisioner = class.provisioner.as_str();
    let gib = bytes.div_ceil(GIB);
    if AZURE.contains(&provisioner) {
        return of_azure(class, &kind, bytes);
    }
    let kind = kind.to_ascii_lowercase();
    let (iops, throughput) =
        if GCP.contains(&provisioner) { of_gcp(class, &kind) } else { of_aws(class, &kind, gib) };
    Some(provisioned(&kind, gib, iops, throughput))
}

/// `premium-v2:size=100G,iops=4000,bw=500M`.
fn provisioned(kind: &str, gib: u64, iops: Option<u64>, throughput: Option<u64>) -> String {
    let iops = iops.map_or_else(String::new, |iops| format!(",iops={iops}"));
    let throughput = throughput.map_or_else(String::new, |mega| format!(",bw={mega}M"));
    format!("{kind}:size={gib}G{iops}{throughput}")
}

fn number(class: &ClassSeen, names: &[&str]) -> Option<u64> {
    parameter(class, names)?.trim().parse().ok()
}

/// Premium SSD v2 and Ultra have what was provisioned, others what their size gives them.
fn of_azure(class: &ClassSeen, kind: &str, bytes: u64) -> Option<String> {
    let gib = bytes.div_ceil(GIB);
    let iops = number(class, &["DiskIOPSReadWrite"]);
    let megabytes = number(class, &["DiskMBpsReadWrite"]);
    if kind.eq_ignore_ascii_case("PremiumV2_LRS") {
        return Some(provisioned("premium-v2", gib, iops, megabytes));
    }
    if kind.eq_ignore_ascii_case("UltraSSD_LRS") {
        // What the driver asks for where a class does not say it.
        let by_size = if megabytes.is_some() { 500 } else { gib.clamp(500, 160_000) };
        let iops_or = iops.unwrap_or(by_size);
        let by_iops = if iops.is_some() { 100 } else { (iops_or / 256).max(100).min(iops_or / 4) };
        let megabytes = megabytes.unwrap_or(by_iops.min(4_000));
        return Some(provisioned("ultra", gib, Some(iops_or), Some(megabytes)));
    }
    let tier = azure_disk_of(kind, None, bytes)?;
    // Only large disks can be told to burst on demand.
    let bursts = parameter(class, &["enableBursting"]).is_some_and(is_true);
    let joint = if tier.contains(':') { ',' } else { ':' };
    let bursting = format!("{tier}{joint}burst=on");
    Some(if bursts && disk(&bursting).is_ok() { bursting } else { tier })
}

/// IOPS and MiB/s of a Hyperdisk; of other kinds the size decides.
fn of_gcp(class: &ClassSeen, kind: &str) -> (Option<u64>, Option<u64>) {
    if !kind.starts_with("hyperdisk") {
        return (None, None);
    }
    let iops = number(class, &["provisioned-iops-on-create", "provisioned-iops", "iops"]);
    let said = ["provisioned-throughput-on-create", "provisioned-throughput", "throughput"];
    (iops, parameter(class, &said).and_then(mebibytes))
}

/// `250Mi` as 250; a number without a unit is taken for MiB, too.
fn mebibytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().ok()?;
    let bytes = match &text[digits.len()..] {
        "" if number < MIB => return Some(number),
        "" => number,
        "Ki" => number.checked_mul(1 << 10)?,
        "Mi" | "MiB" => number.checked_mul(MIB)?,
        "Gi" | "GiB" => number.checked_mul(GIB)?,
        "k" => number.checked_mul(1_000)?,
        "M" => number.checked_mul(1_000_000)?,
        "G" => number.checked_mul(1_000_000_000)?,
        _ => return None,
    };
    Some(bytes.div_ceil(MIB))
}

/// IOPS and MiB/s of an EBS volume, where its type has any to be provisioned.
fn of_aws(class: &ClassSeen, kind: &str, gib: u64) -> (Option<u64>, Option<u64>) {
    // What the driver brings IOPS for each GB to.
    let (least, most) = match kind {
        "gp3" => (3_000, 16_000),
        "io1" => (100, 64_000),
        "io2" => (100, 256_000),
        _ => return (None, None),
    };
    let of_each = || number(class, &["iopsPerGB"]);
    let by_size = || of_each().map(|each| each.saturating_mul(gib).clamp(least, most));
    let iops = number(class, &["iops"]).or_else(by_size);
    (iops, number(class, &["throughput"]).filter(|_| kind == "gp3"))
}

/// As Go reads it, which drivers are written in.
pub(super) fn is_true(value: &str) -> bool {
    ["1", "t", "T", "true", "TRUE", "True"].contains(&value.trim())
}

/// What the class says of the host's cache.
pub(super) fn caching(class: &ClassSeen) -> Caching {
    let is_azure = AZURE.contains(&class.provisioner.as_str());
    let has_none = |kind: &str| {
        let kind = kind.to_ascii_lowercase();
        kind.starts_with("premiumv2") || kind.starts_with("ultrassd")
    };
    if is_azure && kind(class).is_some_and(|(kind, _)| has_none(&kind)) {
        return Caching::None;
    }
    let said = parameter(class, &["cachingMode"]).and_then(Caching::parse);
    // The driver caches reads, unless it is told otherwise.
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

/// The class of a claim as it is for its volume: as the volume was made, and as the class of its
/// attributes has changed it since. A volume without a class that is known says itself what made
/// it.
fn as_it_is(seen: &ClusterSeen, claim: &ClaimSeen) -> Option<ClassSeen> {
    let volume = claim.volume.as_deref().and_then(|name| seen.volume(name));
    let of_volume = |volume: &VolumeSeen| ClassSeen {
        name: volume.class.clone(),
        provisioner: volume.source.clone(),
        ..ClassSeen::default()
    };
    let known = claim.class.as_deref().and_then(|name| seen.class(name)).cloned();
    let mut class = known.or_else(|| volume.map(of_volume))?;
    let changed = volume.and_then(|volume| volume.attributes_class.as_ref());
    let changed = seen.attributes.iter().find(|one| Some(&one.name) == changed);
    let made = volume.into_iter().flat_map(|volume| &volume.attributes);
    for (key, value) in made.chain(changed.into_iter().flat_map(|one| &one.parameters)) {
        class.parameters.retain(|known, _| !known.eq_ignore_ascii_case(key));
        class.parameters.insert(key.clone(), value.clone());
    }
    Some(class)
}

/// The size of a claim's volume, and the disk, as the catalogue names it.
pub(super) fn disk_of(seen: &ClusterSeen, claim: &ClaimSeen) -> Option<(u64, String)> {
    let volume = claim.volume.as_deref().and_then(|name| seen.volume(name));
    let bytes = volume.and_then(|volume| volume.bytes).or(claim.bytes)?;
    Some((bytes, disk_name(&as_it_is(seen, claim)?, bytes)?))
}

/// The disk under a claim, as the catalogue names it and with its caching, if it is known there.
pub fn claim_disk(seen: &ClusterSeen, claim: &ClaimSeen) -> Option<(String, Caching)> {
    let (_, name) = disk_of(seen, claim)?;
    let (_, caching) = attached_disk(&name, caching(&as_it_is(seen, claim)?)).ok()?;
    Some((name, caching))
}

#[cfg(test)]
mod tests {
    use iotax_record::cluster::AttributesSeen;

    use super::*;

    const AZURE_DISK: &str = "disk.csi.azure.com";
    const EBS_DISK: &str = "ebs.csi.aws.com";
    const PD: &str = "pd.csi.storage.gke.io";

    fn parameters(of: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
        of.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    /// The disk of so many GiB of a class; nothing where the catalogue does not take the name.
    fn name(provisioner: &str, of: &[(&str, &str)], gib: u64) -> String {
        let class = ClassSeen {
            provisioner: provisioner.to_owned(),
            parameters: parameters(of),
            ..ClassSeen::default()
        };
        let name = disk_name(&class, gib * GIB).unwrap_or_default();
        assert!(name.is_empty() || disk(&name).is_ok(), "{name}: {:?}", disk(&name));
        name
    }

    /// Driver, parameters, GiB, and the disk's name.
    const PROVISIONED: &str = "
        azure | skuname=PremiumV2_LRS diskIopsReadWrite=4000 diskMbpsReadWrite=500 | 100 | premium-v2:size=100G,iops=4000,bw=500M
        azure | skuName=PremiumV2_LRS DiskIOPSReadWrite=16000 DiskMBpsReadWrite=1000 | 256 | premium-v2:size=256G,iops=16000,bw=1000M
        azure | storageAccountType=premiumv2_lrs | 256 | premium-v2:size=256G
        azure | SKUNAME=PremiumV2_LRS DISKIOPSREADWRITE=5000 | 20 | premium-v2:size=20G,iops=5000
        azure | skuName=UltraSSD_LRS DiskIOPSReadWrite=2000 diskMBpsReadWrite=320 | 64 | ultra:size=64G,iops=2000,bw=320M
        azure | skuName=UltraSSD_LRS | 64 | ultra:size=64G,iops=500,bw=100M
        azure | skuName=UltraSSD_LRS | 1024 | ultra:size=1024G,iops=1024,bw=100M
        azure | skuName=UltraSSD_LRS diskIOPSReadWrite=8000 | 512 | ultra:size=512G,iops=8000,bw=100M
        azure | skuName=Premium_LRS | 100 | P10
        azure | skuName=Premium_ZRS DiskIOPSReadWrite=9 | 100 | P10:redundancy=zrs
        azure | skuName=Premium_LRS enableBursting=true | 1024 | P30:burst=on
        azure | skuName=Premium_LRS enableBursting=true | 100 | P10
        azure |  | 100 | E10
        gcp | type=hyperdisk-balanced provisioned-iops-on-create=7000 provisioned-throughput-on-create=250Mi | 100 | hyperdisk-balanced:size=100G,iops=7000,bw=250M
        gcp | Type=hyperdisk-balanced Provisioned-IOPS-On-Create=7000 | 100 | hyperdisk-balanced:size=100G,iops=7000
        gcp | type=hyperdisk-throughput provisioned-throughput-on-create=1Gi | 4096 | hyperdisk-throughput:size=4096G,bw=1024M
        gcp | type=hyperdisk-balanced provisioned-throughput-on-create=250 | 100 | hyperdisk-balanced:size=100G,bw=250M
        gcp | type=hyperdisk-extreme provisioned-iops-on-create=50000 | 500 | hyperdisk-extreme:size=500G,iops=50000
        gcp | type=pd-ssd provisioned-iops-on-create=50000 | 500 | pd-ssd:size=500G
        gcp |  | 100 | pd-standard:size=100G
        aws | type=gp3 iops=4000 throughput=750 | 100 | gp3:size=100G,iops=4000,bw=750M
        aws | type=gp3 IopsPerGB=50 | 100 | gp3:size=100G,iops=5000
        aws | type=gp3 iopsPerGB=3 | 100 | gp3:size=100G,iops=3000
        aws | type=io1 iopsPerGB=50 | 4000 | io1:size=4000G,iops=64000
        aws | type=GP2 iops=4000 throughput=500 | 100 | gp2:size=100G
        aws |  | 100 | gp3:size=100G";

    #[test]
    fn what_is_provisioned_reaches_the_catalogue() {
        let cases = PROVISIONED.lines().map(str::trim).filter(|line| !line.is_empty());
        for case in cases {
            let [driver, of, gib, expected] =
                case.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
            let provisioner = match driver {
                "azure" => AZURE_DISK,
                "aws" => EBS_DISK,
                _ => PD,
            };
            let of: Vec<_> =
                of.split_whitespace().map(|one| one.split_once('=').unwrap()).collect();
            assert_eq!(name(provisioner, &of, gib.parse().unwrap()), expected, "{case}");
        }
    }

    #[test]
    fn a_class_of_attributes_overrides_what_made_the_volume() {
        let volume = |class: &str| VolumeSeen {
            name: "v".to_owned(),
            class: class.to_owned(),
            bytes: Some(256 * GIB),
            source: AZURE_DISK.to_owned(),
            attributes: parameters(&[("skuname", "PremiumV2_LRS"), ("diskiopsreadwrite", "4000")]),
            attributes_class: Some("fast".to_owned()),
            ..VolumeSeen::default()
        };
        let claim = ClaimSeen {
            class: Some("c".to_owned()),
            volume: Some("v".to_owned()),
            ..ClaimSeen::default()
        };
        let class = ClassSeen {
            name: "c".to_owned(),
            provisioner: AZURE_DISK.to_owned(),
            parameters: parameters(&[("skuName", "PremiumV2_LRS"), ("DiskMBpsReadWrite", "300")]),
            ..ClassSeen::default()
        };
        let fast = AttributesSeen {
            name: "fast".to_owned(),
            parameters: parameters(&[("DiskIOPSReadWrite", "16000")]),
            ..AttributesSeen::default()
        };
        let mut seen = ClusterSeen {
            classes: vec![class],
            volumes: vec![volume("c")],
            attributes: vec![fast],
            ..ClusterSeen::default()
        };
        let of = |seen: &ClusterSeen| claim_disk(seen, &claim).unwrap();
        let (name, caching) = of(&seen);
        assert_eq!(name, "premium-v2:size=256G,iops=16000,bw=300M");
        assert_eq!(caching, Caching::None, "the host caches none of this kind");
        // Without the class, the volume says what made it.
        seen.classes.clear();
        assert_eq!(of(&seen).0, "premium-v2:size=256G,iops=16000");
        seen.attributes.clear();
        assert_eq!(of(&seen).0, "premium-v2:size=256G,iops=4000");
    }
}
