//! Collects everything about a machine that can explain slow I/O: the record's [`Machine`].
//!
//! Everything is read as an ordinary user, in a second or two. [`Machine::unseen`] lists what an
//! ordinary user cannot see, and how to see it.
//!
//! | module | reads |
//! |---|---|
//! | `place` | the paths themselves, and file systems that are mounted there |
//! | `ext4` | the features of an ext4 file system |
//! | `zfs` | a ZFS dataset and its pool |
//! | `nfs` | an NFS mount, and the path to its server |
//! | `network` | the path to a peer, and network interfaces |
//! | `device` | a block device |
//! | `mapped` | device mapper tables, without their keys |
//! | `nvme` | counters in the controller of an EBS volume |
//! | `group` | control groups: limits, and their cost |
//! | `confidential` | whether memory is hidden from the host |
//! | `kernel` | settings of modules, memory, interrupts, pressure |
//! | `programs` | programs with information that files do not contain |

mod confidential;
mod device;
mod ext4;
mod group;
mod kernel;
mod mapped;
mod network;
mod nfs;
mod nvme;
mod place;
mod programs;
#[cfg(test)]
mod scripts;
mod zfs;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use iotax_record::machine::{
    Counting, Device, DeviceKind, Interface, MACHINE_FORMAT, MountSeen, Node, SeenLayer, Unseen,
};
use iotax_record::{Environment, Machine};

use self::kernel::Watch;
use self::network::Network;
pub use self::network::NetworkSubject;
pub(crate) use self::network::OF_PLUGINS;
pub use self::nfs::listening;
use self::programs::Programs;
pub use self::zfs::vdevs;
use crate::cloud::attached::{Links, used_as};
use crate::cloud::{METADATA_ADDRESS, cloud_instance_at};
use crate::machine::environment;
use crate::mounts::{Mount, mounts};
use crate::stack::{Layer, LayerKind, Stack, device_name};

/// How long iotax watches counters.
const WATCHED: Duration = Duration::from_millis(200);
/// Time limit for all programs together.
const PROGRAMS_LIMIT: Duration = Duration::from_secs(1);

/// Settings of the inspection.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// Address of the cloud's metadata service; `None` asks nobody.
    pub metadata: Option<SocketAddr>,
    /// Directories to search for `dmsetup` and `ip`; if empty, no programs are run.
    pub programs: Vec<PathBuf>,
    /// How long to watch counters, to see whether they grow; zero reads them once.
    pub watch: Duration,
    /// The result of [`environment`]; `None` reads it, which takes about 30 ms.
    pub environment: Option<Environment>,
}

impl Default for ProbeOptions {
    /// Asks the common metadata address, and runs programs from the search path and from the
    /// administrator directories, which other users do not have in theirs.
    fn default() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let administrators = ["/usr/sbin", "/sbin"].map(PathBuf::from);
        let programs = std::env::split_paths(&path).chain(administrators);
        // Root should not run programs from the working directory.
        let programs = programs.filter(|directory| directory.is_absolute()).collect();
        Self { metadata: Some(METADATA_ADDRESS), programs, watch: WATCHED, environment: None }
    }
}

