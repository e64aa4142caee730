//! The time of a run: budgets and dates of trials, tested in virtual time.

use std::time::{Duration, Instant};

/// Tells the time.
pub trait Clock {
    /// Time since some moment before the run.
    fn now(&self) -> Duration;
}

/// The machine's clock that never goes back.
#[derive(Debug)]
pub struct Monotonic(Instant);

impl Monotonic {
    /// One that starts at zero.
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Monotonic {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// As the record has times, in nanoseconds; what is longer than 584 years is 584 years long.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
