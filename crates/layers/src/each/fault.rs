//! Deliberate faults.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, IN_PROCESS, LayerInfo, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// Deliberate faults; probabilities in 0..=1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fault {
    /// Share of I/Os that fail with EIO.
    pub eio: f64,
    /// I/Os that succeed before the first fault of any kind.
    pub after_ios: u64,
    /// Share of reads that return fewer bytes.
    pub short: f64,
    /// Share of I/Os that stall.
    pub stall: f64,
    /// Length of a stall.
    pub stall_ns: u64,
}

impl Declared for Fault {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "fault",
        about: "deliberate faults, to see what a failing disk does",
        example: "fault(eio=1%, after=1000)",
        does: Does::Passes,
        parameters: &[
            parameter("eio", Unit::Share, Some("0"), "share of I/Os that fail with EIO"),
            parameter("after", Unit::Count, Some("0"), "I/Os that succeed before the first fault"),
            parameter("short", Unit::Share, Some("0"), "share of reads that return fewer bytes"),
            parameter("stall", Unit::Share, Some("0"), "share of I/Os that stall"),
            parameter("stall_time", Unit::Duration, Some("0"), "length of a stall"),
        ],
        ..IN_PROCESS
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let faults = Self {
            eio: arguments.share("eio"),
            after_ios: arguments.whole("after")?,
            short: arguments.share("short"),
            stall: arguments.share("stall"),
            stall_ns: arguments.whole("stall_time")?,
        };
        if faults.eio == 0.0 && faults.short == 0.0 && faults.stall == 0.0 {
            let advice = "write fault(eio=1%), fault(short=1%) or fault(stall=1%, stall_time=1s)";
            return Err(arguments.refuse("eio", "nothing here ever fails", advice));
        }
        if (faults.stall > 0.0) != (faults.stall_ns > 0) {
            let advice = "for example fault(stall=1%, stall_time=1s)";
            return Err(arguments.refuse("stall", "needs both stall and stall_time", advice));
        }
        Ok(faults)
    }

    fn values(&self) -> Values {
        vec![
            ("eio", Some(self.eio.into())),
            ("after", Some(self.after_ios.into())),
            ("short", Some(self.short.into())),
            ("stall", Some(self.stall.into())),
            ("stall_time", Some(self.stall_ns.into())),
        ]
    }
}
