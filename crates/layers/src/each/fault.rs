//! Injected faults.

use crate::declaration::prelude::*;

/// Injected faults; probabilities in 0..=1.
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
        about: "injected faults, which simulate a failing disk",
        example: "fault(eio=1%, after=1000)",
        does: Does::Passes,
        parameters: Self::PARAMETERS,
        ..IN_PROCESS
    }];

    parameters! {
        eio: parameter("eio", Unit::Share, Some("0"), "share of I/Os that fail with EIO"),
        after_ios: parameter("after", Unit::Count, Some("0"),
            "number of I/Os that succeed before the first fault"),
        short: parameter("short", Unit::Share, Some("0"),
            "share of reads that return fewer bytes than requested"),
        stall: parameter("stall", Unit::Share, Some("0"), "share of I/Os that stall"),
        stall_ns: parameter("stall_time", Unit::Duration, Some("0"), "duration of a stall"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let fails = self.eio != 0.0 || self.short != 0.0 || self.stall != 0.0;
        let advice = "use fault(eio=1%), fault(short=1%) or fault(stall=1%, stall_time=1s)";
        arguments.demand(fails, "eio", "no fault is given", advice)?;
        let both = (self.stall > 0.0) == (self.stall_ns > 0);
        let advice = "for example fault(stall=1%, stall_time=1s)";
        arguments.demand(both, "stall", "requires both stall and stall_time", advice)
    }
}
