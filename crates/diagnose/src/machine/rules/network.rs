//! The network between this machine and its storage.

use iotax_catalog::Cloud;
use iotax_record::machine::{Device, MountSeen, NetworkPath};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Snapshot, own_address};

/// What Ethernet carries without a tunnel.
const ETHERNET_MTU: u32 = 1500;

/// The way to the server of a mount.
fn way(mount: &MountSeen) -> Option<&NetworkPath> {
    mount.nfs.as_ref()?.network.as_ref()
}

fn about(mount: &MountSeen, way: &NetworkPath) -> String {
    format!("{} by {}", mount.mount_point, way.interface)
}

fn kind(way: &NetworkPath) -> Option<Observation> {
    let file = format!("/sys/class/net/{}/uevent", way.interface);
    Some(Observation::field(file, "DEVTYPE", way.kind.as_deref()?))
}

/// `WireGuard` or `IPsec` on the way to a server.
pub(super) fn encryption(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let way = way(mount)?;
    let is_wireguard = way.kind.as_deref() == Some("wireguard");
    let has_ipsec = way.ipsec == Some(true);
    let by = if is_wireguard { "WireGuard" } else { "IPsec" };
    let twice = match mount.nfs.as_ref()?.option("sec") {
        Some("krb5p") => " sec=krb5p encrypts the same data, too.",
        _ => "",
    };
    let why = format!(
        "{by} encrypts each packet to {}, and one connection is mostly one core's work.{twice}",
        way.server
    );
    let ipsec = Observation::field("ip xfrm policy", way.server.as_str(), "policies hold");
    let finding = Finding::new("network-encryption", about(mount, way), Certainty::Likely, why)
        .observed_if(kind(way))
        .observed_if(has_ipsec.then_some(ipsec))
        .run("seqread-1m", path, "--set depth=32");
    (is_wireguard || has_ipsec).then_some(finding)
}

/// Packets smaller than Ethernet's.
pub(super) fn mtu(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let way = way(mount)?;
    let mtu = way.mtu_bytes.filter(|mtu| (1..ETHERNET_MTU).contains(mtu))?;
    let why = format!(
        "Packets to {} carry at most {mtu} bytes: 1 MiB are {} of them, each with its own cost.",
        way.server,
        (1_u32 << 20).div_ceil(mtu)
    );
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
pub(super) fn shared(seen: &Snapshot<'_>) -> Vec<Finding> {
    let Some(vm) = seen.vm() else { return Vec::new() };
    let of_disk = |(device, path): (&Device, &str)| {
        let why = format!(
            "Writes to {} count against the egress of {vm}, 1.16 times; regional disks 2.32 times.",
            device.name
        );
        let model = device.model.clone().unwrap_or_default();
        Finding::new("storage-shares-network", device.name.as_str(), Certainty::ToBeTested, why)
            .observed(Observation::metadata("machine-type", vm))
            .observed(Observation::block(device, "device/model", model))
            .run("seqwrite-1m", path, "--set depth=16")
    };
    let of_mount = |(mount, path): (&MountSeen, &str)| {
        // What goes to a process of this machine is told of that process.
        let way = way(mount).filter(|_| own_address(mount).is_none())?;
        let why = format!("{} shares the network limit of {vm} with all else.", mount.mount_point);
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
