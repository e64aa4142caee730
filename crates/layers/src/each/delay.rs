//! Added latency.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, IN_PROCESS, LayerInfo, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

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
        about: "added latency; I/Os in flight wait side by side",
        example: "delay(latency=260us)",
        does: Does::Passes,
        parameters: &[
            parameter("latency", Unit::Duration, None, "mean of the added latency"),
            parameter("jitter", Unit::Duration, Some("0"), "uniform spread, plus or minus"),
        ],
        ..IN_PROCESS
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let (latency_ns, jitter_ns) = arguments.latency_and_jitter("latencies")?;
        Ok(Self { latency_ns, jitter_ns })
    }

    fn values(&self) -> Values {
        vec![("latency", Some(self.latency_ns.into())), ("jitter", Some(self.jitter_ns.into()))]
    }
}
