//! The disk, and what stands before its queue.

use iotax_experiment::Job;
use serde::Serialize;

use super::{Rule, rule, timed};
use crate::measured::case::{Case, served};
use crate::measured::suspect::{Confidence, Suspect};

pub(super) const RULES: &[Rule] = &[
    rule(&["neighbour"], other_load),
    timed(&["saturated-device"], busy_with_other_jobs),
    rule(&["cgroup-io-max"], group_limit),
    rule(&["io-split"], split),
    timed(&["queue-too-short"], queue_too_short),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceEvidence {
    OtherLoad { disks: Vec<String>, bytes_per_s: f64, others: f64 },
    Busy { share: f64 },
    OtherJobs(OtherJobs),
    InQueue { requests: f64 },
    GroupLimit { reached: f64, allowed: f64, held: GroupRate, group: String, file: String },
    AtDiskItself { share: f64 },
    Split { asked_bytes: f64, device: String, pieces: f64, size_bytes: f64, most_bytes: f64 },
    ShortQueue { in_flight: f64, device: String, holds: f64, waited: f64 },
}

/// Jobs beside the primary one on its disks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherJobs {
    pub disks: Vec<String>,
    /// How busy these were.
    pub busy: f64,
    /// Of the primary job's time, what passed there.
    pub share: f64,
    pub job: String,
    /// Of all bytes, those of the others.
    pub of_others: f64,
    pub others: Vec<String>,
}

/// What a control group limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupRate {
    Reads,
    Writes,
    BytesRead,
    BytesWritten,
}

/// A disk that has something to do for more of the time is never idle for long.
const BUSY_PERCENT: f64 = 95.0;
/// Share of time, or of bytes, that is most of it.
const MOST: f64 = 0.6;
/// Share of a disk's work that was not this program's.
const OTHERS: f64 = 0.25;
/// A rate that near to a limit is at it.
const AT_LIMIT: f64 = 0.05;
/// Requests up to that size are small: each costs as much as a larger one.
const SMALL_BYTES: f64 = 131_072.0;
/// So many requests for one I/O.
const PIECES: f64 = 2.0;

/// Other programs use the same disk.
fn other_load(case: &Case<'_>) -> Option<Suspect> {
    let disk = case.bottom()?;
    // Buffered I/O moves more or fewer bytes than were asked for, by itself.
    (!case.is_buffered() && case.site?.has_device).then_some(())?;
    let read = case.work.read_bytes_per_s;
    let figures = &disk.figures;
    // A program that writes has the writes of its journal and metadata, too.
    let writes = case.experiment.spec.workload().jobs.iter().any(Job::writes);
    let written = if writes { 0.0 } else { figures.write.bytes_per_s() };
    let not_ours = (figures.read.bytes_per_s() - read).max(0.0) + written;
    let all = figures.read.bytes_per_s() + figures.write.bytes_per_s();
    let others = not_ours / all.max(1.0);
    (others > OTHERS).then_some(())?;
    let util = figures.util_percent;
    let evidence =
        DeviceEvidence::OtherLoad { disks: disk.disks.clone(), bytes_per_s: all, others };
    let busy = DeviceEvidence::Busy { share: util / 100.0 };
    // That they are there is sure, and what they cost is not: many disks serve many at a time.
    let suspect = Suspect::new("neighbour", Confidence::Likely, evidence).and([busy]);
    Some(suspect.explaining(case.share_at_disk().map(|share| share * others)))
}

/// A disk that has something to do all the time, most of it for other jobs of the same load: the
/// primary one waits behind them.
fn busy_with_other_jobs(case: &Case<'_>) -> Option<Suspect> {
    let disk = case.bottom().filter(|disk| disk.figures.util_percent > BUSY_PERCENT)?;
    let share = case.share_at(&disk.figures).filter(|share| *share > MOST)?;
    let (own, others) = (case.work.bytes as f64, case.work.other_bytes as f64);
    let of_others = others / (own + others).max(1.0);
    (of_others > MOST).then_some(())?;
    let jobs = &case.experiment.spec.workload().jobs;
    let names = jobs.iter().map(|job| job.name.clone()).filter(|name| *name != case.job.name);
    let queue = DeviceEvidence::InQueue { requests: disk.figures.queue_size };
    let evidence = DeviceEvidence::OtherJobs(OtherJobs {
        busy: disk.figures.util_percent / 100.0,
        share,
        job: case.job.name.clone(),
        of_others,
        others: names.collect(),
        disks: disk.disks,
    });
    Some(
        Suspect::new("saturated-device", Confidence::Likely, evidence)
            .explaining(share)
            .and([queue]),
    )
}

