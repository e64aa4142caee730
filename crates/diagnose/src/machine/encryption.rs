//! Encryption in this machine: dm-crypt and what it stands on.

use iotax_quantity::whole;
use iotax_record::machine::{Crypt, Device, GroupIoLimits};
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{
    At, Certainty, Component, DeviceAt, Field, Finder, Finding, Observation, Rule, Value, quoted,
    rule,
};

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
    // dm-crypt's flags that are not set.
    WorkQueues { missing: Vec<&'static str> },
    Unread,
    SoftwareCipher { driver: String },
    SmallSectors,
    LargeWrites,
    Split { piece_bytes: u64, default_bytes: u64 },
    Journal,
    // Of a group, above this device.
    GroupLimits { device: String },
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

fn finding(device: &DeviceAt<'_, '_>, certainty: Certainty, why: EncryptionWhy) -> Finding {
    device.finding(certainty, why).on(Component::device(device).also(name(device)))
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
fn is_fast(device: &DeviceAt<'_, '_>) -> bool {
    let has_cloud = device.seen.provider().is_some();
    let is_fast = |disk: &&Device| has_cloud || disk.queue.rotational == Some(false);
    device.seen.disks(device).iter().all(is_fast)
}

fn likely_if(condition: bool) -> Certainty {
    if condition { Likely } else { ToBeTested }
}

/// Two arms that differ in one parameter of dm-crypt, on files beside the path.
fn arms(path: &str, workload: &str, with: &str) -> String {
    format!(
        "iotax compare --quick -w {workload} --dir {} default='file(size=2G) + dmcrypt + ext4' \
         changed='file(size=2G) + dmcrypt({with}) + ext4'",
        quoted(path)
    )
}

/// dm-crypt without the flags that encrypt where the I/O was submitted.
fn work_queues(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let crypt = crypt(device)?;
    let missing: Vec<_> = FLAGS.into_iter().filter(|flag| !crypt.has(flag)).collect();
    let is_missing = !missing.is_empty();
    finding(device, likely_if(is_fast(device)), EncryptionWhy::WorkQueues { missing })
        .observed(flags(device, crypt))
        .run("driver-searcher", device.path, "--scale 0.05")
        .command(arms(device.path, "randread-4k", &FLAGS.join(", ")))
        .when(is_missing)
}

/// Devices that encrypt, whose tables only root may read.
fn unread(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let mapping = device.mapping.as_ref()?;
    let maker = mapping.maker.clone().unwrap_or_default();
    finding(device, ToBeTested, EncryptionWhy::Unread)
        .observed(Observation::block(device, "dm/uuid", maker))
        .run("driver-searcher", device.path, "--scale 0.05")
        .when(mapping.targets.is_none() && mapping.is_crypt())
}

/// A cipher in plain C.
fn software_cipher(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let machine = device.seen.machine;
    let driver = machine.kernel.xts_driver.as_ref()?;
    let crypt = crypt(device)?;
    let aes = machine.environment.cpu_aes.map(|has| {
        let has = if has { "yes" } else { "no" };
        Observation::field("/proc/cpuinfo", Field::CpuFlag("aes"), has)
    });
    finding(device, Likely, EncryptionWhy::SoftwareCipher { driver: driver.clone() })
        .observed(Observation::field("/proc/crypto", Field::XtsDriver, driver.as_str()))
        .observed_all(aes)
        .run("seqread-1m", device.path, "")
        .when(crypt.cipher.contains("aes") && IN_C.iter().any(|name| driver.contains(name)))
}

/// Encryption sectors of 512 bytes.
fn small_sectors(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let crypt = crypt(device)?;
    finding(device, likely_if(is_fast(device)), EncryptionWhy::SmallSectors)
        .observed(table(device, "sector_size", crypt.sector_bytes))
        .command(arms(device.path, "seqread-1m", "sector_size=4096"))
        .when(crypt.sector_bytes == 512)
}

/// Large writes that one thread sorts and submits.
fn large_writes(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let crypt = crypt(device)?;
    let bypasses = ["submit_from_crypt_cpus", "no_write_workqueue"];
    finding(device, ToBeTested, EncryptionWhy::LargeWrites)
        .observed(flags(device, crypt))
        .command(arms(device.path, "seqwrite-1m", "submit_from_crypt_cpus"))
        .when(is_fast(device) && !bypasses.iter().any(|flag| crypt.has(flag)))
}

/// Limits of pieces that are smaller than the kernel's own.
fn split(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    crypt(device)?;
    let kernel = &device.seen.machine.kernel;
    let limits = [
        ("max_read_size", kernel.crypt_max_read_bytes),
        ("max_write_size", kernel.crypt_max_write_bytes),
    ];
    let (parameter, piece_bytes) = limits.into_iter().find_map(|(name, size)| {
        Some((name, size.filter(|size| (1..SPLIT_BYTES).contains(size))?))
    })?;
    let file = format!("/sys/module/dm_crypt/parameters/{parameter}");
    let why = EncryptionWhy::Split { piece_bytes, default_bytes: SPLIT_BYTES };
    finding(device, ToBeTested, why)
        .observed(Observation::file(file, piece_bytes))
        .run("seqwrite-1m", device.path, "")
        .run("seqread-1m", device.path, "")
        .into()
}

/// dm-integrity with a journal.
fn journal(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let mut targets = device.mapping.as_ref()?.targets.iter().flatten();
    // device, reserved sectors, tag size, mode
    let target = targets.find(|target| {
        let mode = target.parameters.split_whitespace().nth(3);
        target.kind == "integrity" && mode == Some("J")
    })?;
    finding(device, Likely, EncryptionWhy::Journal)
        .observed(table(device, "integrity", target.parameters.as_str()))
        .run("seqwrite-1m", device.path, "")
        .into()
}

/// Limits of control groups above device mapper.
fn unheld_limits(limits: &At<'_, '_, GroupIoLimits>) -> Option<Finding> {
    let is_old = limits.seen.kernel().is_some_and(|kernel| kernel < IO_MAX_HOLDS_SINCE);
    let release = limits.seen.machine.environment.kernel.clone().unwrap_or_default();
    let mut under = limits.seen.under(limits.path).into_iter();
    let device = under.find(|device| device.mapping.is_some())?;
    let writes = limits.write_iops.or(limits.write_bw_bytes)?;
    limits
        .finding(ToBeTested, EncryptionWhy::GroupLimits { device: device.name.clone() })
        .observed(Observation::file(limits.file.as_str(), whole(writes).to_string()))
        .observed(Observation::field("uname", Field::KernelRelease, release))
        .observed(Observation::block(device, "dm/name", name(device)))
        .run("driver-searcher", limits.path, "--scale 0.05")
        .when(is_old)
}
