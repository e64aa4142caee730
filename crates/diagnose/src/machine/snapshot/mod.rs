//! What rules look at, and the questions that several of them ask of it.

mod cloud;

use std::net::IpAddr;

use iotax_experiment::CloudChoice;
use iotax_record::Machine;
use iotax_record::machine::{
    Device, DeviceKind, Interface, MountSeen, Node, PathKind, PathSeen, Route, SeenLayer,
};
use serde::Serialize;

pub(super) use self::cloud::Attached;
use self::cloud::Documents;

/// What rules look at: a machine, and what its user says of it.
#[derive(Debug)]
pub(crate) struct Snapshot<'a> {
    pub machine: &'a Machine,
    /// What VM and disks the user says they are.
    pub choice: &'a CloudChoice,
    /// What the catalogue says of them, once it was asked.
    documents: Documents<'a>,
}

impl<'a> Snapshot<'a> {
    pub(super) fn new(machine: &'a Machine, choice: &'a CloudChoice) -> Self {
        Self { machine, choice, documents: Documents::default() }
    }

    /// The VM size: as the user says, else as the cloud does.
    pub(super) fn vm(&self) -> Option<&'a str> {
        let told = self.machine.cloud.as_ref().map(|cloud| cloud.vm.as_str());
        self.choice.vm.as_deref().or(told).filter(|vm| !vm.is_empty())
    }

    /// Version of the kernel: `6.8` of `Linux 6.8.0-45-generic #45-Ubuntu SMP`.
    pub(super) fn kernel(&self) -> Option<(u32, u32)> {
        let text = self.machine.environment.kernel.as_deref()?;
        let release = text.strip_prefix("Linux ").unwrap_or(text);
        let mut parts = release.split(['.', '-', ' ']);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }

    /// When counters of the kernel began, and how far one came while it was watched.
    pub(super) fn since_boot(&self, more: Option<u64>) -> Since {
        Since { ago_s: self.machine.counting.up_s, meanwhile: self.meanwhile(more) }
    }

    pub(super) fn meanwhile(&self, more: Option<u64>) -> Option<Meanwhile> {
        Some(Meanwhile { more: more?, watched_ms: self.machine.counting.watched_ms? })
    }

    /// Devices, each with a path that lies on it.
    pub(super) fn devices(&self) -> impl Iterator<Item = (&'a Device, &'a str)> {
        self.each(SeenLayer::device)
    }

    /// Mounts, each with a path that lies on it.
    pub(super) fn mounts(&self) -> impl Iterator<Item = (&'a MountSeen, &'a str)> {
        self.each(SeenLayer::mount)
    }

    /// The first path that is one, and neither a peer nor an interface.
    pub(super) fn first_place(&self) -> Option<&'a PathSeen> {
        self.machine
            .paths
            .iter()
            .find(|path| !matches!(path.kind, Some(PathKind::Peer | PathKind::Interface)))
    }

    /// The first peer or interface that was asked about.
    pub(super) fn network_path(&self) -> Option<&'a str> {
        let is_one = |seen: &&PathSeen| {
            matches!(seen.kind, Some(PathKind::Peer | PathKind::Interface)) && seen.top.is_some()
        };
        self.machine.paths.iter().find(is_one).map(|seen| seen.path.as_str())
    }

    /// Network interfaces, each with a path that goes through it.
    pub(super) fn interfaces(&self) -> impl Iterator<Item = (&'a Interface, &'a str)> {
        self.each(SeenLayer::interface)
    }

    /// Ways to peers, each with what the peer is called.
    pub(super) fn routes(&self) -> impl Iterator<Item = (&'a Route, &'a str)> {
        self.each(SeenLayer::route)
    }

    /// The interface that packets leave through first.
    pub(super) fn first_interface(&self, route: &Route) -> Option<&'a Interface> {
        let node = self.node(|layer| layer.route().is_some_and(|it| std::ptr::eq(it, route)))?;
        self.interfaces_of(node).into_iter().next()
    }

    /// What an interface stands on.
    pub(super) fn interfaces_below(&self, interface: &Interface) -> Vec<&'a Interface> {
        let is_it =
            |layer: &SeenLayer| layer.interface().is_some_and(|it| it.name == interface.name);
        self.node(is_it).map_or_else(Vec::new, |node| self.interfaces_of(node))
    }

    /// The speed of the card at the bottom of a way, in bits per second.
    pub(super) fn speed_below(&self, route: &Route) -> Option<f64> {
        let is_it = |layer: &SeenLayer| layer.route().is_some_and(|it| std::ptr::eq(it, route));
        let under = self.layers_from(is_it).into_iter();
        let cards =
            under.filter_map(|node| node.layer.interface()).filter(|it| it.driver.is_some());
        let speeds = cards.filter_map(|card| card.speed_mbit);
        speeds.min().map(|mbit| mbit as f64 * 1e6)
    }

    /// The first such layer, and all below it.
    fn layers_from(&self, is_it: impl Fn(&SeenLayer) -> bool) -> Vec<&'a Node> {
        let top = self.machine.nodes.iter().position(|node| is_it(&node.layer));
        self.machine.under(&PathSeen { top, ..PathSeen::default() })
    }

    fn node(&self, is_it: impl Fn(&SeenLayer) -> bool) -> Option<&'a Node> {
        self.machine.nodes.iter().find(|node| is_it(&node.layer))
    }

    fn interfaces_of(&self, node: &Node) -> Vec<&'a Interface> {
        let below = node.below.iter().filter_map(|place| self.machine.nodes.get(*place));
        below.filter_map(|node| node.layer.interface()).collect()
    }

    pub(super) fn under(&self, path: &str) -> Vec<&'a Device> {
        let paths = self.machine.paths.iter().filter(|seen| seen.path == path);
        let nodes = paths.flat_map(|path| self.machine.under(path));
        let devices = nodes.filter_map(|node| node.layer.device());
        devices.collect()
    }

    /// What a device is made of directly.
    pub(super) fn members(&self, device: &Device) -> Vec<&'a Device> {
        let is_it =
            |layer: &SeenLayer| layer.device().is_some_and(|other| other.name == device.name);
        let below = self.node(is_it).into_iter().flat_map(|node| &node.below);
        below.filter_map(|place| self.machine.nodes.get(*place)?.layer.device()).collect()
    }

    /// Whether disks are what they say: neither a cloud's nor a hypervisor's.
    pub(super) fn is_bare_metal(&self) -> bool {
        self.provider().is_none() && self.machine.environment.hypervisor.is_none()
    }

    /// What lies under a device, down to the disks.
    pub(super) fn below(&self, device: &Device) -> Vec<&'a Device> {
        let is_it =
            |layer: &SeenLayer| layer.device().is_some_and(|other| other.name == device.name);
        let devices = self.layers_from(is_it).into_iter().filter_map(|node| node.layer.device());
        devices.skip(1).collect()
    }

    /// The disks under a mount.
    pub(super) fn disks_of(&self, mount: &MountSeen) -> Vec<&'a Device> {
        let is_it =
            |layer: &SeenLayer| layer.mount().is_some_and(|other| std::ptr::eq(other, mount));
        let under = self.layers_from(is_it).into_iter();
        let devices = under.filter_map(|node| node.layer.device());
        devices.filter(|device| device.kind == DeviceKind::Disk).collect()
    }

    /// The disks under a device, or itself if it is one: those that do not lie on others.
    pub(super) fn disks<'d>(&self, device: &'d Device) -> Vec<&'d Device>
    where
        'a: 'd,
    {
        let below = self.below(device);
        let has_none_below = |device: &&Device| self.below(device).is_empty();
        let disks: Vec<_> = below.into_iter().filter(has_none_below).collect();
        if disks.is_empty() { vec![device] } else { disks }
    }

    /// Each thing once, with the first path above it.
    fn each<T: 'a>(
        &self,
        pick: impl Fn(&'a SeenLayer) -> Option<&'a T>,
    ) -> impl Iterator<Item = (&'a T, &'a str)> {
        let machine = self.machine;
        let paths: Vec<_> = machine.paths.iter().map(|path| (path, machine.under(path))).collect();
        machine.nodes.iter().filter_map(move |node| {
            let above = |(_, under): &&(_, Vec<&Node>)| {
                under.iter().any(|below| std::ptr::eq(*below, node))
            };
            let (path, _) = paths.iter().find(above)?;
            Some((pick(&node.layer)?, path.path.as_str()))
        })
    }
}

/// Where the calls of a mount go to, if that is this machine.
pub(super) fn own_address(mount: &MountSeen) -> Option<&str> {
    let nfs = mount.nfs.as_ref()?;
    let option = || nfs.option("addr").or_else(|| mount.option("addr"));
    let address = nfs.network.as_ref().map(|way| way.server.as_str()).or_else(option)?;
    let is_own = address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_own.then_some(address)
}

/// How long a counter has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Since {
    /// When it began, if that is known.
    pub ago_s: Option<u64>,
    pub meanwhile: Option<Meanwhile>,
}

/// How far a counter came while it was watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Meanwhile {
    pub more: u64,
    pub watched_ms: u64,
}

/// A path as a shell takes it, and as no program takes it for an option.
pub(crate) fn quoted(path: &str) -> String {
    word(&as_argument(path))
}

/// A word as a shell takes it.
pub(super) fn word(word: &str) -> String {
    let quoter = shlex::Quoter::new().allow_nul(true);
    quoter.quote(word).expect("NUL is allowed").into_owned()
}

/// A path that no program takes for an option.
pub(super) fn as_argument(path: &str) -> String {
    if path.starts_with('-') { format!("./{path}") } else { path.to_owned() }
}
