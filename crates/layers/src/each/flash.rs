//! A device that saturates.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, IN_PROCESS, LayerInfo, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// A device with a few channels, each of which does one I/O at a time in `latency + bytes / bw`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flash {
    /// I/Os served side by side.
    pub channels: u32,
    /// Mean service time of an I/O without bytes.
    pub latency_ns: u64,
    /// Bytes per second that one channel moves.
    pub bw_bytes: f64,
    /// Uniform spread of service times, plus or minus.
    pub jitter_ns: u64,
}

impl Declared for Flash {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "flash",
        about: "a device that saturates: channels with a service time each",
        example: "flash(channels=8, latency=80us, bw=500M)",
        does: Does::Limits,
        parameters: &[
            parameter("channels", Unit::Count, Some("8"), "I/Os served side by side"),
            parameter("latency", Unit::Duration, Some("80us"), "mean service time without bytes"),
            parameter("bw", Unit::Bandwidth, Some("500M"), "bytes per second of one channel"),
            parameter("jitter", Unit::Duration, Some("0"), "uniform spread, plus or minus"),
        ],
        ..IN_PROCESS
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let (latency_ns, jitter_ns) = arguments.latency_and_jitter("service times")?;
        let bw_bytes = arguments.required_rate("bw")?;
        let channels = arguments.small("channels")?;
        Ok(Self { channels, latency_ns, bw_bytes, jitter_ns })
    }

    fn values(&self) -> Values {
        vec![
            ("channels", Some(u64::from(self.channels).into())),
            ("latency", Some(self.latency_ns.into())),
            ("bw", Some(self.bw_bytes.into())),
            ("jitter", Some(self.jitter_ns.into())),
        ]
    }
}
