//! What memory between the program and the disk does: read-ahead, page cache, dirty pages.

use iotax_record::machine::SeenLayer;
use serde::Serialize;

use super::{Rule, rule, timed};
use crate::measured::case::Case;
use crate::measured::suspect::{Confidence, Suspect};

pub(super) const RULES: &[Rule] = &[
    timed(&["read-ahead"], read_ahead_too_small),
    rule(&["read-ahead-waste"], read_ahead_too_large),
    timed(&["dirty-throttling"], dirty_throttling),
    rule(&["cgroup-memory", "page-cache-thrash"], thrash),
    rule(&["cache-answers"], answered_by_cache),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryEvidence {
    SmallReadAhead { request_bytes: f64, asked_bytes: f64, window_bytes: u64, file: String },
    InFlight { requests: f64 },
    LargeReadAhead { times: f64, request_bytes: f64, window_bytes: u64, file: String },
    // What waited to be written, and its share of what makes writers wait.
    Dirty { waiting_bytes: f64, share: f64, threshold_bytes: f64 },
    DirtyRates { written_per_s: f64, reached_per_s: f64 },
    Refaults { bytes_per_s: f64, share: f64 },
    GroupMayHave { group: String, bytes: u64 },
    FromCache { read_per_s: f64, is_buffered: bool, from_device_per_s: f64 },
}

/// A window of this size is the kernel's usual one.
const USUAL_READ_AHEAD_BYTES: u64 = 128 << 10;
/// Requests of the read-ahead window's size, give or take merging.
const LIKE_WINDOW: std::ops::Range<f64> = 0.5..2.5;
/// So many times the bytes that were asked for are read.
const AMPLIFIED: f64 = 3.0;
/// Writers wait from half way between the background limit and the limit on.
const NEAR_THRESHOLD: f64 = 0.6;
/// Share of what was read that memory had had shortly before.
const REFAULTED: f64 = 0.25;
/// Share of what was read that came from a device; less means that a cache has answered.
const FROM_DEVICE: f64 = 0.5;

/// Buffered reads in requests of a read-ahead window that is small.
fn read_ahead_too_small(case: &Case<'_>) -> Option<Suspect> {
    let (window_bytes, file) = read_ahead(case)?;
    let is_small = window_bytes > 0 && window_bytes < USUAL_READ_AHEAD_BYTES / 2;
    let asked_bytes = f64::from(case.job.block_sizes.max_bytes());
    let gains = case.is_sequential() || asked_bytes > window_bytes as f64;
    (case.is_buffered() && case.job.reads() && is_small && gains).then_some(())?;
    let figures = case.bottom()?.figures;
    let request_bytes = figures.read.size_bytes();
    let is_like = LIKE_WINDOW.contains(&(request_bytes / window_bytes as f64))
        || request_bytes < window_bytes as f64;
    (figures.read.per_s > 0.0 && is_like).then_some(())?;
    let spent = figures.read.per_s * figures.read.await_ms / 1e3;
    let evidence =
        MemoryEvidence::SmallReadAhead { request_bytes, asked_bytes, window_bytes, file };
    let queue = MemoryEvidence::InFlight { requests: figures.queue_size };
    Some(Suspect::new("read-ahead", Confidence::Sure, evidence).explaining(spent).and([queue]))
}

/// Random buffered reads that fetch far more than they were asked for.
fn read_ahead_too_large(case: &Case<'_>) -> Option<Suspect> {
    let random = !case.is_sequential();
    (case.is_buffered() && case.job.reads() && random).then_some(())?;
    let (window_bytes, file) = read_ahead(case).filter(|(window, _)| *window > 0)?;
    let read = case.work.read_bytes_per_s;
    let reads = case.bottom()?.figures.read;
    let asked = f64::from(case.job.block_sizes.max_bytes());
    // Small requests, or more of them than this program's reads, are somebody else's.
    let request_bytes = reads.size_bytes();
    let is_own = request_bytes > 2.0 * asked && reads.per_s < 1.5 * case.summary.iops;
    let times = reads.bytes_per_s() / read.max(1.0);
    (is_own && times > AMPLIFIED).then_some(())?;
    let evidence = MemoryEvidence::LargeReadAhead { times, request_bytes, window_bytes, file };
    let wasted = case.share_at_disk().map(|share| share * (1.0 - 1.0 / times));
    Some(Suspect::new("read-ahead-waste", Confidence::Sure, evidence).explaining(wasted))
}

/// The read-ahead window of the uppermost layer that has one, in bytes, and where it stands.
fn read_ahead(case: &Case<'_>) -> Option<(u64, String)> {
    case.layers_seen().find_map(|layer| match layer {
        SeenLayer::Mount(mount) => {
            let number = mount.number.as_deref()?;
            Some((mount.read_ahead_bytes?, format!("/sys/class/bdi/{number}/read_ahead_kb")))
        }
        SeenLayer::Device(device) => {
            let file = format!("/sys/block/{}/queue/read_ahead_kb", device.name);
            Some((device.queue.read_ahead_bytes?, file))
        }
        SeenLayer::Route(_) | SeenLayer::Interface(_) => None,
    })
}

/// Buffered writers that wait until dirty pages are written.
fn dirty_throttling(case: &Case<'_>) -> Option<Suspect> {
    let writes = case.job.writes() && case.is_buffered() && !case.job.write_through;
    (writes && !case.job.engine.has_tree()).then_some(())?;
    let memory = case.counters?.memory?;
    (memory.dirty_threshold_bytes > 0.0).then_some(())?;
    let waiting = memory.dirty_bytes + memory.writeback_bytes;
    let full = waiting / memory.dirty_threshold_bytes;
    (full > NEAR_THRESHOLD).then_some(())?;
    let written_per_s = case.work.write_bytes_per_s;
    let reached = case.bottom().map(|disk| disk.figures.write.bytes_per_s());
    let evidence = MemoryEvidence::Dirty {
        waiting_bytes: waiting,
        share: full.min(1.0),
        threshold_bytes: memory.dirty_threshold_bytes,
    };
    let rates =
        reached.map(|reached_per_s| MemoryEvidence::DirtyRates { written_per_s, reached_per_s });
    // A write that does not wait is a copy, and takes CPU time for as long as it takes.
    let waited = 1.0 - case.summary.cpu_ns_per_io / case.summary.mean_latency_ns;
    let suspect = Suspect::new("dirty-throttling", Confidence::Sure, evidence);
    Some(suspect.explaining(waited).and(rates))
}

/// Pages of files that are thrown out of memory and soon read again.
fn thrash(case: &Case<'_>) -> Option<Suspect> {
    // A job that drops what it has read has no pages to be thrown out.
    (case.is_buffered() && case.job.reads() && !case.job.uncached).then_some(())?;
    let again = case.counters?.memory?.refault_bytes_per_s;
    let read = case.work.read_bytes_per_s;
    let share = again / read.max(1.0);
    (again > 0.0 && share > REFAULTED).then_some(())?;
    let group = case.machine().and_then(|machine| machine.groups.memory.as_ref());
    let limit = group.and_then(|group| {
        let most = [group.max_bytes, group.high_bytes].into_iter().flatten().min()?;
        Some((most, group))
    });
    let evidence = MemoryEvidence::Refaults { bytes_per_s: again, share: share.min(1.0) };
    // The whole machine's refaults: whose they were is not told.
    let to_blame = if limit.is_some() { "cgroup-memory" } else { "page-cache-thrash" };
    let seen = limit.map(|(most, group)| MemoryEvidence::GroupMayHave {
        group: group.group.clone(),
        bytes: most,
    });
    let at_disk = case.share_at_disk().map(|at_disk| at_disk * share.min(1.0));
    Some(Suspect::new(to_blame, Confidence::Likely, evidence).explaining(at_disk).and(seen))
}

/// Reads that no device has seen.
fn answered_by_cache(case: &Case<'_>) -> Option<Suspect> {
    let reads_only = case.job.reads() && !case.job.writes();
    (reads_only && case.site?.has_device).then_some(())?;
    let read = case.work.read_bytes_per_s;
    let from_device = case.bottom()?.figures.read.bytes_per_s();
    let share = from_device / read.max(1.0);
    (read > 0.0 && share < FROM_DEVICE).then_some(())?;
    let is_buffered = case.is_buffered();
    let evidence =
        MemoryEvidence::FromCache { read_per_s: read, is_buffered, from_device_per_s: from_device };
    // That the page cache answered may be what was asked for, and then it slows nothing down.
    Some(if is_buffered {
        Suspect::new("cache-answers", Confidence::Possible, evidence)
    } else {
        let above = 1.0 - case.share_at_disk().unwrap_or(0.0);
        Suspect::new("cache-answers", Confidence::Sure, evidence)
            .explaining((1.0 - share).min(above))
    })
}
