//! File systems and how they are mounted.

use iotax_record::machine::MountSeen;
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Finding};
use crate::machine::observation::{Field, Observation};
use crate::machine::snapshot::Snapshot;

pub(super) const RULES: &[Rule] = &[
    rule(&["fsync-network-disk"], Finder::All(fsync)),
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

fn about(mount: &MountSeen) -> Component {
    Component::mount(mount).also(mount.file_system.as_str())
}

/// fsync on network disks: one finding for all of them.
fn fsync(seen: &Snapshot<'_>) -> Vec<Finding> {
    let network: Vec<_> = seen.network_disks().map(|(disk, _)| disk.name.as_str()).collect();
    let waits = |(mount, _): &(&MountSeen, &str)| {
        let is_writable = mount.option("ro").is_none();
        let has_journal = JOURNALLED.contains(&mount.file_system.as_str());
        let mut disks = seen.disks_of(mount).into_iter();
        is_writable && has_journal && disks.any(|disk| network.contains(&disk.name.as_str()))
    };
    let mounts: Vec<_> = seen.mounts().filter(waits).collect();
    let Some((_, path)) = mounts.first() else { return Vec::new() };
    let about: Vec<_> = mounts.iter().map(|(mount, _)| Component::mount(mount)).collect();
    let why = FileSystemWhy::Fsync;
    let mut finding = Finding::new("fsync-network-disk", about, Certainty::ToBeTested, why)
        .run("randwrite-4k", path, "--set fsync-every=1")
        .run("randwrite-4k", path, "");
    let types = mounts.iter().map(|(mount, _)| mount);
    finding.seen.extend(types.map(|mount| Observation::mount(mount, "type", &*mount.file_system)));
    vec![finding]
}

/// ext4's journal of data.
fn data_journal(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let mode = mount.option("data")?;
    let why = FileSystemWhy::DataJournal;
    let finding = Finding::new("data-journal", about(mount), Certainty::Likely, why)
        .observed(Observation::mount(mount, "data", mode))
        .run("seqwrite-1m", path, "");
    (mode == "journal").then_some(finding)
}

/// Mounts that wait for each write.
fn sync(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let option = ["sync", "dirsync"].into_iter().find(|name| mount.option(name).is_some())?;
    let why = FileSystemWhy::Sync { is_directories: option == "dirsync" };
    let workload = if option == "sync" { "randwrite-4k" } else { "git-checkout" };
    Some(
        Finding::new("sync-mount", about(mount), Certainty::Likely, why)
            .observed(Observation::mount(mount, "options", option))
            .run(workload, path, ""),
    )
}

/// Discards with each delete.
fn discard(seen: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let value = mount.option("discard").filter(|value| *value != "async")?;
    let disks = seen.disks_of(mount);
    let most = disks.iter().filter_map(|disk| disk.queue.discard_max_bytes).max()?;
    let why = FileSystemWhy::Discard;
    let value = if value.is_empty() { "on" } else { value };
    let finding = Finding::new("online-discard", about(mount), Certainty::ToBeTested, why)
        .observed(Observation::mount(mount, "discard", value))
        .observed(Observation::file("/sys/block/*/queue/discard_max_bytes", most.to_string()))
        .run("git-checkout", path, "");
    (most > 0).then_some(finding)
}

/// Files of image layers.
fn overlay(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let why = FileSystemWhy::Overlay;
    let finding = Finding::new("overlay-copy-up", about(mount), Certainty::ToBeTested, why)
        .observed(Observation::mount(mount, "type", "overlay"))
        .run("randwrite-4k", path, "");
    (mount.file_system == "overlay").then_some(finding)
}

/// Copy on write, where it is not turned off.
fn copy_on_write(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let is_it = match mount.file_system.as_str() {
        "btrfs" => mount.option("nodatacow").is_none(),
        "zfs" | "bcachefs" => true,
        _ => false,
    };
    let why = FileSystemWhy::CopyOnWrite { file_system: mount.file_system.clone() };
    let cause = "copy-on-write-file-system";
    let finding = Finding::new(cause, about(mount), Certainty::ToBeTested, why)
        .observed(Observation::mount(mount, "type", mount.file_system.as_str()))
        .run("randwrite-4k", path, "--set depth=8");
    is_it.then_some(finding)
}

/// Access times that are always written.
fn strict_atime(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    // With lazytime they are kept in memory for a day.
    let milder = ["relatime", "noatime", "lazytime", "ro"];
    let is_it = JOURNALLED.contains(&mount.file_system.as_str())
        && !mount.options.is_empty()
        && milder.iter().all(|option| mount.option(option).is_none());
    let why = FileSystemWhy::StrictAtime;
    let finding = Finding::new("strict-atime", about(mount), Certainty::ToBeTested, why)
        .observed(Observation::mount(mount, "options", mount.options.as_str()))
        .run("git-status", path, "");
    is_it.then_some(finding)
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
    let contents = mount.contents.as_deref().filter(|contents| *contents == "ntfs");
    let on_device = contents.filter(|_| kind == "fuseblk");
    on_device
        .map(|contents| {
            let field = Field::ContentsOfDevice(mount.mount_point.clone());
            Observation::field("/proc/self/mountinfo", field, contents)
        })
        .or_else(|| kind.contains("ntfs").then(|| Observation::mount(mount, "type", kind)))
        .filter(|_| is_fuse(mount))
}

/// NTFS that a process serves.
fn ntfs(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let observation = ntfs_in(mount)?;
    let why = FileSystemWhy::Ntfs { has_big_writes: mount.option("big_writes").is_some() };
    Some(
        Finding::new("ntfs-fuse", about(mount), Certainty::Likely, why)
            .observed(Observation::mount(mount, "type", mount.file_system.as_str()))
            .observed(observation)
            .run("seqwrite-1m", path, "--set direct=false")
            .run("git-status", path, ""),
    )
}

/// File systems in a process.
fn fuse(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let kind = &mount.file_system;
    let names = [kind.to_ascii_lowercase(), mount.source.to_ascii_lowercase()];
    let is_one_of =
        |known: &[&str]| known.iter().any(|one| names.iter().any(|name| name.contains(one)));
    let (certainty, stands_for) = if is_one_of(&OBJECT_STORES) {
        (Certainty::Likely, StandsFor::ObjectStore)
    } else if is_one_of(&REMOTE) {
        (Certainty::Likely, StandsFor::Machine)
    } else if kind == "fuseblk" {
        (Certainty::ToBeTested, StandsFor::Device)
    } else {
        (Certainty::ToBeTested, StandsFor::Unknown)
    };
    let why = FileSystemWhy::Fuse { stands_for };
    let finding = Finding::new("fuse-file-system", about(mount), certainty, why)
        .observed(Observation::mount(mount, "type", kind.as_str()))
        .run("randread-4k", path, "--set direct=false")
        .run("git-status", path, "");
    (is_fuse(mount) && ntfs_in(mount).is_none()).then_some(finding)
}
