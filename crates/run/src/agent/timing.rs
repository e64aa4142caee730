//! How long the two sides wait for each other.

use std::time::Duration;

use crate::host::{Task, TrialRequest};
use crate::local::LONGEST_LOOKS_NS;

/// Between two signs of life.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(1);
/// An agent that was silent for this time counts as dead.
pub(crate) const SILENCE: Duration = Duration::from_secs(20);
/// How much longer than requested a load may take before its agent counts as hung.
pub(crate) const GRACE: Duration = Duration::from_mins(2);

/// A recording may be replayed on storage that is this many times as slow as the recorded one.
const SLOWER: u64 = 100;

/// The longest time that a trial may take.
pub(crate) fn longest(request: &TrialRequest) -> Duration {
    let mut asked_ns = request.ramp_ns.saturating_add(request.time_ns);
    if matches!(&request.task, Task::Run(workload) if workload.is_recorded()) {
        asked_ns = asked_ns.saturating_mul(SLOWER);
    }
    Duration::from_nanos(asked_ns.saturating_add(LONGEST_LOOKS_NS)) + GRACE
}
