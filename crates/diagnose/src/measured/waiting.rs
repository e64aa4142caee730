//! Waiting: for the medium to say that data is safe; for one I/O after the other, or for a few that
//! take most of the time.

use iotax_analyze::DeviceFigures;
use serde::Serialize;

use super::processor::{NoneLeft, ProcessorEvidence};
use super::{Rule, rule, timed};
use crate::measured::case::{Bottom, Case};
use crate::measured::suspect::{Confidence, Evidence, Suspect};

pub(super) const RULES: &[Rule] =
    &[timed(&["flush-bound"], flushes), rule(&["sync-mount"], each_change)];
/// Waiting that the load makes by itself.
pub(super) const OF_LOAD: &[Rule] =
    &[rule(&["slow-few"], slow_few), timed(&["too-little-parallelism"], one_at_a_time)];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingEvidence {
    OneByOne { in_flight: u32, latency_ns: f64 },
    // How often a disk was written for each operation, by a mount with an option.
    Written { disks: Vec<String>, per_operation: f64, share: f64, mount: String, option: String },
    InFsync { share: f64, each_ns: f64 },
    Flushed { disks: Vec<String>, per_s: f64, each_ms: f64 },
    // The share of the time in fsync that flushes and writes of a disk account for.
    OfFsync { disks: Vec<String>, share: f64 },
}

/// Share of a thread's time in flushes that makes them the cause.
const SHARE: f64 = 0.5;
/// A flush that long is a disk's, not a cache's.
const SLOW_NS: f64 = 2e6;

/// So many writes of the disk for each operation are not put off.
const WRITTEN: f64 = 0.5;
/// Share of an I/O's time that is the disk's own.
const AT_DISK: f64 = 0.6;

/// A mount that waits until each change is on the disk, and a disk that is written for each.
fn each_change(case: &Case<'_>) -> Option<Suspect> {
    let changes_directories = case.job.engine.has_tree();
    let mounts = case.mounts_seen();
    let (option, mount) = mounts.iter().find_map(|mount| {
        let is_set = |name: &&str| mount.option(name).is_some();
        let fits = |name: &&str| *name == "sync" || changes_directories;
        let found = ["sync", "dirsync"].into_iter().find(|name| fits(name) && is_set(name));
        found.map(|option| (option, mount))
    })?;
    let disk = case.bottom()?;
    let written = disk.figures.write.per_s / case.summary.iops;
    let at_disk = case.share_at_disk()?;
    // A direct write comes to the disk once in any case.
    let added = if case.is_buffered() || changes_directories { written } else { written - 1.0 };
    (case.job.writes() && added > WRITTEN && at_disk > AT_DISK).then_some(())?;
    let evidence = WaitingEvidence::Written {
        disks: disk.disks,
        per_operation: written,
        share: at_disk,
        mount: mount.mount_point.clone(),
        option: option.to_owned(),
    };
    let share = at_disk * added / written;
    Some(Suspect::new("sync-mount", Confidence::Sure, evidence).explaining(share))
}

/// Share of the threads' time in which they synced, and the share of that in which the disk flushed
/// and wrote. `None` if they synced for less than half of it, or no disk is counted.
pub(super) fn syncs(case: &Case<'_>) -> Option<(f64, f64)> {
    let share = case.work.flush_share.min(1.0);
    let disk = case.bottom().filter(|_| share > SHARE)?;
    Some((share, disk_share_of_flushes(case, &disk.figures)?))
}

