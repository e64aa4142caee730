//! File systems of the host that a virtual machine uses: 9p, virtiofs and their like.

use iotax_record::machine::MountSeen;

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::Snapshot;

/// What a mount has for a message where it does not say: 8 KiB before Linux 5.15, 128 KiB since.
const UNSAID: &str = "at most its msize";

fn about(mount: &MountSeen) -> String {
    format!("{} ({})", mount.mount_point, mount.file_system)
}

/// What a cache mode keeps. Since Linux 6.4 it may be a sum of bits, in hexadecimal digits.
fn cached(mode: Option<&str>) -> String {
    let keeps = match mode {
        None | Some("none" | "0" | "0x0") => "Nothing is cached",
        Some("readahead" | "1" | "0x1") => "Only what is read ahead is cached",
        Some("mmap" | "5" | "0x5") => "Data are cached while a file is open, and no metadata",
        Some("loose" | "f" | "0xf") => "Data and metadata are cached",
        Some("fscache" | "8f" | "0x8f") => "Data and metadata are cached, also on a local disk",
        Some(_) => "What is cached is not known of this mode",
    };
    mode.map_or_else(|| keeps.to_owned(), |mode| format!("{keeps} (cache={mode})"))
}

/// 9p: a call for each operation, and little in each.
pub(super) fn ninep(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let message: Option<u64> = mount.option("msize").and_then(|bytes| bytes.parse().ok());
    let carries = message.map_or(UNSAID.to_owned(), |bytes| format!("at most {} KiB", bytes >> 10));
    let why = format!(
        "Each operation on {} is a call to the host that the program waits for, and a call carries {carries}. \
         {}.",
        mount.mount_point,
        cached(mount.option("cache"))
    );
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

/// The process or program on the host that answers.
fn answered_by(file_system: &str) -> Option<&'static str> {
    match file_system {
        "virtiofs" => Some("virtiofsd on the host"),
        "vboxsf" => Some("VirtualBox on the host"),
        "vmhgfs" | "fuse.vmhgfs-fuse" => Some("VMware on the host"),
        "prl_fs" => Some("Parallels on the host"),
        "fakeowner" | "fuse.grpcfuse" | "osxfs" | "fuse.osxfs" => {
            Some("Docker Desktop on the host")
        }
        _ => None,
    }
}

/// Other shares of a host's directory.
pub(super) fn shared_folder(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let by = answered_by(&mount.file_system)?;
    let dax = mount.option("dax").filter(|mode| *mode != "never");
    let certainty = if dax.is_some() { Certainty::ToBeTested } else { Certainty::Likely };
    let maps = match (&*mount.file_system, dax) {
        ("virtiofs", Some(_)) => {
            " With dax, data are mapped from the host's page cache; metadata are not."
        }
        ("virtiofs", None) => {
            " Without dax, data are copied. The host's cache mode does not show here."
        }
        _ => "",
    };
    let why = format!(
        "Each operation on {} that this machine has not cached goes to {by}, and programs wait for it.{maps}",
        mount.mount_point
    );
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
