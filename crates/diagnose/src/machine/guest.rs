//! File systems of the host that a virtual machine uses: 9p, virtiofs and their like.

use iotax_record::machine::MountSeen;
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Finding};
use crate::machine::observation::Observation;
use crate::machine::snapshot::Snapshot;

pub(super) const RULES: &[Rule] = &[
    rule(&["9p-round-trips"], Finder::Mount(ninep)),
    rule(&["shared-folder"], Finder::Mount(shared_folder)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GuestWhy {
    NineP { message_bytes: Option<u64>, cache: NinePCache, mode: Option<String> },
    // Who answers; and of virtiofs whether it maps data.
    Shared { by: Answerer, maps: Option<bool> },
}

/// What a mount of 9p caches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NinePCache {
    Nothing,
    ReadAhead,
    OpenFiles,
    Everything,
    OnDisk,
    Unknown,
}

/// The process or program on the host that answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    Virtiofsd,
    VirtualBox,
    VmWare,
    Parallels,
    DockerDesktop,
}

fn about(mount: &MountSeen) -> Component {
    Component::mount(mount).also(mount.file_system.as_str())
}

impl NinePCache {
    /// Since Linux 6.4 the mode may be a sum of bits, in hexadecimal digits.
    fn of(mode: Option<&str>) -> Self {
        match mode {
            None | Some("none" | "0" | "0x0") => Self::Nothing,
            Some("readahead" | "1" | "0x1") => Self::ReadAhead,
            Some("mmap" | "5" | "0x5") => Self::OpenFiles,
            Some("loose" | "f" | "0xf") => Self::Everything,
            Some("fscache" | "8f" | "0x8f") => Self::OnDisk,
            Some(_) => Self::Unknown,
        }
    }
}

/// 9p: a call for each operation, and little in each.
fn ninep(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let why = GuestWhy::NineP {
        message_bytes: mount.option("msize").and_then(|bytes| bytes.parse().ok()),
        cache: NinePCache::of(mount.option("cache")),
        mode: mount.option("cache").map(str::to_owned),
    };
    let option =
        |name: &str| mount.option(name).map(|value| Observation::mount(mount, name, value));
    let finding = Finding::new("9p-round-trips", about(mount), Certainty::Likely, why)
        .observed(Observation::mount(mount, "type", mount.file_system.as_str()))
        .observed_if(option("msize"))
        .observed_if(option("cache"))
        .observed_if(option("trans"))
        .run("git-status", path, "")
        .run("seqread-1m", path, "--set direct=false");
    (mount.file_system == "9p").then_some(finding)
}

fn answered_by(file_system: &str) -> Option<Answerer> {
    match file_system {
        "virtiofs" => Some(Answerer::Virtiofsd),
        "vboxsf" => Some(Answerer::VirtualBox),
        "vmhgfs" | "fuse.vmhgfs-fuse" => Some(Answerer::VmWare),
        "prl_fs" => Some(Answerer::Parallels),
        "fakeowner" | "fuse.grpcfuse" | "osxfs" | "fuse.osxfs" => Some(Answerer::DockerDesktop),
        _ => None,
    }
}

/// Other shares of a host's directory.
fn shared_folder(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let by = answered_by(&mount.file_system)?;
    let dax = mount.option("dax").filter(|mode| *mode != "never");
    let certainty = if dax.is_some() { Certainty::ToBeTested } else { Certainty::Likely };
    let maps = (by == Answerer::Virtiofsd).then_some(dax.is_some());
    let why = GuestWhy::Shared { by, maps };
    let dax = dax
        .map(|mode| Observation::mount(mount, "dax", if mode.is_empty() { "set" } else { mode }));
    Some(
        Finding::new("shared-folder", about(mount), certainty, why)
            .observed(Observation::mount(mount, "type", mount.file_system.as_str()))
            .observed_if(dax)
            .run("git-status", path, "")
            .run("randread-4k", path, "--set direct=false")
            .run("seqread-1m", path, "--set direct=false"),
    )
}
