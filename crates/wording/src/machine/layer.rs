//! Describes a layer: what it is, and the facts that affect I/O.

use iotax_quantity::{count, size};
use iotax_record::machine::{
    Crypt, Device, DeviceKind, MappedTarget, MountSeen, NfsSeen, Queue, RaidSeen, SeenLayer,
    UsedAs, ZfsSeen,
};

use crate::machine;

/// `ext4 on /data`, `nvme0n1p2, partition`.
pub fn name(layer: &SeenLayer) -> String {
    match layer {
        SeenLayer::Mount(mount) => format!("{} on {}", mount.file_system, mount.mount_point),
        SeenLayer::Device(device) => match &device.mapping {
            Some(mapping) => format!("{} ({}), {}", device.name, mapping.name, kind(device)),
            None => format!("{}, {}", device.name, kind(device)),
        },
        SeenLayer::Route(route) => format!("route to {}", route.destination),
        SeenLayer::Interface(interface) => machine::name(interface),
    }
}

/// Its important facts, each in a few words.
pub fn facts(layer: &SeenLayer) -> Vec<String> {
    match layer {
        SeenLayer::Mount(mount) => of_mount(mount),
        SeenLayer::Device(device) => of_device(device),
        SeenLayer::Route(route) => machine::of_route(route),
        SeenLayer::Interface(interface) => machine::of_interface(interface),
    }
}

fn kind(device: &Device) -> String {
    let transport = device.transport.as_deref();
    match device.kind {
        DeviceKind::Disk => transport.map_or("disk".to_owned(), |by| format!("{by} disk")),
        DeviceKind::Partition => "partition".to_owned(),
        DeviceKind::Mapped => {
            let targets =
                device.mapping.iter().flat_map(|mapping| mapping.targets.iter().flatten());
            let mut kinds: Vec<&str> = targets.map(|target| target.kind.as_str()).collect();
            kinds.dedup();
            let maker = device.mapping.as_ref().and_then(|mapping| mapping.maker.clone());
            match (kinds.is_empty(), maker) {
                (false, _) => format!("device mapper {}", kinds.join(" + ")),
                (true, Some(maker)) => format!("device mapper {maker}"),
                (true, None) => "device mapper".to_owned(),
            }
        }
        DeviceKind::Raid => device.raid_level.clone().unwrap_or_else(|| "RAID".to_owned()),
        DeviceKind::Loop => "loop device".to_owned(),
        DeviceKind::Memory => "memory".to_owned(),
    }
}

fn of_mount(mount: &MountSeen) -> Vec<String> {
    let mut facts = vec![mount.source.clone()];
    facts.push(mount.options.clone());
    match &mount.nfs {
        Some(nfs) => facts.extend(of_nfs(nfs)),
        None => facts.extend(super_options(mount)),
    }
    if !mount.features.is_empty() {
        facts.push(format!("features {}", mount.features.join(" ")));
    }
    facts.extend(mount.contents.as_ref().map(|kind| format!("{kind} on the device")));
    facts.extend(mount.zfs.as_ref().map(of_zfs));
    facts.extend(mount.read_ahead_bytes.map(|bytes| format!("read-ahead {}", size(bytes))));
    facts.retain(|fact| !fact.is_empty());
    facts
}

/// Without the directories of an overlay, which are separate layers below it.
fn super_options(mount: &MountSeen) -> Option<String> {
    let is_directory = |option: &&str| {
        !["lowerdir", "upperdir", "workdir"].contains(&option.split('=').next().unwrap_or_default())
    };
    let already: Vec<&str> = mount.options.split(',').collect();
    let options: Vec<&str> = mount
        .super_options
        .split(',')
        .filter(is_directory)
        .filter(|option| !already.contains(option))
        .collect();
    (!options.is_empty()).then(|| options.join(","))
}

fn of_nfs(nfs: &NfsSeen) -> Vec<String> {
    const SHOWN: [&str; 6] = ["vers", "sec", "nconnect", "rsize", "wsize", "timeo"];
    let mut facts: Vec<String> =
        SHOWN.iter().filter_map(|key| Some(format!("{key}={}", nfs.option(key)?))).collect();
    let transports = nfs.transports.len() as u64;
    if transports > 0 {
        facts.push(count(transports, "connection"));
    }
    if let Some(way) = &nfs.network {
        let kind = way.kind.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let mtu = way.mtu_bytes.map(|mtu| format!(", MTU {mtu}")).unwrap_or_default();
        let ipsec = if way.ipsec == Some(true) { ", IPsec" } else { "" };
        let by = way.listener.as_ref().map(|by| format!(", to {}", by.program)).unwrap_or_default();
        facts.push(format!("{} through {}{kind}{mtu}{ipsec}{by}", way.server, way.interface));
    }
    facts
}

