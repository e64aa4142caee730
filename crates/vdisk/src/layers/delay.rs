//! `delay`: latency, optionally with jitter.

use iotax_layers::Delay;

use super::check_time;
use crate::chance::Draws;
use crate::layer::prelude::*;

const NAME: &str = "delay";
/// The jitter of every `delay` repeats from run to run.
const SEED: u64 = 0x0064_656c_6179;

impl Recipe for Delay {
    fn build(&self, place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        check_time(NAME, "latency", self.latency_ns)?;
        Ok(Box::new(OpenDelay {
            latency_ns: self.latency_ns,
            jitter_ns: self.jitter_ns.min(self.latency_ns),
            draws: Draws::new(SEED + place.index as u64),
        }))
    }
}

struct OpenDelay {
    latency_ns: u64,
    jitter_ns: u64,
    draws: Draws,
}

impl OpenLayer for OpenDelay {
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
