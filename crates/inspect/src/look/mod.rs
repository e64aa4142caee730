//! All that is to be known of a machine to say what may slow its I/O down: the record's
//! [`Machine`].
//!
//! Everything is read as an ordinary user and in a second or two; what that does not show, and how
//! it could be shown, stands in [`Machine::unseen`].
//!
//! | module | reads |
//! |---|---|
//! | `mount`, `ext4` | a mounted file system |
//! | `nfs` | an NFS mount, and the way to its server |
//! | `device`, `queue`, `interrupts` | a block device |
//! | `mapped` | device mapper tables, without their keys |
//! | `ebs`, `nvme` | what the controller of an EBS volume counts |
//! | `group` | control groups: limits, and what they have cost |
//! | `memory`, `pressure` | memory, page cache and swap; shares of time in which work waited |
//! | `confidential` | what hides the memory from the host |
//! | `kernel` | settings of modules |
//! | `programs` | programs that tell what files do not |

mod confidential;
mod device;
mod ebs;
mod ext4;
mod group;
mod interrupts;
mod kernel;
mod mapped;
mod memory;
mod mount;
mod nfs;
mod nvme;
mod pressure;
mod programs;
mod queue;

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use iotax_record::machine::{
    Device, DeviceKind, MACHINE_FORMAT, MountSeen, Node, PathSeen, SeenLayer, Unseen,
};
use iotax_record::{Environment, Machine};

use self::programs::Programs;
use crate::cloud::attached::{Links, used_as};
use crate::cloud::{METADATA_ADDRESS, cloud_instance_at};
use crate::machine::environment;
use crate::mounts::{Mount, parse_mountinfo};
use crate::stack::{Layer, LayerKind, Stack, device_name};

/// After so long no further path is looked at: one that nobody serves takes a second, and those after
/// it are still seen.
const PATHS_LIMIT: Duration = Duration::from_millis(1500);
/// How long all programs that are run may take together.
const PROGRAMS_LIMIT: Duration = Duration::from_secs(1);

/// How to look.
#[derive(Debug, Clone)]
pub struct Look {
    /// Where to ask the cloud which VM this is; `None` asks nobody.
    pub metadata: Option<SocketAddr>,
    /// Directories in which `dmsetup` and `ip` are looked for; without any none is run.
    pub programs: Vec<PathBuf>,
    /// What [`environment`] told already; `None` asks it, which takes about 30 ms.
    pub environment: Option<Environment>,
}

impl Default for Look {
    /// Asks where all clouds answer, and runs the programs of the search path and of
    /// administrators, whose directories are not in that of other users.
    fn default() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let administrators = ["/usr/sbin", "/sbin"].map(PathBuf::from);
        let programs = std::env::split_paths(&path).chain(administrators);
        // Root should not run what lies in the working directory.
        let programs = programs.filter(|directory| directory.is_absolute()).collect();
        Self { metadata: Some(METADATA_ADDRESS), programs, environment: None }
    }
}

/// What can be seen of this machine, and of what lies under `paths`: files, directories, devices;
/// one that is named twice is looked at once.
/// Changes nothing, and takes two seconds at most.
pub fn machine(paths: &[&Path], look: &Look) -> Machine {
    let mut each: Vec<&Path> = Vec::new();
    for path in paths {
        if !each.contains(path) {
            each.push(path);
        }
    }
    let paths = each;
    // The cloud may take its second while everything else is read.
    let cloud = look.metadata.map(|address| thread::spawn(move || cloud_instance_at(address)));
    let sysfs = Path::new("/sys");
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mut stack = Stack::new(sysfs, parse_mountinfo(&text("/proc/self/mountinfo")));
    let started = Instant::now();
    // One that nobody serves takes its second; several must not take one each.
    let mut seen_at = |path: &&Path| match started.elapsed() {
        elapsed if elapsed < PATHS_LIMIT => descend(&mut stack, path),
        _ => PathSeen {
            path: path.display().to_string(),
            problem: Some("not looked at: those before it took too long to answer".to_owned()),
            ..PathSeen::default()
        },
    };
    let seen: Vec<PathSeen> = paths.iter().map(&mut seen_at).collect();
    let found = paths.iter().zip(&seen).filter(|(_, seen)| seen.problem.is_none());
    let found: Vec<&Path> = found.map(|(path, _)| *path).collect();
    let mut unseen = elsewhere(&stack);
    let mut nodes = nodes(&stack, sysfs);
    let programs = Programs::new(&look.programs, PROGRAMS_LIMIT);
    nfs::fill(mounts_of(&mut nodes), &programs, &mut unseen);
    mapped::fill(devices_of(&mut nodes), &programs, &mut unseen);
    ebs::fill(devices_of(&mut nodes), &mut unseen);
    let groups = group::groups(&found);
    let memory = memory::memory();
    let cloud = cloud.and_then(|asked| asked.join().ok().flatten());
    let links = Links::read(Path::new("/dev/disk"));
    for device in devices_of(&mut nodes).filter(|device| device.kind == DeviceKind::Disk) {
        device.used_as = used_as(&device.name, device.model.as_deref(), &links, cloud.as_ref());
    }
    let root = Path::new("/");
    let confidential = confidential::confidential(root, cloud.as_ref(), &mut unseen);
    Machine {
        format: MACHINE_FORMAT,
        note: None,
        iotax_version: env!("CARGO_PKG_VERSION").to_owned(),
        taken: jiff::Timestamp::now().to_string(),
        environment: look.environment.clone().unwrap_or_else(environment),
        paths: seen,
        nodes,
        groups,
        memory,
        confidential,
        kernel: kernel::settings(root),
        cloud,
        unseen,
    }
}

