//! File systems and how they are mounted.

use iotax_record::machine::MountSeen;
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{Component, Field, Finder, Finding, MountAt, Observation, Rule, Snapshot, rule};

pub(super) const RULES: &[Rule] = &[
    rule(&["fsync-network-disk"], Finder::Once(fsync)),
    rule(&["data-journal"], Finder::Mount(data_journal)),
    rule(&["sync-mount"], Finder::Mount(sync)),
    rule(&["online-discard"], Finder::Mount(discard)),
    rule(&["overlay-copy-up"], Finder::Mount(overlay)),
    rule(&["copy-on-write-file-system"], Finder::Mount(copy_on_write)),
    rule(&["strict-atime"], Finder::Mount(strict_atime)),
    rule(&["fuse-file-system"], Finder::Mount(fuse)),
    rule(&["ntfs-fuse"], Finder::Mount(ntfs)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSystemWhy {
    Fsync,
    DataJournal,
    Sync { is_directories: bool },
    Discard,
    Overlay,
    CopyOnWrite { file_system: String },
    StrictAtime,
    Ntfs { has_big_writes: bool },
    Fuse { stands_for: StandsFor },
}

/// What is behind a file system in a process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StandsFor {
    ObjectStore,
    Machine,
    Device,
    Unknown,
}

/// Those that commit to a journal (or a log) in fsync.
const JOURNALLED: [&str; 5] = ["ext3", "ext4", "xfs", "btrfs", "jfs"];
/// File systems in a process that stand for object storage.
const OBJECT_STORES: [&str; 8] =
    ["gcsfuse", "blobfuse", "s3fs", "mountpoint", "goofys", "rclone", "geesefs", "juicefs"];
/// File systems in a process that stand for another machine.
const REMOTE: [&str; 4] = ["sshfs", "glusterfs", "curlftpfs", "davfs"];

fn kind_of(mount: &MountSeen) -> Observation {
    Observation::mount(mount, "type", mount.file_system.as_str())
}

/// fsync on network disks: one finding for all of them.
fn fsync(seen: &Snapshot<'_>) -> Option<Finding> {
    let network: Vec<_> = seen.network_disks().map(|(disk, _)| disk.name.as_str()).collect();
    let waits = |(mount, _): &(&MountSeen, &str)| {
        let is_writable = mount.option("ro").is_none();
        let has_journal = JOURNALLED.contains(&mount.file_system.as_str());
        let mut disks = seen.disks_of(mount).into_iter();
        is_writable && has_journal && disks.any(|disk| network.contains(&disk.name.as_str()))
    };
    let (mounts, paths): (Vec<_>, Vec<_>) = seen.mounts().filter(waits).unzip();
    let path = paths.first()?;
    let about: Vec<_> = mounts.iter().map(|mount| Component::mount(mount)).collect();
    Finding::new("fsync-network-disk", about, ToBeTested, FileSystemWhy::Fsync)
        .observed_all(mounts.into_iter().map(kind_of))
        .run("randwrite-4k", path, "--set fsync-every=1")
        .run("randwrite-4k", path, "")
        .into()
}

/// ext4's journal of data.
fn data_journal(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let mode = mount.option("data")?;
    mount
        .finding(Likely, FileSystemWhy::DataJournal)
        .observed(Observation::mount(mount, "data", mode))
        .run("seqwrite-1m", mount.path, "")
        .when(mode == "journal")
}

/// Mounts that wait for each write.
fn sync(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let option = ["sync", "dirsync"].into_iter().find(|name| mount.option(name).is_some())?;
    let workload = if option == "sync" { "randwrite-4k" } else { "git-checkout" };
    mount
        .finding(Likely, FileSystemWhy::Sync { is_directories: option == "dirsync" })
        .observed(Observation::mount(mount, "options", option))
        .run(workload, mount.path, "")
        .into()
}

/// Discards with each delete.
fn discard(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let value = mount.option("discard").filter(|value| *value != "async")?;
    let disks = mount.seen.disks_of(mount);
    let most = disks.iter().filter_map(|disk| disk.queue.discard_max_bytes).max()?;
    let value = if value.is_empty() { "on" } else { value };
    mount
        .finding(ToBeTested, FileSystemWhy::Discard)
        .observed(Observation::mount(mount, "discard", value))
        .observed(Observation::file("/sys/block/*/queue/discard_max_bytes", most))
        .run("git-checkout", mount.path, "")
        .when(most > 0)
}

/// Files of image layers.
fn overlay(mount: &MountAt<'_, '_>) -> Option<Finding> {
    mount
        .finding(ToBeTested, FileSystemWhy::Overlay)
        .observed(kind_of(mount))
        .run("randwrite-4k", mount.path, "")
        .when(mount.file_system == "overlay")
}

/// Copy on write, where it is not turned off.
fn copy_on_write(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let is_it = match mount.file_system.as_str() {
        "btrfs" => mount.option("nodatacow").is_none(),
        "zfs" | "bcachefs" => true,
        _ => false,
    };
    let file_system = mount.file_system.clone();
    mount
        .finding(ToBeTested, FileSystemWhy::CopyOnWrite { file_system })
        .observed(kind_of(mount))
        .run("randwrite-4k", mount.path, "--set depth=8")
        .when(is_it)
}

/// Access times that are always written.
fn strict_atime(mount: &MountAt<'_, '_>) -> Option<Finding> {
    // With lazytime they are kept in memory for a day.
    let milder = ["relatime", "noatime", "lazytime", "ro"];
    let is_it = JOURNALLED.contains(&mount.file_system.as_str())
        && !mount.options.is_empty()
        && milder.iter().all(|option| mount.option(option).is_none());
    mount
        .finding(ToBeTested, FileSystemWhy::StrictAtime)
        .observed(Observation::mount(mount, "options", mount.options.as_str()))
        .run("git-status", mount.path, "")
        .when(is_it)
}

/// Whether a process serves a mount. Shares of the host by hypervisors have a rule of their own.
fn is_fuse(mount: &MountSeen) -> bool {
    let kind = mount.file_system.as_str();
    let is_share = matches!(kind, "fuse.vmhgfs-fuse" | "fuse.grpcfuse" | "fuse.osxfs");
    (kind == "fuse" || kind == "fuseblk" || kind.starts_with("fuse.")) && !is_share
}

/// What shows that a process serves NTFS, if one does.
fn ntfs_in(mount: &MountSeen) -> Option<Observation> {
    let kind = mount.file_system.as_str();
    if !is_fuse(mount) {
        return None;
    }
    match mount.contents.as_deref() {
        Some(contents @ "ntfs") if kind == "fuseblk" => {
            let field = Field::ContentsOfDevice(mount.mount_point.clone());
            Some(Observation::field("/proc/self/mountinfo", field, contents))
        }
        _ => kind.contains("ntfs").then(|| kind_of(mount)),
    }
}

/// NTFS that a process serves.
fn ntfs(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let observation = ntfs_in(mount)?;
    let has_big_writes = mount.option("big_writes").is_some();
    mount
        .finding(Likely, FileSystemWhy::Ntfs { has_big_writes })
        .observed(kind_of(mount))
        .observed(observation)
        .run("seqwrite-1m", mount.path, "--set direct=false")
        .run("git-status", mount.path, "")
        .into()
}

/// File systems in a process.
fn fuse(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let names = [mount.file_system.to_ascii_lowercase(), mount.source.to_ascii_lowercase()];
    let is_one_of =
        |known: &[&str]| known.iter().any(|one| names.iter().any(|name| name.contains(one)));
    let (certainty, stands_for) = match () {
        () if is_one_of(&OBJECT_STORES) => (Likely, StandsFor::ObjectStore),
        () if is_one_of(&REMOTE) => (Likely, StandsFor::Machine),
        () if mount.file_system == "fuseblk" => (ToBeTested, StandsFor::Device),
        () => (ToBeTested, StandsFor::Unknown),
    };
    mount
        .finding(certainty, FileSystemWhy::Fuse { stands_for })
        .observed(kind_of(mount))
        .run("randread-4k", mount.path, "--set direct=false")
        .run("git-status", mount.path, "")
        .when(is_fuse(mount) && ntfs_in(mount).is_none())
}
