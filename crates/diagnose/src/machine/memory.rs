//! The page cache: reading ahead, writing later, and too little of it.

use iotax_catalog::DiskExpectation;
use iotax_record::machine::{Device, Swap};
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, ComponentKind, Finding};
use crate::machine::observation::{Field, Observation, Value};
use crate::machine::snapshot::{Attached, Since, Snapshot};

pub(super) const RULES: &[Rule] = &[
    rule(&["azuredisk-read-ahead"], Finder::Disk(profile)),
    rule(&["read-ahead"], Finder::Documented(read_ahead)),
    rule(&["dirty-throttling"], Finder::Once(dirty_throttling)),
    rule(&["page-cache-thrash"], Finder::Once(thrash)),
    rule(&["swap-on-path"], Finder::All(swap)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryWhy {
    // Rates are in bytes per second.
    ReadAhead { ahead_bytes: u64, reaches: f64, documented: f64 },
    Profile { ahead_bytes: u64, reaches: f64 },
    DirtyNow { dirty_bytes: u64, threshold_bytes: u64 },
    DirtyLong { threshold_bytes: u64, seconds: f64, rate: f64 },
    Thrash { waited_percent: f64, refaults: u64, since: Since },
    Swap { used_bytes: u64, path: String },
}

/// Latency of a network disk that rates are computed with.
const ASSUMED_LATENCY_S: f64 = 0.001;
/// What the profile of the azuredisk driver writes.
const PROFILE_READ_AHEAD_BYTES: u64 = 8 << 10;
/// A write-back that takes longer than this surprises.
const LONG_S: f64 = 20.0;
/// Pages read again per second since boot that are no trouble of long ago.
const MANY_REFAULTS_PER_S: u64 = 10;
/// Share of time in which some work waited for memory that is more than noise.
const WAITED_PERCENT: f64 = 1.0;

fn read_ahead_of(device: &Device, bytes: u64) -> Observation {
    Observation::queue(device, "read_ahead_kb", (bytes >> 10).to_string())
}

/// Bytes per second that are documented of a network disk.
fn bandwidth(documented: &DiskExpectation) -> Option<f64> {
    Some(documented.effective.first()?.bw_bytes.as_ref()?.sustained)
}

/// A read-ahead that a single reader cannot reach the documented rate with.
fn read_ahead(
    _: &Snapshot<'_>,
    one: &Attached<'_>,
    documented: &DiskExpectation,
) -> Option<Finding> {
    let (device, path) = (one.device, one.path);
    let bw_bytes = bandwidth(documented)?;
    let ahead = device.queue.read_ahead_bytes?;
    let reaches = ahead as f64 / ASSUMED_LATENCY_S;
    let why = MemoryWhy::ReadAhead { ahead_bytes: ahead, reaches, documented: bw_bytes };
    let about = Component::device(device).of(path);
    let finding = Finding::new("read-ahead", about, Certainty::ToBeTested, why)
        .observed(read_ahead_of(device, ahead))
        .run("driver-searcher", path, "--scale 0.05")
        .run("seqread-1m", path, "--set direct=false --set depth=1");
    (ahead > PROFILE_READ_AHEAD_BYTES && reaches < bw_bytes).then_some(finding)
}

/// The read-ahead that a driver's profile sets.
fn profile(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let ahead = device.queue.read_ahead_bytes?;
    let why = MemoryWhy::Profile { ahead_bytes: ahead, reaches: ahead as f64 / ASSUMED_LATENCY_S };
    let about = Component::device(device).of(path);
    let file = |name: &str, value: Option<u64>| {
        value.map(|value| Observation::queue(device, name, value.to_string()))
    };
    let finding = Finding::new("azuredisk-read-ahead", about, Certainty::Likely, why)
        .observed(read_ahead_of(device, ahead))
        .observed_if(file("nr_requests", device.queue.requests))
        .observed_if(file("max_sectors_kb", device.queue.max_io_bytes.map(|size| size >> 10)))
        .run("seqread-1m", path, "--set direct=false");
    (ahead == PROFILE_READ_AHEAD_BYTES).then_some(finding)
}

/// Writers that the kernel slows down, or will for long.
fn dirty_throttling(seen: &Snapshot<'_>) -> Option<Finding> {
    let memory = &seen.machine.memory;
    let threshold = memory.dirty_threshold_bytes.filter(|bytes| *bytes > 0)?;
    let dirty =
        memory.dirty_bytes.unwrap_or(0).saturating_add(memory.being_written_bytes.unwrap_or(0));
    let path = &seen.first_place()?.path;
    let vmstat =
        |field: &str, value: u64| Observation::field("/proc/vmstat", field, Value::Bytes(value));
    let settings = &memory.writeback;
    let set = match (settings.dirty_bytes, settings.dirty_percent) {
        (Some(bytes @ 1..), _) => Some(("dirty_bytes", bytes)),
        (_, percent) => percent.map(|percent| ("dirty_ratio", percent)),
    };
    let set = set
        .map(|(file, value)| Observation::file(format!("/proc/sys/vm/{file}"), value.to_string()));
    // Writers wait from halfway between the background threshold and this one on.
    if dirty as f64 >= 0.9 * threshold as f64 {
        let why = MemoryWhy::DirtyNow { dirty_bytes: dirty, threshold_bytes: threshold };
        return Some(
            Finding::new("dirty-throttling", ComponentKind::PageCache, Certainty::Snapshot, why)
                .observed(vmstat("nr_dirty + nr_writeback", dirty))
                .observed(vmstat("nr_dirty_threshold", threshold))
                .observed_if(set)
                .run("seqwrite-1m", path, "--set direct=false"),
        );
    }
    let known = seen.documented().filter_map(|(one, says)| Some((one, bandwidth(says)?)));
    let (slow, slowest) = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (device, disk_path) = (slow.device, slow.path);
    let seconds = threshold as f64 / slowest;
    let why = MemoryWhy::DirtyLong { threshold_bytes: threshold, seconds, rate: slowest };
    let about = Component::device(device).of(disk_path);
    let finding = Finding::new("dirty-throttling", about, Certainty::ToBeTested, why)
        .observed(vmstat("nr_dirty_threshold", threshold))
        .observed_if(set)
        .run("seqwrite-1m", disk_path, "--set direct=false --time 60s");
    (seconds >= LONG_S).then_some(finding)
}

/// Pages that are thrown out and read again.
fn thrash(seen: &Snapshot<'_>) -> Option<Finding> {
    let memory = &seen.machine.memory;
    let (pressure, refaults) = (memory.pressure?, memory.file_refaults?);
    let path = &seen.first_place()?.path;
    let counting = &seen.machine.counting;
    let why = MemoryWhy::Thrash {
        waited_percent: pressure.some_300s_percent,
        refaults,
        since: seen.since_boot(counting.more_file_refaults),
    };
    // It may be long ago.
    let acts = match (counting.more_file_refaults, counting.up_s) {
        (Some(more), _) => more > 0,
        (None, Some(up_s)) => refaults / up_s.max(1) >= MANY_REFAULTS_PER_S,
        (None, None) => true,
    };
    let certainty = if acts { Certainty::Likely } else { Certainty::ToBeTested };
    let finding = Finding::new("page-cache-thrash", ComponentKind::PageCache, certainty, why)
        .observed(Observation::field(
            "/proc/vmstat",
            "workingset_refault_file",
            refaults.to_string(),
        ))
        .observed(Observation::field(
            "/proc/pressure/memory",
            "some avg300",
            Value::Percent(pressure.some_300s_percent),
        ))
        .run("driver-searcher", path, "--scale 0.05");
    (refaults > 0 && pressure.some_300s_percent >= WAITED_PERCENT).then_some(finding)
}

/// Used swap on a disk of a path.
fn swap(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |swap: &Swap| {
        let (path, about) = lies_on(seen, swap)?;
        let why = MemoryWhy::Swap { used_bytes: swap.used_bytes, path: path.to_owned() };
        let finding = Finding::new("swap-on-path", about, Certainty::Likely, why)
            .observed(Observation::field(
                "/proc/swaps",
                Field::Of { of: swap.path.clone(), what: "used".to_owned() },
                Value::Bytes(swap.used_bytes),
            ))
            .run("randread-4k", path, "");
        (swap.used_bytes > 0).then_some(finding)
    };
    seen.machine.memory.swaps.iter().filter_map(finding).collect()
}

/// A path on the same storage as swap, and what they share.
fn lies_on<'a>(seen: &Snapshot<'a>, swap: &Swap) -> Option<(&'a str, Component)> {
    let device = seen
        .devices()
        .find(|(device, _)| swap.path.strip_prefix("/dev/") == Some(device.name.as_str()));
    if let Some((device, path)) = device {
        return Some((path, Component::device(device)));
    }
    let holds = |mount: &str| {
        swap.path
            .strip_prefix(mount.trim_end_matches('/'))
            .is_some_and(|rest| rest.starts_with('/'))
    };
    let (mount, path) = seen
        .mounts()
        .filter(|(mount, _)| !mount.mount_point.is_empty() && holds(&mount.mount_point))
        .filter(|_| !swap.path.starts_with("/dev/"))
        .max_by_key(|(mount, _)| mount.mount_point.len())?;
    Some((path, Component::mount(mount)))
}
