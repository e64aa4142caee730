//! Waiting: for the medium to say that data is safe, or for one I/O after the other.

use iotax_words::{percent, time};

use crate::measured::case::Case;
use crate::suspect::{Confidence, Suspect};

/// Share of a thread's time in flushes that makes them the cause.
const SHARE: f64 = 0.5;
/// A flush that long is a disk's, not a cache's.
const SLOW_NS: f64 = 2e6;

/// So few in flight use a fraction of what most disks serve at a time.
const FEW: u32 = 2;
/// An I/O that is faster is not waited for.
const SLOW_IO_MS: f64 = 0.1;
/// So many writes of the disk for each operation are not put off.
const WRITTEN: f64 = 0.5;
/// Share of an I/O's time that is the disk's own.
const AT_DISK: f64 = 0.6;

/// A program that has one I/O in flight on a disk that would serve many.
pub(super) fn one_at_a_time(case: &Case<'_>) -> Option<Suspect> {
    (!case.job.engine.is_network()).then_some(())?;
    let in_flight = case.job.in_flight();
    let is_closed = case.job.pace.offered_iops().is_none();
    let direct = !case.is_buffered() && is_closed && in_flight <= FEW;
    (direct && case.latency_ms() > SLOW_IO_MS).then_some(())?;
    case.share_at_disk().is_none_or(|share| share > AT_DISK).then_some(())?;
    let latency_ns = case.summary.mean_latency_ns;
    let evidence = format!(
        "with {in_flight} in flight each I/O waits for the one before: throughput cannot exceed \
         {in_flight} / {}, which is {:.0} IOPS, however fast the disk is",
        time(latency_ns),
        f64::from(in_flight) * 1e9 / latency_ns
    );
    Some(Suspect::new("too-little-parallelism", Confidence::Likely, evidence))
}

/// A mount that waits until each change is on the disk, and a disk that is written for each.
pub(super) fn each_change(case: &Case<'_>) -> Option<Suspect> {
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
    let share = case.share_at_disk()?;
    (case.job.writes() && written > WRITTEN && share > AT_DISK).then_some(())?;
    let evidence = format!(
        "{} was written {written:.1} times for each operation, {} of its time: {} is mounted with \
         {option}",
        disk.name,
        percent(share),
        mount.mount_point
    );
    Some(Suspect::new("sync-mount", Confidence::Sure, evidence).explaining(share))
}

/// Programs that wait for flushes most of the time.
pub(super) fn flushes(case: &Case<'_>) -> Option<Suspect> {
    let (share, each) = (case.work.flush_share, case.work.flush_ns);
    (share > SHARE).then_some(())?;
    let confidence = if each > SLOW_NS { Confidence::Sure } else { Confidence::Possible };
    let evidence = format!(
        "threads spent {} of their time in fsync, {} each",
        percent(share.min(1.0)),
        time(each)
    );
    let device = case.bottom().filter(|disk| disk.figures.flushes_per_s > 0.0).map(|disk| {
        format!(
            "{} was flushed {:.0} times per second, {:.2} ms each",
            disk.name, disk.figures.flushes_per_s, disk.figures.flush_await_ms
        )
    });
    Some(Suspect::new("flush-bound", confidence, evidence).explaining(share).and(device))
}
