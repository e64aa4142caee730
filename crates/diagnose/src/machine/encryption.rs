//! Encryption in this machine: dm-crypt and what it stands on.

use iotax_quantity::whole;
use iotax_record::machine::{Crypt, Device, GroupIoLimits};
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, ComponentKind, Finding};
use crate::machine::observation::{Field, Observation, Value};
use crate::machine::snapshot::{Snapshot, quoted};

pub(super) const RULES: &[Rule] = &[
    rule(&["dm-crypt-workqueues"], Finder::Device(work_queues)),
    rule(&["dm-crypt-workqueues"], Finder::Device(unread)),
    rule(&["software-cipher"], Finder::Device(software_cipher)),
    rule(&["dm-crypt-small-sectors"], Finder::Device(small_sectors)),
    rule(&["dm-crypt-large-io"], Finder::Device(large_writes)),
    rule(&["dm-crypt-split"], Finder::Device(split)),
    rule(&["integrity-journal"], Finder::Device(journal)),
    rule(&["io-max-ignored"], Finder::Group(unheld_limits)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EncryptionWhy {
    /// dm-crypt's flags that are not set.
    WorkQueues {
        missing: Vec<&'static str>,
    },
    Unread,
    SoftwareCipher {
        driver: String,
    },
    SmallSectors,
    LargeWrites,
    Split {
        piece_bytes: u64,
        default_bytes: u64,
    },
    Journal,
    /// Of a group, above this device.
    GroupLimits {
        device: String,
    },
}

const FLAGS: [&str; 2] = ["no_read_workqueue", "no_write_workqueue"];
/// Drivers of AES without instructions for it: tables, and tables read in constant time.
const IN_C: [&str; 2] = ["aes-generic", "aes-fixed-time"];
/// Linux since when `io.max` holds buffered writes through device mapper again.
const IO_MAX_HOLDS_SINCE: (u32, u32) = (7, 0);
/// What dm-crypt splits large I/Os into, unless it is told otherwise.
const SPLIT_BYTES: u64 = 128 << 10;

/// What the table of a device that encrypts says.
fn crypt(device: &Device) -> Option<&Crypt> {
    device.mapping.as_ref()?.crypts().next()
}

fn name(device: &Device) -> &str {
    device.mapping.as_ref().map_or(&device.name, |mapping| &mapping.name)
}

fn about(device: &Device) -> Component {
    Component::device(device).also(name(device))
}

fn table(device: &Device, field: &str, value: impl Into<Value>) -> Observation {
    Observation::field(format!("dmsetup table {}", name(device)), field, value)
}

fn flags(device: &Device, crypt: &Crypt) -> Observation {
    let flags = if crypt.flags.is_empty() { "none".to_owned() } else { crypt.flags.join(" ") };
    table(device, "flags", flags)
}

/// Whether what is below is fast enough for the cipher's way to matter. Disks of clouds are, though
/// hypervisors often call them rotating.
fn is_fast(seen: &Snapshot<'_>, device: &Device) -> bool {
    let is_fast =
        |disk: &&Device| seen.provider().is_some() || disk.queue.rotational == Some(false);
    seen.disks(device).iter().all(is_fast)
}

fn likely_if(condition: bool) -> Certainty {
    if condition { Certainty::Likely } else { Certainty::ToBeTested }
}

/// Two arms that differ in one parameter of dm-crypt, on files beside the path.
fn arms(path: &str, workload: &str, without: &str, with: &str) -> String {
    format!(
        "iotax compare --quick -w {workload} --dir {} default='file(size=2G) + dmcrypt{without} + \
         ext4' changed='file(size=2G) + dmcrypt{with} + ext4'",
        quoted(path)
    )
}

/// dm-crypt without the flags that encrypt where the I/O was submitted.
fn work_queues(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let crypt = crypt(device)?;
    let missing: Vec<_> = FLAGS.into_iter().filter(|flag| !crypt.has(flag)).collect();
    let why = EncryptionWhy::WorkQueues { missing: missing.clone() };
    let certainty = likely_if(is_fast(seen, device));
    let finding = Finding::new("dm-crypt-workqueues", about(device), certainty, why)
        .observed(flags(device, crypt))
        .run("driver-searcher", path, "--scale 0.05")
        .command(arms(path, "randread-4k", "", "(no_read_workqueue, no_write_workqueue)"));
    (!missing.is_empty()).then_some(finding)
}

/// Devices that encrypt, whose tables only root may read.
fn unread(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let mapping = device.mapping.as_ref()?;
    let why = EncryptionWhy::Unread;
    let maker = mapping.maker.clone().unwrap_or_default();
    let cause = "dm-crypt-workqueues";
    let finding = Finding::new(cause, about(device), Certainty::ToBeTested, why)
        .observed(Observation::block(device, "dm/uuid", maker))
        .run("driver-searcher", path, "--scale 0.05");
    (mapping.targets.is_none() && mapping.is_crypt()).then_some(finding)
}

/// A cipher in plain C.
fn software_cipher(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let driver = seen.machine.kernel.xts_driver.as_ref()?;
    if !IN_C.iter().any(|name| driver.contains(name)) {
        return None;
    }
    let crypt = crypt(device)?;
    let why = EncryptionWhy::SoftwareCipher { driver: driver.clone() };
    let aes = seen.machine.environment.cpu_aes.map(|has| {
        let has = if has { "yes" } else { "no" };
        Observation::field("/proc/cpuinfo", Field::CpuFlag("aes"), has)
    });
    let finding = Finding::new("software-cipher", about(device), Certainty::Likely, why)
        .observed(Observation::field("/proc/crypto", Field::XtsDriver, driver.as_str()))
        .observed_if(aes)
        .run("seqread-1m", path, "");
    crypt.cipher.contains("aes").then_some(finding)
}

/// Encryption sectors of 512 bytes.
fn small_sectors(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let crypt = crypt(device)?;
    let why = EncryptionWhy::SmallSectors;
    let certainty = likely_if(is_fast(seen, device));
    let finding = Finding::new("dm-crypt-small-sectors", about(device), certainty, why)
        .observed(table(device, "sector_size", crypt.sector_bytes.to_string()))
        .command(arms(path, "seqread-1m", "", "(sector_size=4096)"));
    (crypt.sector_bytes == 512).then_some(finding)
}

/// Large writes that one thread sorts and submits.
fn large_writes(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let crypt = crypt(device)?;
    let bypasses = ["submit_from_crypt_cpus", "no_write_workqueue"];
    let why = EncryptionWhy::LargeWrites;
    let finding = Finding::new("dm-crypt-large-io", about(device), Certainty::ToBeTested, why)
        .observed(flags(device, crypt))
        .command(arms(path, "seqwrite-1m", "", "(submit_from_crypt_cpus)"));
    let is_it = is_fast(seen, device) && !bypasses.iter().any(|flag| crypt.has(flag));
    is_it.then_some(finding)
}

/// Limits of pieces that are smaller than the kernel's own.
fn split(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    crypt(device)?;
    let kernel = &seen.machine.kernel;
    let limits = [
        ("max_read_size", kernel.crypt_max_read_bytes),
        ("max_write_size", kernel.crypt_max_write_bytes),
    ];
    let small = limits.iter().find_map(|(name, size)| {
        let size = size.filter(|size| (1..SPLIT_BYTES).contains(size))?;
        Some((name, size))
    });
    let (parameter, size) = small?;
    let why = EncryptionWhy::Split { piece_bytes: size, default_bytes: SPLIT_BYTES };
    let file = format!("/sys/module/dm_crypt/parameters/{parameter}");
    Some(
        Finding::new("dm-crypt-split", about(device), Certainty::ToBeTested, why)
            .observed(Observation::file(file, size.to_string()))
            .run("seqwrite-1m", path, "")
            .run("seqread-1m", path, ""),
    )
}

/// dm-integrity with a journal.
fn journal(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let mut targets = device.mapping.as_ref()?.targets.iter().flatten();
    // device, reserved sectors, tag size, mode
    let mode = |parameters: &str| parameters.split_whitespace().nth(3).map(str::to_owned);
    let target = targets.find(|target| {
        target.kind == "integrity" && mode(&target.parameters).as_deref() == Some("J")
    })?;
    let why = EncryptionWhy::Journal;
    Some(
        Finding::new("integrity-journal", about(device), Certainty::Likely, why)
            .observed(table(device, "integrity", target.parameters.as_str()))
            .run("seqwrite-1m", path, ""),
    )
}

/// Limits of control groups above device mapper.
fn unheld_limits(seen: &Snapshot<'_>, limits: &GroupIoLimits) -> Option<Finding> {
    let kernel = seen.kernel();
    if kernel.is_none_or(|kernel| kernel >= IO_MAX_HOLDS_SINCE) {
        return None;
    }
    let release = seen.machine.environment.kernel.clone().unwrap_or_default();
    let under = seen.under(&limits.path);
    let device = under.into_iter().find(|device| device.mapping.is_some())?;
    let writes = limits.write_iops.or(limits.write_bw_bytes)?;
    let about = Component::new(ComponentKind::Group, limits.group.as_str());
    let why = EncryptionWhy::GroupLimits { device: device.name.clone() };
    Some(
        Finding::new("io-max-ignored", about, Certainty::ToBeTested, why)
            .observed(Observation::file(limits.file.as_str(), whole(writes).to_string()))
            .observed(Observation::field("uname", Field::KernelRelease, release.as_str()))
            .observed(Observation::block(device, "dm/name", name(device)))
            .run("driver-searcher", &limits.path, "--scale 0.05"),
    )
}
