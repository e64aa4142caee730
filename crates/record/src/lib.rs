//! The raw facts of an experiment: trials, histograms, series, counters, and their files.
//!
//! Nothing here computes a statistic. A record is a directory: `experiment.json` (what was run,
//! where, with which seed) and `trials.jsonl` (one line per trial, written as it ends).
#![forbid(unsafe_code)]

mod experiment;
mod histogram;
mod trial;

pub use experiment::{Environment, Experiment, FORMAT, Site};
pub use histogram::LatencyHistogram;
pub use trial::{
    DirectionRecord, IndexRecord, JobRecord, LoadRecord, Outcome, SystemCounters, Trial,
};