fn nodes(stack: &Stack<'_>, sysfs: &Path) -> Vec<Node> {
    let interrupts = fs::read_to_string("/proc/interrupts").unwrap_or_default();
    let layers = &stack.layers;
    let node = |layer: &Layer| Node {
        layer: match &layer.kind {
            LayerKind::Mount(mount) => {
                let below = layer.below.iter().find_map(|place| match &layers[*place].kind {
                    LayerKind::Device(node) => Some(device_name(node)),
                    LayerKind::Mount(_) => None,
                });
                SeenLayer::Mount(mount::mount(mount, sysfs, below.as_deref()))
            }
            LayerKind::Device(node) => SeenLayer::Device(device::device(node, &interrupts)),
        },
        below: layer.below.clone(),
    };
    layers.iter().map(node).collect()
}

fn mounts_of(nodes: &mut [Node]) -> impl Iterator<Item = &mut MountSeen> {
    nodes.iter_mut().filter_map(|node| node.layer.mount_mut())
}

fn devices_of(nodes: &mut [Node]) -> impl Iterator<Item = &mut Device> {
    nodes.iter_mut().filter_map(|node| node.layer.device_mut())
}

fn descend(stack: &mut Stack<'_>, path: &Path) -> PathSeen {
    let (top, problem) = match stack.path(path) {
        Ok(Some(top)) => (Some(top), None),
        Ok(None) => (None, Some("neither a mount nor a device is known to hold it".to_owned())),
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            (None, Some("no answer within a second: what serves it may be gone".to_owned()))
        }
        Err(error) => (None, Some(error.to_string())),
    };
    PathSeen { path: path.display().to_string(), top, problem }
}

/// Paths that are barred, and mounts whose devices are elsewhere or known to programs of their own.
fn elsewhere(stack: &Stack<'_>) -> Vec<Unseen> {
    let hidden = |mount: &Mount| {
        let at = mount.mount_point.display();
        let (what, how) = match mount.file_system.as_str() {
            "overlay" => (
                format!("the file system that holds the layers of the overlay at {at}"),
                "from the host, outside of the container: iotax doctor PATH".to_owned(),
            ),
            "zfs" => {
                let pool = mount.source.split('/').next().unwrap_or_default();
                (format!("the disks of the pool {pool} at {at}"), format!("zpool status {pool}"))
            }
            "virtiofs" | "9p" => (
                format!("the host's disks behind {at}"),
                "on the host of this virtual machine: iotax doctor PATH".to_owned(),
            ),
            _ => return None,
        };
        Some(Unseen { what, how })
    };
    let barred = stack.barred.iter().map(|path| Unseen {
        what: format!("whether {} is there, and no link to elsewhere", path.display()),
        how: "as root: iotax doctor".to_owned(),
    });
    let bare = stack.layers.iter().filter(|layer| layer.below.is_empty());
    let mounts = bare.filter_map(|layer| match &layer.kind {
        LayerKind::Mount(mount) => Some(mount),
        LayerKind::Device(_) => None,
    });
    barred.chain(mounts.filter_map(hidden)).collect()
}

#[cfg(test)]
mod tests;
