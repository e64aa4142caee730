//! A few I/Os that take most of the time.

use crate::measured::case::Case;
use crate::suspect::{Confidence, Suspect};

/// Latency in two modes.
pub(super) fn slow_few(case: &Case<'_>) -> Option<Suspect> {
    let mode = case.summary.slow_mode?;
    // Of buffered I/O the slow ones may be those that the page cache did not have.
    let confidence = if case.is_buffered() { Confidence::Possible } else { Confidence::Sure };
    let suspect = Suspect::new("slow-few", confidence, mode.sentence());
    Some(suspect.explaining(mode.share_of_time).and([mode.percentiles(&case.summary.latency)]))
}
