//! ZFS: properties of the dataset, and how its pool is made.

use iotax_quantity::bytes;
use iotax_record::machine::{MountSeen, ZfsSeen, ZfsVdev};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::Snapshot;

/// Programs that read and write at random do so by 8 or 16 KiB.
const DATABASE_PAGE_BYTES: u64 = 16 << 10;
/// The default; larger ones are chosen for large files.
const DEFAULT_RECORD_BYTES: u64 = 128 << 10;
/// Sectors of today's disks, as a power of two.
const SECTOR_SHIFT: u64 = 12;

fn about(mount: &MountSeen) -> String {
    format!("{} ({})", mount.mount_point, mount.source)
}

fn property(mount: &MountSeen, name: &str, value: impl Into<String>) -> Observation {
    Observation::field(format!("zfs get {name} {}", mount.source), name, value)
}

/// The pool of a dataset.
fn pool(mount: &MountSeen) -> &str {
    mount.source.split(['/', '@']).next().unwrap_or_default()
}

/// What `zpool status` shows.
fn vdevs(mount: &MountSeen, value: impl Into<String>) -> Observation {
    Observation::field(format!("zpool status {}", pool(mount)), "vdevs", value)
}

/// Records that are larger than what programs read and write at random.
pub(super) fn record_size(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let record = mount.zfs.as_ref()?.record_bytes?;
    let certainty =
        if record > DEFAULT_RECORD_BYTES { Certainty::Likely } else { Certainty::ToBeTested };
    let why = format!(
        "A random read or write of less than {} KiB in a larger file moves a whole record: {} times as much \
         for 16 KiB.",
        record >> 10,
        record / DATABASE_PAGE_BYTES
    );
    let finding = Finding::new("zfs-recordsize", about(mount), certainty, why)
        .observed(property(mount, "recordsize", record.to_string()))
        .run("randwrite-4k", path, "--set block-size=16k")
        .run("randread-4k", path, "--set block-size=16k");
    (record > DATABASE_PAGE_BYTES).then_some(finding)
}

/// Data that are not kept in memory.
pub(super) fn primary_cache(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let mode = mount.zfs.as_ref()?.primary_cache.as_deref()?;
    let why = format!(
        "With primarycache={mode} no file data of {} stay in memory: each read goes to the disks, by whole \
         records.",
        mount.mount_point
    );
    let finding = Finding::new("zfs-primarycache", about(mount), Certainty::Likely, why)
        .observed(property(mount, "primarycache", mode))
        .run("randread-4k", path, "--set direct=false");
    matches!(mode, "metadata" | "none").then_some(finding)
}

/// Syncs that wait for the pool's own disks.
pub(super) fn sync(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let zfs = mount.zfs.as_ref()?;
    let mode = zfs.sync.as_deref()?;
    let is_listed = !zfs.vdevs.is_empty();
    let has_log = zfs.with_role("logs").next().is_some();
    let rotates = zfs.with_role("data").any(|vdev| vdev.rotates == Some(true));
    let certainty = match mode {
        "always" => Certainty::Likely,
        "standard" if is_listed && !has_log && rotates => Certainty::Likely,
        "standard" if is_listed && !has_log => Certainty::ToBeTested,
        _ => return None,
    };
    let which = if mode == "always" {
        "Every write to"
    } else {
        "Every fsync on, and every stable write of an NFS server to,"
    };
    let log = match (is_listed, has_log) {
        (true, false) => " The pool has no log device: it waits for the data disks.",
        _ => "",
    };
    let turns = if rotates && !has_log { " They rotate." } else { "" };
    let why = format!("{which} {} waits for the intent log.{log}{turns}", mount.mount_point);
    Some(
        Finding::new("zfs-sync", about(mount), certainty, why)
            .observed(property(mount, "sync", mode))
            .observed_if(
                is_listed
                    .then(|| vdevs(mount, if has_log { "a log device" } else { "no log device" })),
            )
            .run("randwrite-4k", path, "--set fsync-every=1")
            .run("randwrite-4k", path, ""),
    )
}

/// A smallest I/O below the disks' sectors.
pub(super) fn ashift(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let shift = mount.zfs.as_ref()?.ashift?;
    let why = format!(
        "The pool writes as little as {} bytes, and disks of today have sectors of 4096: they read and write \
         a sector for it.",
        1_u64.checked_shl(u32::try_from(shift).ok()?)?
    );
    let place = format!("zpool get ashift {}", pool(mount));
    let finding = Finding::new("zfs-ashift", about(mount), Certainty::Likely, why)
        .observed(Observation::field(place, "ashift", shift.to_string()))
        .run("randwrite-4k", path, "--set fsync-every=1");
    // 0 leaves it to each vdev.
    (1..SECTOR_SHIFT).contains(&shift).then_some(finding)
}

/// A special vdev that takes all data.
pub(super) fn special(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let zfs = mount.zfs.as_ref()?;
    let (small, record) = (zfs.special_small_bytes?, zfs.record_bytes?);
    let why = format!(
        "Blocks up to {} go to the special vdev, and records are {}: all data of {} go there.",
        bytes(small as f64),
        bytes(record as f64),
        mount.mount_point
    );
    let finding = Finding::new("zfs-special-vdev", about(mount), Certainty::Likely, why)
        .observed(property(mount, "special_small_blocks", small.to_string()))
        .observed(property(mount, "recordsize", record.to_string()))
        .run("seqwrite-1m", path, "");
    let has_special = zfs.with_role("special").next().is_some();
    (has_special && small >= record).then_some(finding)
}

/// Random I/O on RAID-Z.
pub(super) fn raidz(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let zfs: &ZfsSeen = mount.zfs.as_ref()?;
    let data: Vec<&ZfsVdev> = zfs.with_role("data").collect();
    let spread: Vec<_> = data
        .iter()
        .filter(|vdev| vdev.kind.starts_with("raidz") || vdev.kind.starts_with("draid"))
        .collect();
    let first = spread.first()?;
    let rotates = spread.iter().any(|vdev| vdev.rotates == Some(true));
    let certainty = if rotates { Certainty::Likely } else { Certainty::ToBeTested };
    let disks: u64 = spread.iter().map(|vdev| vdev.devices).sum();
    let why = format!(
        "A record is spread over the disks of a {} vdev: for random I/O, {disks} disks in {} do about as much \
         as {}.",
        first.kind,
        iotax_quantity::count(spread.len() as u64, "vdev"),
        iotax_quantity::count(spread.len() as u64, "disk")
    );
    let told: Vec<_> =
        spread.iter().map(|vdev| format!("{} of {} disks", vdev.kind, vdev.devices)).collect();
    Some(
        Finding::new("zfs-raidz", about(mount), certainty, why)
            .observed(vdevs(mount, told.join(", ")))
            .run("randread-4k", path, "--set depth=32")
            .run("seqread-1m", path, "--set depth=8"),
    )
}
