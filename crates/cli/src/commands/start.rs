//! `iotax` without arguments: what it can answer on this machine.

use std::env;
use std::fs;
use std::path::Path;

use iotax_inspect::mounts;
use iotax_record::CloudInstance;
use iotax_wording::start::{StartFacts, lines};

use crate::exit::{Exit, Result};
use crate::output::say;

/// File systems of disks, local or remote.
const OF_DISKS: [&str; 12] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "nfs", "nfs4", "cifs",
    "ceph",
];
/// Where systems and containers keep mounts that are not for data.
const NOT_FOR_DATA: [&str; 8] =
    ["/boot", "/efi", "/etc", "/run", "/snap", "/sys", "/var/lib/docker", "/var/lib/kubelet"];
/// What a pod has that may talk to its cluster.
const IN_POD: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";
/// Makers of machines, as firmware names them, that have a metadata service.
const CLOUDS: [&str; 3] = ["Amazon", "Google", "Microsoft"];

pub(crate) fn start() -> Result<Exit> {
    let facts = StartFacts {
        disks: disks(),
        instance: instance(),
        has_cluster: has_cluster(),
        knows_clusters: cfg!(feature = "kubernetes"),
    };
    say(&lines(&facts))?;
    Ok(Exit::Done)
}

/// A directory on each disk; the root's last, because data are elsewhere if they can be.
fn disks() -> Vec<String> {
    let mut seen = Vec::new();
    let mut disks: Vec<String> = Vec::new();
    for mount in mounts().unwrap_or_default() {
        let is_known = seen.contains(&mount.device);
        let is_disk = OF_DISKS.contains(&mount.file_system.as_str()) && !mount.read_only;
        let is_for_data = !NOT_FOR_DATA.iter().any(|place| mount.mount_point.starts_with(place));
        if is_known || !is_disk || !is_for_data || !can_be_written(&mount.mount_point) {
            continue;
        }
        // Others would have to be quoted in a command.
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        if let Some(path) = mount.mount_point.to_str().filter(|path| path.chars().all(plain)) {
            seen.push(mount.device);
            disks.push(path.to_owned());
        }
    }
    disks.sort_by_key(|path| path == "/");
    disks
}

fn can_be_written(directory: &Path) -> bool {
    directory.is_dir() && rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_ok()
}

/// The VM, if the firmware names a cloud: elsewhere nothing is asked.
fn instance() -> Option<CloudInstance> {
    let vendor = fs::read_to_string("/sys/class/dmi/id/sys_vendor").ok()?;
    let is_cloud = CLOUDS.iter().any(|cloud| vendor.contains(cloud));
    is_cloud.then(iotax_inspect::cloud_instance).flatten()
}

fn has_cluster() -> bool {
    let is_named = env::var_os("KUBECONFIG").is_some_and(|value| !value.is_empty());
    let is_usual = env::home_dir().is_some_and(|home| home.join(".kube/config").exists());
    is_named || is_usual || Path::new(IN_POD).exists()
}
