//! ZFS: properties of the dataset, and how its pool is made.

use iotax_record::machine::{MountSeen, ZfsVdev};
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{Finder, Finding, MountAt, Observation, Rule, Value, rule};

pub(super) const RULES: &[Rule] = &[
    rule(&["zfs-recordsize"], Finder::Mount(record_size)),
    rule(&["zfs-primarycache"], Finder::Mount(primary_cache)),
    rule(&["zfs-sync"], Finder::Mount(sync)),
    rule(&["zfs-ashift"], Finder::Mount(ashift)),
    rule(&["zfs-special-vdev"], Finder::Mount(special)),
    rule(&["zfs-raidz"], Finder::Mount(raidz)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ZfsWhy {
    // So many times a page of 16 KiB.
    RecordSize { record_bytes: u64, times: u64 },
    PrimaryCache { mode: String },
    Sync { is_always: bool, waits_for_data: bool, rotates: bool },
    Ashift { bytes: u64 },
    Special { small_bytes: u64, record_bytes: u64 },
    // So many disks in so many vdevs of a kind.
    RaidZ { kind: String, disks: u64, vdevs: usize },
}

/// Programs that read and write at random do so by 8 or 16 KiB.
const DATABASE_PAGE_BYTES: u64 = 16 << 10;
/// The default; larger ones are chosen for large files.
const DEFAULT_RECORD_BYTES: u64 = 128 << 10;
/// Sectors of today's disks, as a power of two.
const SECTOR_SHIFT: u64 = 12;

fn property(mount: &MountSeen, name: &str, value: impl Into<Value>) -> Observation {
    Observation::field(format!("zfs get {name} {}", mount.source), name, value)
}

/// The pool of a dataset.
fn pool(mount: &MountSeen) -> &str {
    mount.source.split(['/', '@']).next().unwrap_or_default()
}

/// What `zpool status` shows.
fn vdevs(mount: &MountSeen, value: Value) -> Observation {
    Observation::field(format!("zpool status {}", pool(mount)), "vdevs", value)
}

/// Records that are larger than what programs read and write at random.
fn record_size(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let record_bytes = mount.zfs.as_ref()?.record_bytes?;
    let certainty = if record_bytes > DEFAULT_RECORD_BYTES { Likely } else { ToBeTested };
    let times = record_bytes / DATABASE_PAGE_BYTES;
    mount
        .finding_with_source(certainty, ZfsWhy::RecordSize { record_bytes, times })
        .observed(property(mount, "recordsize", record_bytes))
        .run("randwrite-4k", mount.path, "--set block-size=16k")
        .run("randread-4k", mount.path, "--set block-size=16k")
        .when(record_bytes > DATABASE_PAGE_BYTES)
}

/// Data that are not kept in memory.
fn primary_cache(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let mode = mount.zfs.as_ref()?.primary_cache.as_deref()?;
    mount
        .finding_with_source(Likely, ZfsWhy::PrimaryCache { mode: mode.to_owned() })
        .observed(property(mount, "primarycache", mode))
        .run("randread-4k", mount.path, "--set direct=false")
        .when(matches!(mode, "metadata" | "none"))
}

/// Syncs that wait for the pool's own disks.
fn sync(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let zfs = mount.zfs.as_ref()?;
    let mode = zfs.sync.as_deref()?;
    let is_listed = !zfs.vdevs.is_empty();
    let has_log = zfs.with_role("logs").next().is_some();
    let rotates = zfs.with_role("data").any(|vdev| vdev.rotates == Some(true));
    let certainty = match mode {
        "always" => Likely,
        "standard" if is_listed && !has_log && rotates => Likely,
        "standard" if is_listed && !has_log => ToBeTested,
        _ => return None,
    };
    let why = ZfsWhy::Sync {
        is_always: mode == "always",
        waits_for_data: is_listed && !has_log,
        rotates: rotates && !has_log,
    };
    mount
        .finding_with_source(certainty, why)
        .observed(property(mount, "sync", mode))
        .observed_all(is_listed.then(|| vdevs(mount, Value::LogDevice(has_log))))
        .run("randwrite-4k", mount.path, "--set fsync-every=1")
        .run("randwrite-4k", mount.path, "")
        .into()
}

/// A smallest I/O below the disks' sectors.
fn ashift(mount: &MountAt<'_, '_>) -> Option<Finding> {
    // 0 leaves it to each vdev.
    let shift = mount.zfs.as_ref()?.ashift.filter(|shift| (1..SECTOR_SHIFT).contains(shift))?;
    let place = format!("zpool get ashift {}", pool(mount));
    mount
        .finding_with_source(Likely, ZfsWhy::Ashift { bytes: 1 << shift })
        .observed(Observation::field(place, "ashift", shift))
        .run("randwrite-4k", mount.path, "--set fsync-every=1")
        .into()
}

/// A special vdev that takes all data.
fn special(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let zfs = mount.zfs.as_ref()?;
    let (small_bytes, record_bytes) = (zfs.special_small_bytes?, zfs.record_bytes?);
    let has_special = zfs.with_role("special").next().is_some();
    mount
        .finding_with_source(Likely, ZfsWhy::Special { small_bytes, record_bytes })
        .observed(property(mount, "special_small_blocks", small_bytes))
        .observed(property(mount, "recordsize", record_bytes))
        .run("seqwrite-1m", mount.path, "")
        .when(has_special && small_bytes >= record_bytes)
}

/// Random I/O on RAID-Z.
fn raidz(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let is_spread =
        |vdev: &&ZfsVdev| vdev.kind.starts_with("raidz") || vdev.kind.starts_with("draid");
    let spread: Vec<_> = mount.zfs.as_ref()?.with_role("data").filter(is_spread).collect();
    let kind = spread.first()?.kind.clone();
    let rotates = spread.iter().any(|vdev| vdev.rotates == Some(true));
    let disks = spread.iter().map(|vdev| vdev.devices).sum();
    let listed = spread.iter().map(|vdev| (vdev.kind.clone(), vdev.devices)).collect();
    let why = ZfsWhy::RaidZ { kind, disks, vdevs: spread.len() };
    mount
        .finding_with_source(if rotates { Likely } else { ToBeTested }, why)
        .observed(vdevs(mount, Value::Vdevs(listed)))
        .run("randread-4k", mount.path, "--set depth=32")
        .run("seqread-1m", mount.path, "--set depth=8")
        .into()
}
