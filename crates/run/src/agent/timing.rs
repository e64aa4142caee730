//! How long the two sides wait for each other.

use std::time::Duration;

use crate::host::TrialRequest;
use crate::local::LONGEST_LOOKS_NS;

/// Between two signs of life.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(1);
/// An agent that was silent for so long is taken for dead.
pub(crate) const SILENCE: Duration = Duration::from_secs(20);
/// What a load may take beyond all that it was asked to, until its agent is taken to hang.
pub(crate) const GRACE: Duration = Duration::from_mins(2);

/// What a trial takes at the longest.
pub(crate) fn longest(request: &TrialRequest) -> Duration {
    let asked_ns = request.ramp_ns.saturating_add(request.time_ns);
    Duration::from_nanos(asked_ns.saturating_add(LONGEST_LOOKS_NS)) + GRACE
}