/// Collects everything that can be seen of this machine and of the layers under `paths` (files,
/// directories, devices), each only once, and of `network`, if requested. Changes nothing, and
/// takes at most two seconds; the network may take two more.
pub fn machine(paths: &[&Path], network: &[NetworkSubject], look: &ProbeOptions) -> Machine {
    let mut each: Vec<&Path> = Vec::new();
    for path in paths {
        if !each.contains(path) {
            each.push(path);
        }
    }
    let paths = each;
    // The cloud request can use its second while everything else is read.
    let cloud = look.metadata.map(|address| thread::spawn(move || cloud_instance_at(address)));
    let sysfs = Path::new("/sys");
    let mounts = mounts();
    let has_proc = mounts.is_ok();
    let mounts = mounts.unwrap_or_default();
    let has_nfs = mounts.iter().any(|mount| matches!(mount.file_system.as_str(), "nfs" | "nfs4"));
    let watch = (!look.watch.is_zero()).then(|| Watch::begin(has_nfs));
    let mut stack = Stack::new(sysfs, mounts.clone());
    let mut seen = place::looked_at(&mut stack, &mounts, &paths);
    let mut unseen = elsewhere(&stack);
    unseen.extend(absent(has_proc, sysfs));
    let mut nodes = nodes(&stack, sysfs);
    let net = (!network.is_empty()).then(|| {
        let net = Network::begin(Programs::new(&look.programs, network::LIMIT), &mut unseen);
        let (peers, layers) = net.layers(network, nodes.len(), &mut unseen);
        seen.extend(peers);
        nodes.extend(layers);
        net
    });
    let programs = Programs::new(&look.programs, PROGRAMS_LIMIT);
    nfs::fill(mounts_of(&mut nodes), &programs, &mut unseen);
    zfs::fill(mounts_of(&mut nodes), sysfs, &programs);
    mapped::fill(devices_of(&mut nodes), &programs, &mut unseen);
    nvme::fill(devices_of(&mut nodes), &mut unseen);
    let groups = group::groups(&seen, &stack.layers, &mounts);
    let memory = kernel::memory();
    let cloud = cloud.and_then(|asked| asked.join().ok().flatten());
    let links = Links::read(Path::new("/dev/disk"));
    for device in devices_of(&mut nodes).filter(|device| device.kind == DeviceKind::Disk) {
        device.used_as = used_as(&device.name, device.model.as_deref(), &links, cloud.as_ref());
    }
    let counting = match watch {
        Some(watch) => watch.end(look.watch, mounts_of(&mut nodes)),
        None => Counting { up_s: kernel::up_s(), ..Counting::default() },
    };
    let is_watched = !look.watch.is_zero();
    let network_seen = net.map(|net| net.end(is_watched, interfaces_of(&mut nodes)));
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
        counting,
        confidential,
        kernel: kernel::settings(root),
        network: network_seen,
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
                SeenLayer::Mount(place::mount(mount, sysfs, below.as_deref()))
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

fn interfaces_of(nodes: &mut [Node]) -> impl Iterator<Item = &mut Interface> {
    nodes.iter_mut().filter_map(|node| node.layer.interface_mut())
}

/// Paths that are barred, and mounts whose devices are elsewhere or known only to their own
/// programs.
fn elsewhere(stack: &Stack<'_>) -> Vec<Unseen> {
    let hidden = |mount: &Mount| {
        let at = mount.mount_point.display();
        let (what, how) = match mount.file_system.as_str() {
            "overlay" => (
                format!("the file system that contains the layers of the overlay at {at}"),
                "on the host, outside the container: iotax doctor PATH".to_owned(),
            ),
            "zfs" => {
                let pool = mount.source.split('/').next().unwrap_or_default();
                (format!("the disks in the pool {pool} at {at}"), format!("zpool status {pool}"))
            }
            "virtiofs" | "9p" => (
                format!("the host's disks behind {at}"),
                "on the host of this virtual machine: iotax doctor PATH".to_owned(),
            ),
            _ => return None,
        };
        Some(Unseen { what, how })
    };
    let barred = stack.barred.iter().map(|path| {
        let what = format!("whether {} exists and is not a link", path.display());
        Unseen::new(what, "as root: iotax doctor")
    });
    let bare = stack.layers.iter().filter(|layer| layer.below.is_empty());
    let mounts = bare.filter_map(|layer| match &layer.kind {
        LayerKind::Mount(mount) => Some(mount),
        LayerKind::Device(_) => None,
    });
    barred.chain(mounts.filter_map(hidden)).collect()
}

/// Kernel file systems that are missing, as in some containers.
fn absent(has_proc: bool, sysfs: &Path) -> impl Iterator<Item = Unseen> {
    let missing =
        |what: &str, at: &str| Unseen::new(what, format!("with {at} mounted: iotax doctor"));
    let proc = (!has_proc).then(|| missing("mounts, memory and control groups", "/proc"));
    let sys = (!sysfs.join("dev/block").exists()).then(|| missing("block devices", "/sys"));
    proc.into_iter().chain(sys)
}

#[cfg(test)]
mod tests;