fn of_zfs(zfs: &ZfsSeen) -> String {
    let named = |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
    let vdevs = zfs.vdevs.iter().map(|vdev| {
        let kind = match vdev.kind.as_str() {
            "disk" => "disk".to_owned(),
            kind => format!("{kind} of {}", vdev.devices),
        };
        if vdev.role == "data" { kind } else { format!("{}: {kind}", vdev.role) }
    });
    let facts = [
        named("record size", zfs.record_bytes.map(size)),
        named("primarycache", zfs.primary_cache.clone()),
        named("sync", zfs.sync.clone()),
        named("ashift", zfs.ashift.map(|shift| shift.to_string())),
    ];
    facts.into_iter().flatten().chain(vdevs).collect::<Vec<_>>().join(", ")
}

fn of_raid(raid: &RaidSeen) -> Vec<String> {
    let missing = raid.missing.filter(|missing| *missing > 0);
    let action = raid.action.clone().filter(|action| action != "idle");
    let facts = [
        raid.members.map(|members| format!("{members} members")),
        missing.map(|missing| format!("{missing} missing")),
        action,
        raid.bitmap.clone().filter(|at| at != "none").map(|at| format!("bitmap at {at}")),
        raid.stripe_cache.map(|entries| format!("stripe cache {entries}")),
    ];
    facts.into_iter().flatten().collect()
}

fn of_device(device: &Device) -> Vec<String> {
    let mut facts = Vec::new();
    if device.kind != DeviceKind::Loop && device.mapping.is_none() {
        facts.extend(device.model.clone());
    }
    facts.push(size(device.size_bytes));
    facts.extend(device.used_as.map(used_as));
    for target in device.mapping.iter().flat_map(|mapping| mapping.targets.iter().flatten()) {
        facts.extend(of_target(target));
    }
    if let Some(file) = &device.loop_file {
        facts.push(format!("file {}", file.path));
        facts.push(match file.is_direct {
            Some(true) => "direct".to_owned(),
            Some(false) => "through the page cache".to_owned(),
            None => String::new(),
        });
    }
    facts.extend(device.stripe_bytes.map(|bytes| format!("stripe size {}", size(bytes))));
    facts.extend(device.raid.iter().flat_map(of_raid));
    // Partitions use their disk's queue.
    if device.kind != DeviceKind::Partition {
        facts.extend(of_queue(&device.queue));
    }
    facts.retain(|fact| !fact.is_empty());
    facts
}

fn used_as(used: UsedAs) -> String {
    match used {
        UsedAs::Os => "OS disk".to_owned(),
        UsedAs::Temporary => "temporary disk on the host".to_owned(),
        UsedAs::Data { lun: Some(lun) } => format!("data disk, LUN {lun}"),
        UsedAs::Data { lun: None } => "data disk".to_owned(),
    }
}

fn of_target(target: &MappedTarget) -> Vec<String> {
    let Some(Crypt { cipher, flags, sector_bytes, integrity }) = &target.crypt else {
        return Vec::new();
    };
    let mut facts = vec![
        cipher.clone(),
        format!("sector size {}", iotax_quantity::single_bytes((*sector_bytes).into())),
    ];
    let flags = if flags.is_empty() { "no flags".to_owned() } else { flags.join(" ") };
    facts.push(flags);
    facts.extend(integrity.as_ref().map(|kind| format!("integrity {kind}")));
    facts
}

fn of_queue(queue: &Queue) -> Vec<String> {
    let named = |name: &str, value: Option<u64>| value.map(|value| format!("{name} {value}"));
    let facts = [
        queue.rotational.filter(|rotates| *rotates).map(|_| "rotational".to_owned()),
        queue.zoned.clone().filter(|zoned| zoned != "none"),
        queue.scheduler.as_ref().map(|name| format!("scheduler {name}")),
        named("queue depth", queue.depth),
        named("requests", queue.requests),
        named("hardware queues", queue.hardware_queues),
        queue.read_ahead_bytes.map(|bytes| format!("read-ahead {}", size(bytes))),
        queue.max_io_bytes.map(|bytes| format!("I/Os up to {}", size(bytes))),
        queue.write_cache.clone(),
    ];
    facts.into_iter().flatten().collect()
}
