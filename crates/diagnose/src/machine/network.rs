//! The network between this machine and its storage.

use iotax_catalog::Cloud;
use iotax_record::machine::{Device, MountSeen, NetworkPath};
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::snapshot::own_address;
use super::{
    At, Component, Detail, Field, Finder, Finding, Observation, Rule, Snapshot, Value, rule,
};

pub(super) const RULES: &[Rule] = &[
    rule(&["network-encryption"], Finder::Mount(encryption)),
    rule(&["tunnel-mtu"], Finder::Mount(mtu)),
    rule(&["storage-shares-network"], Finder::All(shared)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkWhy {
    Encrypted { by: Tunnel, server: String, is_twice: bool },
    Mtu { server: String, mtu_bytes: u32 },
    // A disk of Google Cloud.
    Egress { vm: String },
    Shared { vm: String },
}

/// What encrypts packets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tunnel {
    WireGuard,
    MacSec,
    IpSec,
}

/// What Ethernet carries without a tunnel.
const ETHERNET_MTU: u32 = 1500;

/// The way to the server of a mount.
fn way(mount: &MountSeen) -> Option<&NetworkPath> {
    mount.nfs.as_ref()?.network.as_ref()
}

fn about(mount: &MountSeen, way: &NetworkPath) -> Component {
    Component::mount(mount).with(Detail::By(way.interface.clone()))
}

fn kind(way: &NetworkPath) -> Option<Observation> {
    let file = format!("/sys/class/net/{}/uevent", way.interface);
    Some(Observation::field(file, "DEVTYPE", way.kind.as_deref()?))
}

/// `WireGuard` or `IPsec` on the way to a server.
fn encryption(mount: &At<'_, '_, MountSeen>) -> Option<Finding> {
    let way = way(mount)?;
    let is_wireguard = way.kind.as_deref() == Some("wireguard");
    let has_ipsec = way.ipsec == Some(true);
    let why = NetworkWhy::Encrypted {
        by: if is_wireguard { Tunnel::WireGuard } else { Tunnel::IpSec },
        server: way.server.clone(),
        is_twice: mount.nfs.as_ref()?.option("sec") == Some("krb5p"),
    };
    let ipsec = Observation::field("ip xfrm policy", way.server.as_str(), Value::PoliciesHold);
    mount
        .finding(Likely, why)
        .on(about(mount, way))
        .observed_all(kind(way))
        .observed_all(has_ipsec.then_some(ipsec))
        .run("seqread-1m", mount.path, "--set depth=32")
        .when(is_wireguard || has_ipsec)
}

/// Packets smaller than Ethernet's.
fn mtu(mount: &At<'_, '_, MountSeen>) -> Option<Finding> {
    let way = way(mount)?;
    let mtu_bytes = way.mtu_bytes.filter(|mtu| (1..ETHERNET_MTU).contains(mtu))?;
    mount
        .finding(ToBeTested, NetworkWhy::Mtu { server: way.server.clone(), mtu_bytes })
        .on(about(mount, way))
        .observed(Observation::file(format!("/sys/class/net/{}/mtu", way.interface), mtu_bytes))
        .observed_all(kind(way))
        .run("seqwrite-1m", mount.path, "--set depth=16")
        .into()
}

/// Storage that shares the VM's network.
fn shared(seen: &Snapshot<'_>) -> Vec<Finding> {
    let Some(vm) = seen.vm() else { return Vec::new() };
    let cause = "storage-shares-network";
    let of_disk = |(device, path): (&Device, &str)| {
        let why = NetworkWhy::Egress { vm: vm.to_owned() };
        Finding::new(cause, Component::device(device), ToBeTested, why)
            .observed(Observation::metadata("machine-type", vm))
            .observed(Observation::model(device))
            .run("seqwrite-1m", path, "--set depth=16")
    };
    let of_mount = |(mount, path): (&MountSeen, &str)| {
        // What goes to a process of this machine is told of that process.
        let way = way(mount).filter(|_| own_address(mount).is_none())?;
        let why = NetworkWhy::Shared { vm: vm.to_owned() };
        Finding::new(cause, about(mount, way), ToBeTested, why)
            .observed(Observation::metadata(Field::VmSize, vm))
            .observed(Observation::mount(mount, "type", mount.file_system.as_str()))
            .run("seqwrite-1m", path, "--set depth=16")
            .into()
    };
    let is_gcp = seen.provider() == Some(Cloud::Gcp);
    let disks = seen.network_disks().filter(|_| is_gcp).map(of_disk);
    disks.chain(seen.mounts().filter_map(of_mount)).collect()
}
