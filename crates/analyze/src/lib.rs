//! Records to analysis: intervals, verdicts, taxes, warnings. Pure.
#![forbid(unsafe_code)]

pub mod stats;
