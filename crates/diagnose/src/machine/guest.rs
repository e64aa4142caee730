//! File systems of the host that a virtual machine uses: 9p, virtiofs and their like.

use iotax_record::machine::MountSeen;
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{At, Finder, Finding, Observation, Rule, rule};

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
fn ninep(mount: &At<'_, '_, MountSeen>) -> Option<Finding> {
    let why = GuestWhy::NineP {
        message_bytes: mount.option("msize").and_then(|bytes| bytes.parse().ok()),
        cache: NinePCache::of(mount.option("cache")),
        mode: mount.option("cache").map(str::to_owned),
    };
    let option = |name| Some(Observation::mount(mount, name, mount.option(name)?));
    mount
        .finding(Likely, why)
        .observed(Observation::mount(mount, "type", mount.file_system.as_str()))
        .observed_all(["msize", "cache", "trans"].into_iter().filter_map(option))
        .run("git-status", mount.path, "")
        .run("seqread-1m", mount.path, "--set direct=false")
        .when(mount.file_system == "9p")
}

/// Who answers for a share of the host's directory, if a file system is one.
pub(super) fn answered_by(file_system: &str) -> Option<Answerer> {
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
fn shared_folder(mount: &At<'_, '_, MountSeen>) -> Option<Finding> {
    let by = answered_by(&mount.file_system)?;
    let dax = mount.option("dax").filter(|mode| *mode != "never");
    let maps = (by == Answerer::Virtiofsd).then_some(dax.is_some());
    let mode = dax.map(|mode| if mode.is_empty() { "set" } else { mode });
    mount
        .finding(if dax.is_some() { ToBeTested } else { Likely }, GuestWhy::Shared { by, maps })
        .observed(Observation::mount(mount, "type", mount.file_system.as_str()))
        .observed_all(mode.map(|mode| Observation::mount(mount, "dax", mode)))
        .run("git-status", mount.path, "")
        .run("randread-4k", mount.path, "--set direct=false")
        .run("seqread-1m", mount.path, "--set direct=false")
        .into()
}
