//! Added latency.

use crate::declaration::prelude::*;

/// Added latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delay {
    /// Mean.
    pub latency_ns: u64,
    /// Uniform spread around the mean, plus or minus.
    pub jitter_ns: u64,
}

impl Declared for Delay {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "delay",
        about: "added latency; I/Os in flight wait in parallel",
        example: "delay(latency=260us)",
        does: Does::Passes,
        parameters: Self::PARAMETERS,
        ..IN_PROCESS
    }];

    parameters! {
        latency_ns: parameter("latency", Unit::Duration, None, "mean added latency"),
        jitter_ns: parameter("jitter", Unit::Duration, Some("0"),
            "maximum deviation, plus or minus"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        arguments.demand_jitter(self.jitter_ns <= self.latency_ns, "latencies")
    }
}
