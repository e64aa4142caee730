//! A few I/Os that take most of the time.

use crate::measured::case::Case;
use crate::suspect::{Confidence, Suspect};

/// Latency in two modes.
pub(super) fn slow_few(case: &Case<'_>) -> Option<Suspect> {
    let mode = case.summary.slow_mode?;
    let cpu = case
        .has_no_cpu_left()
        .then(|| "all CPUs were busy: the slow ones may be those that waited for a CPU".to_owned());
    // Of buffered I/O the slow ones may be those that the page cache did not have.
    let is_doubtful = case.is_buffered() || cpu.is_some();
    let confidence = if is_doubtful { Confidence::Possible } else { Confidence::Sure };
    let suspect = Suspect::new("slow-few", confidence, mode.sentence());
    let suspect = suspect.explaining(mode.share_of_time).but(cpu);
    Some(suspect.and([mode.percentiles(&case.summary.latency)]))
}