/// A limit that a control group sets, reached.
fn group_limit(case: &Case<'_>) -> Option<Suspect> {
    // What buffered I/O asks for is not what comes to the disk.
    let path = case.path().filter(|_| !case.is_buffered())?;
    let mut limits = case.machine()?.groups.io.iter().filter(|limits| limits.path == path.path);
    let (read, written) = (case.work.read_bytes_per_s, case.work.write_bytes_per_s);
    let ios = case.summary.iops;
    let reads = f64::from(case.job.read_percent) / 100.0;
    let (reached, allowed, held, limits) = limits.find_map(|limits| {
        let each = [
            (limits.read_iops, ios * reads, GroupRate::Reads),
            (limits.write_iops, ios * (1.0 - reads), GroupRate::Writes),
            (limits.read_bw_bytes, read, GroupRate::BytesRead),
            (limits.write_bw_bytes, written, GroupRate::BytesWritten),
        ];
        each.into_iter().find_map(|(limit, reached, held)| {
            let limit = limit.filter(|limit| *limit > 0.0)?;
            let is_at_it = (reached / limit - 1.0).abs() < AT_LIMIT;
            is_at_it.then_some((reached, limit, held, limits))
        })
    })?;
    let (group, file) = (limits.group.clone(), limits.file.clone());
    let evidence = DeviceEvidence::GroupLimit { reached, allowed, held, group, file };
    // What is held back waits above the disk. A rate that is near the limit by chance does not.
    let at_disk = case.share_at_disk();
    let but = at_disk.filter(|share| *share > MOST);
    let but = but.map(|share| DeviceEvidence::AtDiskItself { share });
    let suspect = Suspect::new("cgroup-io-max", Confidence::Sure, evidence);
    Some(suspect.explaining(at_disk.map(|share| 1.0 - share)).but(but))
}

/// I/Os that are cut into several small requests.
fn split(case: &Case<'_>) -> Option<Suspect> {
    let device = case.devices_seen().into_iter().find(|d| d.queue.max_io_bytes.is_some())?;
    let most = device.queue.max_io_bytes? as f64;
    // Drivers without a limit of their own say a huge one.
    let more = device.queue.max_hardware_io_bytes.is_none_or(|hardware| hardware as f64 > most);
    let asked = f64::from(case.job.block_sizes.max_bytes());
    let figures = case.devices().iter().find(|known| known.name == device.name)?.figures;
    let (_, requests) = served(&figures);
    let moved = figures.read.bytes_per_s() + figures.write.bytes_per_s();
    let (pieces, size) = (requests / case.summary.iops.max(f64::MIN_POSITIVE), moved / requests);
    let is_cut = asked >= PIECES * most && pieces >= PIECES && size > 0.7 * most;
    (!case.is_buffered() && is_cut && most < SMALL_BYTES && more).then_some(())?;
    let evidence = DeviceEvidence::Split {
        asked_bytes: asked,
        device: device.name.clone(),
        pieces,
        size_bytes: size,
        most_bytes: most,
    };
    // Nobody measured what one whole request takes.
    let share = case.share_at_disk().map(|share| share * (1.0 - 1.0 / pieces));
    Some(Suspect::new("io-split", Confidence::Likely, evidence).explaining(share))
}

/// More in flight than the queue holds.
fn queue_too_short(case: &Case<'_>) -> Option<Suspect> {
    let device = case.devices_seen().into_iter().find_map(|device| {
        let most = [device.queue.requests, device.queue.depth].into_iter().flatten().min()?;
        Some((device, most as f64))
    });
    let (device, most) = device?;
    let in_flight = f64::from(case.job.in_flight());
    let figures = case.devices().iter().find(|known| known.name == device.name)?.figures;
    let (await_ms, _) = served(&figures);
    let waited = 1.0 - await_ms / case.latency_ms();
    let is_short = in_flight >= 2.0 * most && figures.queue_size >= 0.5 * most && waited > 0.3;
    (!case.is_buffered() && is_short).then_some(())?;
    let evidence =
        DeviceEvidence::ShortQueue { in_flight, device: device.name.clone(), holds: most, waited };
    Some(Suspect::new("queue-too-short", Confidence::Sure, evidence).explaining(waited))
}
