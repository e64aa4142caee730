//! Encryption in this machine: dm-crypt and what it stands on.

use iotax_record::machine::{Crypt, Device, GroupIoLimits};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Snapshot, quoted};

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

fn about(device: &Device) -> String {
    format!("{} ({})", device.name, name(device))
}

fn table(device: &Device, field: &str, value: impl Into<String>) -> Observation {
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
pub(super) fn work_queues(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let crypt = crypt(device)?;
    let missing: Vec<_> = FLAGS.into_iter().filter(|flag| !crypt.has(flag)).collect();
    let what = match missing.as_slice() {
        ["no_read_workqueue"] => "every read",
        ["no_write_workqueue"] => "every write",
        _ => "every I/O",
    };
    let why = format!(
        "Without {} {what} of {} passes kernel threads on its way through the cipher.",
        missing.join(" and "),
        device.name
    );
    let certainty = likely_if(is_fast(seen, device));
    let finding = Finding::new("dm-crypt-workqueues", about(device), certainty, why)
        .observed(flags(device, crypt))
        .run("driver-searcher", path, "--scale 0.05")
        .command(arms(path, "randread-4k", "", "(no_read_workqueue, no_write_workqueue)"));
    (!missing.is_empty()).then_some(finding)
}

/// Devices that encrypt, whose tables only root may read.
pub(super) fn unread(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let mapping = device.mapping.as_ref()?;
    let why = format!(
        "{} encrypts. Whether its I/Os pass kernel threads stands in its table, which only root \
         may read.",
        device.name
    );
    let maker = mapping.maker.clone().unwrap_or_default();
    let cause = "dm-crypt-workqueues";
    let finding = Finding::new(cause, about(device), Certainty::ToBeTested, why)
        .observed(Observation::block(device, "dm/uuid", maker))
        .run("driver-searcher", path, "--scale 0.05");
    (mapping.targets.is_none() && mapping.is_crypt()).then_some(finding)
}

/// A cipher in plain C.
pub(super) fn software_cipher(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let driver = seen.machine.kernel.xts_driver.as_ref()?;
    if !IN_C.iter().any(|name| driver.contains(name)) {
        return None;
    }
    let crypt = crypt(device)?;
    let why = format!(
        "The kernel encrypts {} with {driver}, which uses no instructions of the CPU for AES.",
        device.name
    );
    let aes = seen.machine.environment.cpu_aes.map(|has| {
        let has = if has { "yes" } else { "no" };
        Observation::field("/proc/cpuinfo", "flag aes", has)
    });
    let finding = Finding::new("software-cipher", about(device), Certainty::Likely, why)
        .observed(Observation::field("/proc/crypto", "driver of xts(aes)", driver.as_str()))
        .observed_if(aes)
        .run("seqread-1m", path, "");
    crypt.cipher.contains("aes").then_some(finding)
}

/// Encryption sectors of 512 bytes.
pub(super) fn small_sectors(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let crypt = crypt(device)?;
    let why = format!(
        "An I/O of 4 KiB on {} is eight requests to the cipher, each with its own \
         initialisation vector.",
        device.name
    );
    let certainty = likely_if(is_fast(seen, device));
    let finding = Finding::new("dm-crypt-small-sectors", about(device), certainty, why)
        .observed(table(device, "sector_size", crypt.sector_bytes.to_string()))
        .command(arms(path, "seqread-1m", "", "(sector_size=4096)"));
    (crypt.sector_bytes == 512).then_some(finding)
}

/// Large writes that one thread sorts and submits.
pub(super) fn large_writes(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let crypt = crypt(device)?;
    let bypasses = ["submit_from_crypt_cpus", "no_write_workqueue"];
    let why = format!(
        "Writes of {} are encrypted on many CPUs and submitted by one thread, which costs most \
         on large ones.",
        device.name
    );
    let finding = Finding::new("dm-crypt-large-io", about(device), Certainty::ToBeTested, why)
        .observed(flags(device, crypt))
        .command(arms(path, "seqwrite-1m", "", "(submit_from_crypt_cpus)"));
    let is_it = is_fast(seen, device) && !bypasses.iter().any(|flag| crypt.has(flag));
    is_it.then_some(finding)
}

/// Limits of pieces that are smaller than the kernel's own.
pub(super) fn split(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
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
    let why = format!(
        "dm-crypt splits I/Os of {} into pieces of {} KiB, by default of {} KiB.",
        device.name,
        size >> 10,
        SPLIT_BYTES >> 10
    );
    let file = format!("/sys/module/dm_crypt/parameters/{parameter}");
    Some(
        Finding::new("dm-crypt-split", about(device), Certainty::ToBeTested, why)
            .observed(Observation::file(file, size.to_string()))
            .run("seqwrite-1m", path, "")
            .run("seqread-1m", path, ""),
    )
}

/// dm-integrity with a journal.
pub(super) fn journal(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let mut targets = device.mapping.as_ref()?.targets.iter().flatten();
    // device, reserved sectors, tag size, mode
    let mode = |parameters: &str| parameters.split_whitespace().nth(3).map(str::to_owned);
    let target = targets.find(|target| {
        target.kind == "integrity" && mode(&target.parameters).as_deref() == Some("J")
    })?;
    let why = format!(
        "{} writes data and checksums into a journal first: each byte is written twice.",
        device.name
    );
    Some(
        Finding::new("integrity-journal", about(device), Certainty::Likely, why)
            .observed(table(device, "integrity", target.parameters.as_str()))
            .run("seqwrite-1m", path, ""),
    )
}

/// Limits of control groups above device mapper.
pub(super) fn unheld_limits(seen: &Snapshot<'_>, limits: &GroupIoLimits) -> Option<Finding> {
    let kernel = seen.kernel();
    if kernel.is_none_or(|kernel| kernel >= IO_MAX_HOLDS_SINCE) {
        return None;
    }
    let release = seen.machine.environment.kernel.clone().unwrap_or_default();
    let under = seen.under(&limits.path);
    let device = under.into_iter().find(|device| device.mapping.is_some())?;
    let writes = limits.write_iops.or(limits.write_bw_bytes)?;
    let why = format!(
        "Kernels before 7.0 may not hold buffered writes through {} to the limit of {}.",
        device.name, limits.group
    );
    Some(
        Finding::new("io-max-ignored", limits.group.as_str(), Certainty::ToBeTested, why)
            .observed(Observation::file(limits.file.as_str(), format!("{writes:.0}")))
            .observed(Observation::field("uname", "release and version", release.as_str()))
            .observed(Observation::block(device, "dm/name", name(device)))
            .run("driver-searcher", &limits.path, "--scale 0.05"),
    )
}
