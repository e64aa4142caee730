//! ZFS: properties of the dataset, and how its pool is made.

use iotax_record::machine::{MountSeen, ZfsSeen, ZfsVdev};
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Finding};
use crate::machine::observation::{Observation, Value};
use crate::machine::snapshot::Snapshot;

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

fn about(mount: &MountSeen) -> Component {
    Component::mount(mount).also(mount.source.as_str())
}

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
fn record_size(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let record = mount.zfs.as_ref()?.record_bytes?;
    let certainty =
        if record > DEFAULT_RECORD_BYTES { Certainty::Likely } else { Certainty::ToBeTested };
    let why = ZfsWhy::RecordSize { record_bytes: record, times: record / DATABASE_PAGE_BYTES };
    let finding = Finding::new("zfs-recordsize", about(mount), certainty, why)
        .observed(property(mount, "recordsize", record.to_string()))
        .run("randwrite-4k", path, "--set block-size=16k")
        .run("randread-4k", path, "--set block-size=16k");
    (record > DATABASE_PAGE_BYTES).then_some(finding)
}

/// Data that are not kept in memory.
fn primary_cache(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let mode = mount.zfs.as_ref()?.primary_cache.as_deref()?;
    let why = ZfsWhy::PrimaryCache { mode: mode.to_owned() };
    let finding = Finding::new("zfs-primarycache", about(mount), Certainty::Likely, why)
        .observed(property(mount, "primarycache", mode))
        .run("randread-4k", path, "--set direct=false");
    matches!(mode, "metadata" | "none").then_some(finding)
}

/// Syncs that wait for the pool's own disks.
fn sync(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
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
    let why = ZfsWhy::Sync {
        is_always: mode == "always",
        waits_for_data: is_listed && !has_log,
        rotates: rotates && !has_log,
    };
    Some(
        Finding::new("zfs-sync", about(mount), certainty, why)
            .observed(property(mount, "sync", mode))
            .observed_if(is_listed.then(|| vdevs(mount, Value::LogDevice(has_log))))
            .run("randwrite-4k", path, "--set fsync-every=1")
            .run("randwrite-4k", path, ""),
    )
}

/// A smallest I/O below the disks' sectors.
fn ashift(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let shift = mount.zfs.as_ref()?.ashift?;
    let why = ZfsWhy::Ashift { bytes: 1_u64.checked_shl(u32::try_from(shift).ok()?)? };
    let place = format!("zpool get ashift {}", pool(mount));
    let finding = Finding::new("zfs-ashift", about(mount), Certainty::Likely, why)
        .observed(Observation::field(place, "ashift", shift.to_string()))
        .run("randwrite-4k", path, "--set fsync-every=1");
    // 0 leaves it to each vdev.
    (1..SECTOR_SHIFT).contains(&shift).then_some(finding)
}

/// A special vdev that takes all data.
fn special(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let zfs = mount.zfs.as_ref()?;
    let (small, record) = (zfs.special_small_bytes?, zfs.record_bytes?);
    let why = ZfsWhy::Special { small_bytes: small, record_bytes: record };
    let finding = Finding::new("zfs-special-vdev", about(mount), Certainty::Likely, why)
        .observed(property(mount, "special_small_blocks", small.to_string()))
        .observed(property(mount, "recordsize", record.to_string()))
        .run("seqwrite-1m", path, "");
    let has_special = zfs.with_role("special").next().is_some();
    (has_special && small >= record).then_some(finding)
}

/// Random I/O on RAID-Z.
fn raidz(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
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
    let why = ZfsWhy::RaidZ { kind: first.kind.clone(), disks, vdevs: spread.len() };
    let listed = spread.iter().map(|vdev| (vdev.kind.clone(), vdev.devices)).collect();
    Some(
        Finding::new("zfs-raidz", about(mount), certainty, why)
            .observed(vdevs(mount, Value::Vdevs(listed)))
            .run("randread-4k", path, "--set depth=32")
            .run("seqread-1m", path, "--set depth=8"),
    )
}
