//! Block devices: queues, interrupts, drivers, and volumes made of others.

use iotax_catalog::Cloud;
use iotax_record::machine::{Device, UsedAs};
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Finding};
use crate::machine::observation::{Field, Observation, Source, Value};
use crate::machine::snapshot::{Since, Snapshot};

pub(super) const RULES: &[Rule] = &[
    rule(&["single-hardware-queue"], Finder::Disk(hardware_queues)),
    rule(&["first-touch"], Finder::All(first_touch)),
    rule(&["nvme-timeout"], Finder::NetworkDisk(timeout)),
    rule(&["nvme-power-states"], Finder::Disk(power_states)),
    rule(&["io-scheduler"], Finder::Disk(scheduler)),
    rule(&["interrupts-on-one-cpu"], Finder::Disk(interrupts)),
    rule(&["merging-off"], Finder::Disk(merging)),
    rule(&["loop-double-caching"], Finder::Device(loops)),
    rule(&["lvm-snapshot", "thin-volume"], Finder::Device(volumes)),
    rule(&["raid-stripe"], Finder::Device(stripes)),
    rule(&["hdd-volume-snapshot"], Finder::All(hdd_snapshots)),
    rule(&["shared-os-disk"], Finder::NetworkDisk(os_disk)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceWhy {
    HardwareQueues { cpus: u32 },
    FirstTouch,
    Timeout { timeout_ms: u64 },
    PowerStates { latency_us: u64 },
    Scheduler { scheduler: String },
    // The share of all that one of the CPUs has.
    Interrupts { share: f64, total: u64, cpu: usize, cpus: usize, since: Since },
    Merging,
    Loop { file: String },
    Snapshot,
    Thin,
    // What an I/O of 128 KiB is cut into.
    Stripes { ios: u64 },
    HddSnapshot,
    OsDisk { path: String },
}

/// Below this, one queue has not been in anybody's way.
const MANY_CPUS: u32 = 8;
/// Interrupts from which on their spread says something.
const ENOUGH_INTERRUPTS: u64 = 1_000_000;
/// Share of interrupts on one CPU.
const ONE_CPU: f64 = 0.9;
/// The driver's timeout, unless it is changed.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// The smallest stripes that a guide for clouds recommends.
const SMALL_STRIPE_BYTES: u64 = 64 << 10;

fn about(device: &Device, path: &str) -> Component {
    Component::mapped(device).of(path)
}

fn is_nvme(device: &Device) -> bool {
    device.transport.as_deref() == Some("nvme")
}

/// One queue for many CPUs, on a disk that could have more.
fn hardware_queues(seen: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let cpus = seen.machine.environment.cpus;
    let queues = disk.queue.hardware_queues?;
    let could_more = is_nvme(disk) || disk.transport.as_deref() == Some("virtio");
    let why = DeviceWhy::HardwareQueues { cpus };
    let finding =
        Finding::new("single-hardware-queue", about(disk, path), Certainty::ToBeTested, why)
            .observed(Observation::block(disk, "mq/", Value::OneDirectory))
            .run("randread-4k", path, "--set depth=32")
            .run("randread-4k", path, &format!("--set threads={cpus}"));
    (queues == 1 && could_more && cpus >= MANY_CPUS).then_some(finding)
}

/// Network disks whose blocks may have to be fetched.
fn first_touch(seen: &Snapshot<'_>) -> Vec<Finding> {
    let disks: Vec<_> = seen.network_disks().map(|(disk, _)| disk).collect();
    if disks.is_empty() {
        return Vec::new();
    }
    let about: Vec<_> = disks.iter().map(|disk| Component::device(disk)).collect();
    let why = DeviceWhy::FirstTouch;
    let mut finding = Finding::new("first-touch", about, Certainty::ToBeTested, why);
    for disk in disks {
        finding = finding
            .observed(Observation::block(
                disk,
                "device/model",
                disk.model.clone().unwrap_or_default(),
            ))
            .limits("", &format!("/dev/{}", disk.name));
    }
    vec![finding]
}

/// The driver's timeout on volumes that a network serves.
fn timeout(seen: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let of_module = seen.machine.kernel.nvme_timeout_s.map(|s| s.saturating_mul(1_000));
    let timeout_ms = disk.queue.timeout_ms.or(of_module)?;
    let why = DeviceWhy::Timeout { timeout_ms };
    let finding = Finding::new("nvme-timeout", about(disk, path), Certainty::ToBeTested, why)
        .observed(Observation::queue(disk, "io_timeout", timeout_ms.to_string()))
        .run("randread-4k", path, "--time 60s");
    let is_ebs = seen.provider() == Some(Cloud::Aws) && is_nvme(disk);
    (is_ebs && timeout_ms <= DEFAULT_TIMEOUT_MS).then_some(finding)
}

/// Disks that may sleep. Those of clouds do not.
fn power_states(seen: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let latency = seen.machine.kernel.nvme_sleep_latency_us.filter(|us| *us > 0)?;
    if seen.provider().is_some() || seen.machine.environment.hypervisor.is_some() {
        return None;
    }
    let why = DeviceWhy::PowerStates { latency_us: latency };
    let file = "/sys/module/nvme_core/parameters/default_ps_max_latency_us";
    let finding = Finding::new("nvme-power-states", about(disk, path), Certainty::ToBeTested, why)
        .observed(Observation::file(file, latency.to_string()))
        .run("randread-4k", path, "--set rate=1 --time 30s")
        .run("randread-4k", path, "");
    is_nvme(disk).then_some(finding)
}

/// Schedulers of disks that need none.
fn scheduler(_: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let scheduler = disk.queue.scheduler.as_deref()?;
    let is_fast = is_nvme(disk) || disk.queue.rotational == Some(false);
    let certainty = match scheduler {
        "bfq" if is_fast => Certainty::Likely,
        "mq-deadline" | "kyber" if is_nvme(disk) => Certainty::ToBeTested,
        _ => return None,
    };
    let why = DeviceWhy::Scheduler { scheduler: scheduler.to_owned() };
    Some(
        Finding::new("io-scheduler", about(disk, path), certainty, why)
            .observed(Observation::queue(disk, "scheduler", format!("[{scheduler}]")))
            .compare_values(
                "randread-4k --set depth=32 --set threads=4",
                path,
                &format!("/sys/block/{}/queue/scheduler", disk.name),
                scheduler,
                &["none".to_owned()],
            ),
    )
}

/// Interrupts that all go to one CPU.
fn interrupts(seen: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let all = &disk.interrupts_per_cpu;
    let total = all.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let (cpu, most) = all.iter().enumerate().max_by_key(|(_, count)| **count)?;
    let share = *most as f64 / total.max(1) as f64;
    let why =
        DeviceWhy::Interrupts { share, total, cpu, cpus: all.len(), since: seen.since_boot(None) };
    let affinity = disk
        .queue
        .completion_affinity
        .map(|value| Observation::queue(disk, "rq_affinity", value.to_string()));
    let finding = Finding::new("interrupts-on-one-cpu", about(disk, path), Certainty::Likely, why)
        .observed(Observation::field(
            "/proc/interrupts",
            Field::Of { of: disk.name.clone(), what: format!("CPU{cpu}") },
            Value::OfAll { part: *most, all: total },
        ))
        .observed_if(affinity)
        .run("randread-4k", path, "--set depth=32 --set threads=4");
    let is_it = all.len() >= 4 && total >= ENOUGH_INTERRUPTS && share >= ONE_CPU;
    is_it.then_some(finding)
}

/// Queues that never merge.
fn merging(_: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let value = disk.queue.no_merges?;
    let why = DeviceWhy::Merging;
    let finding = Finding::new("merging-off", about(disk, path), Certainty::ToBeTested, why)
        .observed(Observation::queue(disk, "nomerges", value.to_string()))
        .run("seqwrite-1m", path, "--set direct=false");
    (value == 2).then_some(finding)
}

/// Whether the file of a loop device lies in memory, where nothing is cached twice.
fn is_in_memory(seen: &Snapshot<'_>, device: &Device) -> bool {
    let nodes = &seen.machine.nodes;
    let own = nodes.iter().find(|node| node.layer.device() == Some(device));
    let below =
        own.iter().flat_map(|node| &node.below).filter_map(|at| nodes.get(*at)?.layer.mount());
    below.into_iter().any(|mount| matches!(mount.file_system.as_str(), "tmpfs" | "ramfs"))
}

/// Loop devices that cache their file.
fn loops(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let file = device.loop_file.as_ref()?;
    let why = DeviceWhy::Loop { file: file.path.clone() };
    let finding = Finding::new("loop-double-caching", about(device, path), Certainty::Likely, why)
        .observed(Observation::block(device, "loop/dio", "0"))
        .run("seqwrite-1m", path, "")
        .run("seqread-1m", path, "");
    let is_twice = file.is_direct == Some(false) && !is_in_memory(seen, device);
    is_twice.then_some(finding)
}

/// Snapshots and thin volumes.
fn volumes(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let mapping = device.mapping.as_ref()?;
    let mut kinds = mapping.targets.iter().flatten().map(|target| target.kind.as_str());
    let (kind, cause, certainty, why) = kinds.find_map(|kind| match kind {
        "snapshot" | "snapshot-origin" => {
            Some((kind, "lvm-snapshot", Certainty::Likely, DeviceWhy::Snapshot))
        }
        "thin" => Some((kind, "thin-volume", Certainty::ToBeTested, DeviceWhy::Thin)),
        _ => None,
    })?;
    let table = format!("dmsetup table {}", mapping.name);
    Some(
        Finding::new(cause, about(device, path), certainty, why)
            .observed(Observation::field(table, "target", kind))
            .run("randwrite-4k", path, "--set depth=8"),
    )
}

/// RAID 0 with small stripes.
fn stripes(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let stripe = device.stripe_bytes.filter(|stripe| (1..SMALL_STRIPE_BYTES).contains(stripe))?;
    let why = DeviceWhy::Stripes { ios: (128_u64 << 10).div_ceil(stripe) };
    let finding =
        Finding::new("raid-stripe", Component::device(device), Certainty::ToBeTested, why)
            .observed(Observation::block(device, "md/chunk_size", stripe.to_string()))
            .run("randread-4k", path, "--set depth=32")
            .run("randread-4k", path, "--set depth=32 --set block-size=128k");
    (device.raid_level.as_deref() == Some("raid0")).then_some(finding)
}

/// HDD volumes of EBS, which a snapshot slows down.
fn hdd_snapshots(seen: &Snapshot<'_>) -> Vec<Finding> {
    let attached = seen.attached();
    let is_hdd =
        |name: &str| ["st1", "sc1"].iter().any(|kind| name.split(':').next() == Some(*kind));
    let finding = |one: &crate::machine::snapshot::Attached<'_>| {
        let why = DeviceWhy::HddSnapshot;
        let about = about(one.device, one.path);
        Finding::new("hdd-volume-snapshot", about, Certainty::ToBeTested, why)
            .observed(Observation::field(Source::ToldOfPath, one.path, one.name.as_str()))
            .run("seqread-1m", one.path, "")
    };
    attached.iter().filter(|one| is_hdd(&one.name)).map(finding).collect()
}

/// Data on the OS disk of a VM.
fn os_disk(seen: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let why = DeviceWhy::OsDisk { path: path.to_owned() };
    let of_cloud = seen.cloud_disk(disk).and_then(|disk| disk.name.as_deref());
    let observation = match of_cloud {
        Some(name) => Observation::metadata("compute.storageProfile.osDisk.name", name),
        None => Observation::file(format!("/dev/{}", disk.name), Value::SystemDisk),
    };
    let finding = Finding::new("shared-os-disk", about(disk, path), Certainty::ToBeTested, why)
        .observed(observation)
        .limits("", path);
    (disk.used_as == Some(UsedAs::Os)).then_some(finding)
}
