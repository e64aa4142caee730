//! Results of other tools, read into the same facts that iotax records itself.

pub mod diskspd;
mod error;
pub mod fio;
mod sniff;
mod xml;

use crate::trial::{JobRecord, LoadRecord, SystemCounters};

pub use error::Error;
pub use sniff::{LONGEST_BYTES, Tool, open, sniff, sniff_file};

/// One run, as another tool reported it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Foreign {
    /// The tool and its version, for people: `fio 3.33`.
    pub tool: String,
    /// Its version alone: `3.33`; empty if the result does not say.
    pub version: String,
    /// When the run began, RFC 3339, UTC; to the second at best.
    pub started: Option<String>,
    /// One per job, in the order of the result. Jobs of one name in one group are clones of each
    /// other (`numjobs`) and are merged, as iotax does it with threads.
    pub jobs: Vec<JobRecord>,
    /// The group of each job: those of different groups need not have run at the same time.
    pub groups: Vec<u32>,
    /// The options of each job as the result has them, name and value, global ones first.
    pub options: Vec<Vec<(String, String)>>,
    /// The longest time any job ran, in nanoseconds.
    pub window_ns: u64,
    /// What the tool printed around its result, and what was read but has no place here.
    pub warnings: Vec<String>,
}

impl Foreign {
    /// The run as a load driver would have recorded it.
    pub fn into_load(self) -> LoadRecord {
        LoadRecord {
            driver: self.tool,
            window_ns: self.window_ns,
            jobs: self.jobs,
            index: None,
            system: SystemCounters::default(),
            warnings: self.warnings,
        }
    }
}
