//! Block devices: queues, interrupts, drivers, and volumes made of others.

use iotax_catalog::Cloud;
use iotax_record::machine::{Device, UsedAs};
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{
    Attached, Component, DeviceAt, Field, Finder, Finding, Observation, Rule, Since, Snapshot,
    Source, Value, rule,
};

pub(super) const RULES: &[Rule] = &[
    rule(&["single-hardware-queue"], Finder::Disk(hardware_queues)),
    rule(&["first-touch"], Finder::Once(first_touch)),
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

fn is_nvme(device: &Device) -> bool {
    device.transport.as_deref() == Some("nvme")
}

/// One queue for many CPUs, on a disk that could have more.
fn hardware_queues(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let cpus = disk.seen.machine.environment.cpus;
    let could_more = is_nvme(disk) || disk.transport.as_deref() == Some("virtio");
    disk.finding(ToBeTested, DeviceWhy::HardwareQueues { cpus })
        .observed(Observation::block(disk, "mq/", Value::OneDirectory))
        .run("randread-4k", disk.path, "--set depth=32")
        .run("randread-4k", disk.path, &format!("--set threads={cpus}"))
        .when(disk.queue.hardware_queues == Some(1) && could_more && cpus >= MANY_CPUS)
}

/// Network disks whose blocks may have to be fetched.
fn first_touch(seen: &Snapshot<'_>) -> Option<Finding> {
    let disks: Vec<_> = seen.network_disks().map(|(disk, _)| disk).collect();
    let about: Vec<_> = disks.iter().map(|disk| Component::device(disk)).collect();
    let finding = Finding::new("first-touch", about, ToBeTested, DeviceWhy::FirstTouch);
    let finding = disks.iter().fold(finding, |finding, disk| {
        finding.observed(Observation::model(disk)).limits("", &format!("/dev/{}", disk.name))
    });
    finding.when(!disks.is_empty())
}

/// The driver's timeout on volumes that a network serves.
fn timeout(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let of_module = disk.seen.machine.kernel.nvme_timeout_s.map(|s| s.saturating_mul(1_000));
    let timeout_ms = disk.queue.timeout_ms.or(of_module)?;
    let is_ebs = disk.seen.provider() == Some(Cloud::Aws) && is_nvme(disk);
    disk.finding(ToBeTested, DeviceWhy::Timeout { timeout_ms })
        .observed(Observation::queue(disk, "io_timeout", timeout_ms))
        .run("randread-4k", disk.path, "--time 60s")
        .when(is_ebs && timeout_ms <= DEFAULT_TIMEOUT_MS)
}

/// Disks that may sleep. Those of clouds do not.
fn power_states(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let latency_us = disk.seen.machine.kernel.nvme_sleep_latency_us.filter(|us| *us > 0)?;
    let file = "/sys/module/nvme_core/parameters/default_ps_max_latency_us";
    disk.finding(ToBeTested, DeviceWhy::PowerStates { latency_us })
        .observed(Observation::file(file, latency_us))
        .run("randread-4k", disk.path, "--set rate=1 --time 30s")
        .run("randread-4k", disk.path, "")
        .when(is_nvme(disk) && disk.seen.is_bare_metal())
}

/// Schedulers of disks that need none.
fn scheduler(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let scheduler = disk.queue.scheduler.as_deref()?;
    let is_fast = is_nvme(disk) || disk.queue.rotational == Some(false);
    let certainty = match scheduler {
        "bfq" if is_fast => Likely,
        "mq-deadline" | "kyber" if is_nvme(disk) => ToBeTested,
        _ => return None,
    };
    let (workload, options) = ("randread-4k", "--set depth=32 --set threads=4");
    let file = format!("/sys/block/{}/queue/scheduler", disk.name);
    disk.finding(certainty, DeviceWhy::Scheduler { scheduler: scheduler.to_owned() })
        .observed(Observation::queue(disk, "scheduler", format!("[{scheduler}]")))
        .compare_values(workload, options, disk.path, &file, scheduler, &["none".to_owned()])
        .into()
}

/// Interrupts that all go to one CPU.
fn interrupts(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let all = &disk.interrupts_per_cpu;
    let total = all.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let (cpu, most) = all.iter().enumerate().max_by_key(|(_, count)| **count)?;
    let share = *most as f64 / total.max(1) as f64;
    let (cpus, since) = (all.len(), disk.seen.since_boot(None));
    let affinity = disk.queue.completion_affinity;
    let field = Field::Of { of: disk.name.clone(), what: format!("CPU{cpu}") };
    let most = Value::OfAll { part: *most, all: total };
    disk.finding(Likely, DeviceWhy::Interrupts { share, total, cpu, cpus, since })
        .observed(Observation::field("/proc/interrupts", field, most))
        .observed_all(affinity.map(|value| Observation::queue(disk, "rq_affinity", value)))
        .run("randread-4k", disk.path, "--set depth=32 --set threads=4")
        .when(cpus >= 4 && total >= ENOUGH_INTERRUPTS && share >= ONE_CPU)
}

/// Queues that never merge.
fn merging(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let value = disk.queue.no_merges?;
    disk.finding(ToBeTested, DeviceWhy::Merging)
        .observed(Observation::queue(disk, "nomerges", value))
        .run("seqwrite-1m", disk.path, "--set direct=false")
        .when(value == 2)
}

/// Whether the file of a loop device lies in memory, where nothing is cached twice.
fn is_in_memory(device: &DeviceAt<'_, '_>) -> bool {
    let nodes = &device.seen.machine.nodes;
    let own = nodes.iter().find(|node| node.layer.device() == Some(&**device));
    let below = own.iter().flat_map(|node| &node.below);
    let mut mounts = below.filter_map(|at| nodes.get(*at)?.layer.mount());
    mounts.any(|mount| matches!(mount.file_system.as_str(), "tmpfs" | "ramfs"))
}

/// Loop devices that cache their file.
fn loops(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let file = device.loop_file.as_ref()?;
    device
        .finding(Likely, DeviceWhy::Loop { file: file.path.clone() })
        .observed(Observation::block(device, "loop/dio", "0"))
        .run("seqwrite-1m", device.path, "")
        .run("seqread-1m", device.path, "")
        .when(file.is_direct == Some(false) && !is_in_memory(device))
}

/// Snapshots and thin volumes.
fn volumes(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let mapping = device.mapping.as_ref()?;
    let mut kinds = mapping.targets.iter().flatten().map(|target| target.kind.as_str());
    let (kind, cause, certainty, why) = kinds.find_map(|kind| match kind {
        "snapshot" | "snapshot-origin" => Some((kind, "lvm-snapshot", Likely, DeviceWhy::Snapshot)),
        "thin" => Some((kind, "thin-volume", ToBeTested, DeviceWhy::Thin)),
        _ => None,
    })?;
    let finding = Finding { cause, ..device.finding(certainty, why) }
        .observed(Observation::field(format!("dmsetup table {}", mapping.name), "target", kind))
        .run("randwrite-4k", device.path, "--set depth=8");
    Some(finding)
}

/// RAID 0 with small stripes.
fn stripes(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let stripe = device.stripe_bytes.filter(|stripe| (1..SMALL_STRIPE_BYTES).contains(stripe))?;
    device
        .finding(ToBeTested, DeviceWhy::Stripes { ios: (128_u64 << 10).div_ceil(stripe) })
        .on(Component::device(device))
        .observed(Observation::block(device, "md/chunk_size", stripe))
        .run("randread-4k", device.path, "--set depth=32")
        .run("randread-4k", device.path, "--set depth=32 --set block-size=128k")
        .when(device.raid_level.as_deref() == Some("raid0"))
}

/// HDD volumes of EBS, which a snapshot slows down.
fn hdd_snapshots(seen: &Snapshot<'_>) -> Vec<Finding> {
    let is_hdd = |one: &&Attached<'_>| matches!(one.name.split(':').next(), Some("st1" | "sc1"));
    let finding = |one: &Attached<'_>| {
        let about = Component::mapped(one.device).of(one.path);
        Finding::new("hdd-volume-snapshot", about, ToBeTested, DeviceWhy::HddSnapshot)
            .observed(Observation::field(Source::ToldOfPath, one.path, one.name.as_str()))
            .run("seqread-1m", one.path, "")
    };
    seen.attached().iter().filter(is_hdd).map(finding).collect()
}

/// Data on the OS disk of a VM.
fn os_disk(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let of_cloud = disk.seen.cloud_disk(disk).and_then(|disk| disk.name.as_deref());
    let observation = match of_cloud {
        Some(name) => Observation::metadata("compute.storageProfile.osDisk.name", name),
        None => Observation::file(format!("/dev/{}", disk.name), Value::SystemDisk),
    };
    disk.finding(ToBeTested, DeviceWhy::OsDisk { path: disk.path.to_owned() })
        .observed(observation)
        .limits("", disk.path)
        .when(disk.used_as == Some(UsedAs::Os))
}
