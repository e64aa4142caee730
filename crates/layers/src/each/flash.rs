//! A device that saturates.

use crate::declaration::prelude::*;

/// A device with a few channels, each of which does one I/O at a time in `latency + bytes / bw`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flash {
    /// I/Os served in parallel.
    pub channels: u32,
    /// Mean service time of an I/O, excluding data transfer.
    pub latency_ns: u64,
    /// Bytes per second per channel.
    pub bw_bytes: f64,
    /// Uniform spread of service times, plus or minus.
    pub jitter_ns: u64,
}

impl Declared for Flash {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "flash",
        about: "a device that saturates: parallel channels, each with a service time",
        example: "flash(channels=8, latency=80us, bw=500M)",
        does: Does::Limits,
        parameters: Self::PARAMETERS,
        ..IN_PROCESS
    }];

    parameters! {
        channels: parameter("channels", Unit::Count, Some("8"),
            "number of I/Os served in parallel"),
        latency_ns: parameter("latency", Unit::Duration, Some("80us"),
            "mean service time, excluding data transfer"),
        bw_bytes: parameter("bw", Unit::Bandwidth, Some("500M"), "bytes per second per channel"),
        jitter_ns: parameter("jitter", Unit::Duration, Some("0"),
            "maximum deviation, plus or minus"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        arguments.demand_jitter(self.jitter_ns <= self.latency_ns, "service times")
    }
}
