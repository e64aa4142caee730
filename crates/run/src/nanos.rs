//! Times as the record has them.

use std::time::Duration;

/// In nanoseconds; what is longer than 584 years is 584 years long.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
