//! The network between this machine and its storage.

use iotax_catalog::Cloud;
use iotax_record::machine::{Device, MountSeen, NetworkPath};
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Detail, Finding};
use crate::machine::observation::{Observation, Value};
use crate::machine::snapshot::{Snapshot, own_address};

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
fn encryption(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let way = way(mount)?;
    let is_wireguard = way.kind.as_deref() == Some("wireguard");
    let has_ipsec = way.ipsec == Some(true);
    let why = NetworkWhy::Encrypted {
        by: if is_wireguard { Tunnel::WireGuard } else { Tunnel::IpSec },
        server: way.server.clone(),
        is_twice: mount.nfs.as_ref()?.option("sec") == Some("krb5p"),
    };
    let ipsec = Observation::field("ip xfrm policy", way.server.as_str(), Value::PoliciesHold);
    let finding = Finding::new("network-encryption", about(mount, way), Certainty::Likely, why)
        .observed_if(kind(way))
        .observed_if(has_ipsec.then_some(ipsec))
        .run("seqread-1m", path, "--set depth=32");
    (is_wireguard || has_ipsec).then_some(finding)
}

/// Packets smaller than Ethernet's.
fn mtu(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let way = way(mount)?;
    let mtu = way.mtu_bytes.filter(|mtu| (1..ETHERNET_MTU).contains(mtu))?;
    let why = NetworkWhy::Mtu { server: way.server.clone(), mtu_bytes: mtu };
    Some(
        Finding::new("tunnel-mtu", about(mount, way), Certainty::ToBeTested, why)
            .observed(Observation::file(
                format!("/sys/class/net/{}/mtu", way.interface),
                mtu.to_string(),
            ))
            .observed_if(kind(way))
            .run("seqwrite-1m", path, "--set depth=16"),
    )
}

/// Storage that shares the VM's network.
fn shared(seen: &Snapshot<'_>) -> Vec<Finding> {
    let Some(vm) = seen.vm() else { return Vec::new() };
    let of_disk = |(device, path): (&Device, &str)| {
        let why = NetworkWhy::Egress { vm: vm.to_owned() };
        let model = device.model.clone().unwrap_or_default();
        Finding::new(
            "storage-shares-network",
            Component::device(device),
            Certainty::ToBeTested,
            why,
        )
        .observed(Observation::metadata("machine-type", vm))
        .observed(Observation::block(device, "device/model", model))
        .run("seqwrite-1m", path, "--set depth=16")
    };
    let of_mount = |(mount, path): (&MountSeen, &str)| {
        // What goes to a process of this machine is told of that process.
        let way = way(mount).filter(|_| own_address(mount).is_none())?;
        let why = NetworkWhy::Shared { vm: vm.to_owned() };
        let cause = "storage-shares-network";
        Some(
            Finding::new(cause, about(mount, way), Certainty::ToBeTested, why)
                .observed(Observation::metadata("VM size", vm))
                .observed(Observation::mount(mount, "type", mount.file_system.as_str()))
                .run("seqwrite-1m", path, "--set depth=16"),
        )
    };
    let is_gcp = seen.provider() == Some(Cloud::Gcp);
    let disks = seen.network_disks().filter(|_| is_gcp).map(of_disk);
    disks.chain(seen.mounts().filter_map(of_mount)).collect()
}
