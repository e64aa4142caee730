//! The page cache: reading ahead, writing later, and too little of it.

use iotax_catalog::DiskExpectation;
use iotax_quantity::{bytes, mb_per_s};
use iotax_record::machine::{Device, Swap};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Attached, Snapshot, meanwhile};

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
pub(super) fn read_ahead(
    _: &Snapshot<'_>,
    one: &Attached<'_>,
    documented: &DiskExpectation,
) -> Option<Finding> {
    let (device, path) = (one.device, one.path);
    let bw_bytes = bandwidth(documented)?;
    let ahead = device.queue.read_ahead_bytes?;
    let reaches = ahead as f64 / ASSUMED_LATENCY_S;
    let why = format!(
        "A thread that reads by page faults has {} KiB in flight: at 1 ms, which is an \
         assumption, {} of the {} that are documented.",
        ahead >> 10,
        mb_per_s(reaches),
        mb_per_s(bw_bytes)
    );
    let about = format!("{} of {path}", device.name);
    let finding = Finding::new("read-ahead", about, Certainty::ToBeTested, why)
        .observed(read_ahead_of(device, ahead))
        .run("driver-searcher", path, "--scale 0.05")
        .run("seqread-1m", path, "--set direct=false --set depth=1");
    (ahead > PROFILE_READ_AHEAD_BYTES && reaches < bw_bytes).then_some(finding)
}

/// The read-ahead that a driver's profile sets.
pub(super) fn profile(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let ahead = device.queue.read_ahead_bytes?;
    let why = format!(
        "Buffered sequential reads of {} fetch {} KiB at a time: at 1 ms, which is an assumption, \
         {}.",
        device.name,
        ahead >> 10,
        mb_per_s(ahead as f64 / ASSUMED_LATENCY_S)
    );
    let about = format!("{} of {path}", device.name);
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
pub(super) fn dirty_throttling(seen: &Snapshot<'_>) -> Option<Finding> {
    let memory = &seen.machine.memory;
    let threshold = memory.dirty_threshold_bytes.filter(|bytes| *bytes > 0)?;
    let dirty =
        memory.dirty_bytes.unwrap_or(0).saturating_add(memory.being_written_bytes.unwrap_or(0));
    let path = &seen.first_place()?.path;
    let vmstat =
        |field: &str, value: u64| Observation::field("/proc/vmstat", field, bytes(value as f64));
    let settings = &memory.writeback;
    let set = match (settings.dirty_bytes, settings.dirty_percent) {
        (Some(bytes @ 1..), _) => Some(("dirty_bytes", bytes)),
        (_, percent) => percent.map(|percent| ("dirty_ratio", percent)),
    };
    let set = set
        .map(|(file, value)| Observation::file(format!("/proc/sys/vm/{file}"), value.to_string()));
    // Writers wait from halfway between the background threshold and this one on.
    if dirty as f64 >= 0.9 * threshold as f64 {
        let why = format!(
            "{} are dirty or being written, and writers wait near {}: they run at the speed of \
             the disk now.",
            bytes(dirty as f64),
            bytes(threshold as f64)
        );
        return Some(
            Finding::new("dirty-throttling", "page cache", Certainty::Snapshot, why)
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
    let why = format!(
        "Up to {} may be dirty before writers wait. {} takes {:.0} s for that at its documented \
         {}: buffered writes look fast until then, and an fsync may wait as long.",
        bytes(threshold as f64),
        device.name,
        seconds,
        mb_per_s(slowest)
    );
    let about = format!("{} of {disk_path}", device.name);
    let finding = Finding::new("dirty-throttling", about, Certainty::ToBeTested, why)
        .observed(vmstat("nr_dirty_threshold", threshold))
        .observed_if(set)
        .run("seqwrite-1m", disk_path, "--set direct=false --time 60s");
    (seconds >= LONG_S).then_some(finding)
}

/// Pages that are thrown out and read again.
pub(super) fn thrash(seen: &Snapshot<'_>) -> Option<Finding> {
    let memory = &seen.machine.memory;
    let (pressure, refaults) = (memory.pressure?, memory.file_refaults?);
    let path = &seen.first_place()?.path;
    let counting = &seen.machine.counting;
    let now = meanwhile(counting.more_file_refaults, counting.watched_ms);
    let why = format!(
        "Work waited for memory {:.1} % of the last five minutes, and {refaults} pages of files \
         were read again {} after they had been thrown out{}.",
        pressure.some_300s_percent,
        seen.since_boot(),
        now.map_or(String::new(), |now| format!("; {now}"))
    );
    // It may be long ago.
    let acts = match (counting.more_file_refaults, counting.up_s) {
        (Some(more), _) => more > 0,
        (None, Some(up_s)) => refaults / up_s.max(1) >= MANY_REFAULTS_PER_S,
        (None, None) => true,
    };
    let certainty = if acts { Certainty::Likely } else { Certainty::ToBeTested };
    let finding = Finding::new("page-cache-thrash", "page cache", certainty, why)
        .observed(Observation::field(
            "/proc/vmstat",
            "workingset_refault_file",
            refaults.to_string(),
        ))
        .observed(Observation::field(
            "/proc/pressure/memory",
            "some avg300",
            format!("{:.1} %", pressure.some_300s_percent),
        ))
        .run("driver-searcher", path, "--scale 0.05");
    (refaults > 0 && pressure.some_300s_percent >= WAITED_PERCENT).then_some(finding)
}

/// Used swap on a disk of a path.
pub(super) fn swap(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |swap: &Swap| {
        let (path, about) = lies_on(seen, swap)?;
        let why = format!(
            "{} of swap are in use on the disk of {path}: what is swapped takes from its limits.",
            bytes(swap.used_bytes as f64)
        );
        let finding = Finding::new("swap-on-path", about, Certainty::Likely, why)
            .observed(Observation::field(
                "/proc/swaps",
                format!("{}: used", swap.path),
                bytes(swap.used_bytes as f64),
            ))
            .run("randread-4k", path, "");
        (swap.used_bytes > 0).then_some(finding)
    };
    seen.machine.memory.swaps.iter().filter_map(finding).collect()
}

/// A path on the same storage as swap, and what they share.
fn lies_on<'a>(seen: &Snapshot<'a>, swap: &Swap) -> Option<(&'a str, String)> {
    let device = seen
        .devices()
        .find(|(device, _)| swap.path.strip_prefix("/dev/") == Some(device.name.as_str()));
    if let Some((device, path)) = device {
        return Some((path, device.name.clone()));
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
    Some((path, mount.mount_point.clone()))
}
