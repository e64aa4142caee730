//! The page cache: reading ahead, writing later, and too little of it.

use iotax_catalog::DiskExpectation;
use iotax_record::machine::{Device, Swap};
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{
    At, Attached, Certainty, Component, ComponentKind, Field, Finder, Finding, Observation, Rule,
    Since, Snapshot, Value, rule,
};

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
    Observation::queue(device, "read_ahead_kb", bytes >> 10)
}

/// Bytes per second that are documented of a network disk.
fn bandwidth(documented: &DiskExpectation) -> Option<f64> {
    Some(documented.effective.first()?.bw_bytes.as_ref()?.sustained)
}

/// A read-ahead that a single reader cannot reach the documented rate with.
fn read_ahead(one: &At<'_, '_, Attached<'_>>, documented: &DiskExpectation) -> Option<Finding> {
    let documented = bandwidth(documented)?;
    let ahead_bytes = one.device.queue.read_ahead_bytes?;
    let reaches = ahead_bytes as f64 / ASSUMED_LATENCY_S;
    one.finding(ToBeTested, MemoryWhy::ReadAhead { ahead_bytes, reaches, documented })
        .on(Component::device(one.device).of(one.path))
        .observed(read_ahead_of(one.device, ahead_bytes))
        .run("driver-searcher", one.path, "--scale 0.05")
        .run("seqread-1m", one.path, "--set direct=false --set depth=1")
        .when(ahead_bytes > PROFILE_READ_AHEAD_BYTES && reaches < documented)
}

/// The read-ahead that a driver's profile sets.
fn profile(disk: &At<'_, '_, Device>) -> Option<Finding> {
    let ahead_bytes = disk.queue.read_ahead_bytes?;
    let reaches = ahead_bytes as f64 / ASSUMED_LATENCY_S;
    let most_kib = disk.queue.max_io_bytes.map(|size| size >> 10);
    let file = |name, value: Option<u64>| value.map(|value| Observation::queue(disk, name, value));
    disk.finding(Likely, MemoryWhy::Profile { ahead_bytes, reaches })
        .observed(read_ahead_of(disk, ahead_bytes))
        .observed_all(file("nr_requests", disk.queue.requests))
        .observed_all(file("max_sectors_kb", most_kib))
        .run("seqread-1m", disk.path, "--set direct=false")
        .when(ahead_bytes == PROFILE_READ_AHEAD_BYTES)
}

/// Writers that the kernel slows down, or will for long.
fn dirty_throttling(seen: &Snapshot<'_>) -> Option<Finding> {
    let memory = &seen.machine.memory;
    let threshold_bytes = memory.dirty_threshold_bytes.filter(|bytes| *bytes > 0)?;
    let dirty_bytes =
        memory.dirty_bytes.unwrap_or(0).saturating_add(memory.being_written_bytes.unwrap_or(0));
    let path = &seen.first_place()?.path;
    let vmstat =
        |field: &str, value: u64| Observation::field("/proc/vmstat", field, Value::Bytes(value));
    let settings = &memory.writeback;
    let set = match (settings.dirty_bytes, settings.dirty_percent) {
        (Some(bytes @ 1..), _) => Some(("dirty_bytes", bytes)),
        (_, percent) => percent.map(|percent| ("dirty_ratio", percent)),
    };
    let set = set.map(|(file, value)| Observation::file(format!("/proc/sys/vm/{file}"), value));
    let cause = "dirty-throttling";
    // Writers wait from halfway between the background threshold and this one on.
    if dirty_bytes as f64 >= 0.9 * threshold_bytes as f64 {
        let why = MemoryWhy::DirtyNow { dirty_bytes, threshold_bytes };
        return Finding::new(cause, ComponentKind::PageCache, Certainty::Snapshot, why)
            .observed(vmstat("nr_dirty + nr_writeback", dirty_bytes))
            .observed(vmstat("nr_dirty_threshold", threshold_bytes))
            .observed_all(set)
            .run("seqwrite-1m", path, "--set direct=false")
            .into();
    }
    let known = seen.documented().filter_map(|(one, says)| Some((one, bandwidth(says)?)));
    let (slow, rate) = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let seconds = threshold_bytes as f64 / rate;
    let about = Component::device(slow.device).of(slow.path);
    let why = MemoryWhy::DirtyLong { threshold_bytes, seconds, rate };
    Finding::new(cause, about, ToBeTested, why)
        .observed(vmstat("nr_dirty_threshold", threshold_bytes))
        .observed_all(set)
        .run("seqwrite-1m", slow.path, "--set direct=false --time 60s")
        .when(seconds >= LONG_S)
}

/// Pages that are thrown out and read again.
fn thrash(seen: &Snapshot<'_>) -> Option<Finding> {
    let (memory, counting) = (&seen.machine.memory, &seen.machine.counting);
    let (waited_percent, refaults) = (memory.pressure?.some_300s_percent, memory.file_refaults?);
    // It may be long ago.
    let acts = match (counting.more_file_refaults, counting.up_s) {
        (Some(more), _) => more > 0,
        (None, Some(up_s)) => refaults / up_s.max(1) >= MANY_REFAULTS_PER_S,
        (None, None) => true,
    };
    let certainty = if acts { Likely } else { ToBeTested };
    let since = seen.since_boot(counting.more_file_refaults);
    let waited = Value::Percent(waited_percent);
    let why = MemoryWhy::Thrash { waited_percent, refaults, since };
    Finding::new("page-cache-thrash", ComponentKind::PageCache, certainty, why)
        .observed(Observation::field("/proc/vmstat", "workingset_refault_file", refaults))
        .observed(Observation::field("/proc/pressure/memory", "some avg300", waited))
        .run("driver-searcher", &seen.first_place()?.path, "--scale 0.05")
        .when(refaults > 0 && waited_percent >= WAITED_PERCENT)
}

/// Used swap on a disk of a path.
fn swap(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |swap: &Swap| {
        let (path, about) = lies_on(seen, swap)?;
        let field = Field::Of { of: swap.path.clone(), what: "used".to_owned() };
        let used = Value::Bytes(swap.used_bytes);
        let why = MemoryWhy::Swap { used_bytes: swap.used_bytes, path: path.to_owned() };
        Finding::new("swap-on-path", about, Likely, why)
            .observed(Observation::field("/proc/swaps", field, used))
            .run("randread-4k", path, "")
            .when(swap.used_bytes > 0)
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
