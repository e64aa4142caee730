//! Waiting for the medium to say that data is safe.

use super::super::case::Case;
use super::super::suspect::{Confidence, Suspect};
use crate::words::{percent, time};

/// Share of a thread's time in flushes that makes them the cause.
const SHARE: f64 = 0.5;
/// A flush that long is a disk's, not a cache's.
const SLOW_NS: f64 = 2e6;

/// Programs that wait for flushes most of the time.
pub(super) fn flushes(case: &Case<'_>) -> Option<Suspect> {
    let share = case.of_job(|job| {
        let threads = f64::from(job.threads.max(1));
        job.sync_sum_ns / (threads * job.active_ns.max(1) as f64)
    });
    let each = case.of_job(|job| job.sync_sum_ns / job.syncs.max(1) as f64);
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