/// Programs that wait for flushes most of the time.
fn flushes(case: &Case<'_>) -> Option<Suspect> {
    let (share, each) = (case.work.flush_share.min(1.0), case.work.flush_ns);
    (share > SHARE).then_some(())?;
    let evidence = WaitingEvidence::InFsync { share, each_ns: each };
    // What is above the disk took its share of the time, too.
    let uppermost = || case.devices().first().map(|device| Bottom::of(&[device]));
    let Some(disk) = case.bottom().or_else(uppermost) else {
        // Nobody saw who took the time: a file server does not tell.
        let confidence = if each > SLOW_NS { Confidence::Likely } else { Confidence::Possible };
        return Some(Suspect::new("flush-bound", confidence, evidence));
    };
    let figures = &disk.figures;
    let of_disk = disk_share_of_flushes(case, figures)?;
    let device = (figures.flushes_per_s > 0.0).then(|| WaitingEvidence::Flushed {
        disks: disk.disks.clone(),
        per_s: figures.flushes_per_s,
        each_ms: figures.flush_await_ms,
    });
    let written = WaitingEvidence::OfFsync { disks: disk.disks.clone(), share: of_disk };
    let (speaks_for, against) =
        if of_disk < SHARE { (None, Some(written)) } else { (Some(written), None) };
    let confidence = if each > SLOW_NS { Confidence::Sure } else { Confidence::Likely };
    let suspect = Suspect::new("flush-bound", confidence, evidence).explaining(share * of_disk);
    Some(suspect.and(device).and(speaks_for).but(against))
}

/// Share of the time in `fsync` in which the disk flushed, or wrote what `fsync` waits for: pages
/// of buffered writes, and the journal.
fn disk_share_of_flushes(case: &Case<'_>, figures: &DeviceFigures) -> Option<f64> {
    let in_fsync_ms = 1e3 * case.work.flush_share * f64::from(case.job.threads.max(1));
    (in_fsync_ms > 0.0).then_some(())?;
    let direct_writes = if case.is_buffered() || !case.job.writes() {
        0.0
    } else {
        case.summary.iops * f64::from(100 - case.job.read_percent) / 100.0
    };
    let writes = (figures.write.per_s - direct_writes).max(0.0);
    let at_disk_ms =
        figures.flushes_per_s * figures.flush_await_ms + writes * figures.write.await_ms;
    Some((at_disk_ms / in_fsync_ms).min(1.0))
}

/// So few in flight use a fraction of what most disks serve at a time.
const FEW: u32 = 2;
/// An I/O that is faster is not waited for.
const SLOW_IO_MS: f64 = 0.1;

/// Latency in two modes.
fn slow_few(case: &Case<'_>) -> Option<Suspect> {
    let mode = case.summary.slow_mode?;
    let cpu =
        case.has_no_cpu_left().then_some(ProcessorEvidence::NoneLeft(NoneLeft::SlowOnesWaited));
    // Of buffered I/O the slow ones may be those that the page cache did not have.
    let is_doubtful = case.is_buffered() || cpu.is_some();
    let confidence = if is_doubtful { Confidence::Possible } else { Confidence::Sure };
    let suspect = Suspect::new("slow-few", confidence, mode);
    let latency = case.summary.latency.clone();
    Some(
        suspect
            .explaining(mode.share_of_time)
            .but(cpu)
            .and([Evidence::Percentiles { mode, latency }]),
    )
}

/// A program that has one I/O in flight on a disk that would serve many.
fn one_at_a_time(case: &Case<'_>) -> Option<Suspect> {
    (!case.job.engine.is_network()).then_some(())?;
    let in_flight = case.job.in_flight();
    let is_closed = case.job.pace.offered_iops().is_none();
    let direct = !case.is_buffered() && is_closed && in_flight <= FEW;
    (direct && case.latency_ms() > SLOW_IO_MS).then_some(())?;
    case.share_at_disk().is_none_or(|share| share > AT_DISK).then_some(())?;
    let latency_ns = case.summary.mean_latency_ns;
    // More in flight would not make these any faster.
    let slow_few = case.summary.slow_mode.is_some_and(|mode| mode.share_of_time > AT_DISK);
    (!slow_few && !case.has_plateau).then_some(())?;
    let cpu = case.has_no_cpu_left().then_some(ProcessorEvidence::NoneLeft(NoneLeft::MayWait));
    let confidence = if cpu.is_some() { Confidence::Possible } else { Confidence::Likely };
    let evidence = WaitingEvidence::OneByOne { in_flight, latency_ns };
    Some(Suspect::new("too-little-parallelism", confidence, evidence).but(cpu))
}
