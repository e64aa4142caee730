//! `delay`: latency, optionally with jitter.

use std::fmt;

use crate::chance::Draws;
use crate::error::Error;
use crate::io::{Io, Parcel};
use crate::layer::{Flow, Layer, Place, Recipe};
use crate::text::Duration;

const NAME: &str = "delay";
/// The jitter of every `delay` repeats from run to run.
const SEED: u64 = 0x0064_656c_6179;

/// Adds simulated latency to every I/O.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayConfig {
    /// Mean latency, nanoseconds.
    pub latency_ns: u64,
    /// Half the width of the uniform distribution around the mean, nanoseconds; at most
    /// `latency_ns`.
    pub jitter_ns: u64,
}

impl fmt::Display for DelayConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}(latency={}", Duration(self.latency_ns))?;
        if self.jitter_ns > 0 {
            write!(f, ", jitter={}", Duration(self.jitter_ns))?;
        }
        f.write_str(")")
    }
}

impl Recipe for DelayConfig {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&self, place: &Place<'_>) -> Result<Box<dyn Layer>, Error> {
        let &Self { latency_ns, jitter_ns } = self;
        if jitter_ns > latency_ns {
            return Err(Error::parameter(
                NAME,
                "jitter",
                Duration(jitter_ns),
                "at most the latency: a delay lies between latency - jitter and latency + jitter",
            ));
        }
        if latency_ns > MAX_LATENCY_NS {
            return Err(Error::parameter(NAME, "latency", Duration(latency_ns), "at most 1 hour"));
        }
        Ok(Box::new(Delay { latency_ns, jitter_ns, draws: Draws::new(SEED + place.index as u64) }))
    }
}

const MAX_LATENCY_NS: u64 = 3_600_000_000_000;

struct Delay {
    latency_ns: u64,
    jitter_ns: u64,
    draws: Draws,
}

impl Layer for Delay {
    fn down(&self, io: Parcel) -> Flow {
        Flow::Next(io)
    }

    /// On the way up, so that a `throttle` below sees the I/O when it was submitted, in the order
    /// of submission.
    fn up(&self, io: &mut Io) {
        if io.passes_free {
            return;
        }
        let mut delay_ns = self.latency_ns;
        if self.jitter_ns > 0 {
            delay_ns = delay_ns - self.jitter_ns + self.draws.below(2 * self.jitter_ns + 1);
        }
        io.extra_ns = io.extra_ns.saturating_add(delay_ns);
    }
}
