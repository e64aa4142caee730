//! What another tool's result comes to.

use iotax_record::{FarEndRecord, JobRecord, LoadRecord, SystemCounters};

/// One run, as another tool reported it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// The tool and its version, for people: `fio 3.33`.
    pub tool: String,
    /// Its version alone: `3.33`; empty if the result does not say.
    pub version: String,
    /// Which run of iotax it is ([`iotax_record::ExperimentHead::id`]), if it is one.
    pub id: Option<String>,
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
    /// What the far end of a network path took, where there is one job.
    pub far_end: Option<FarEndRecord>,
    /// What the tool printed around its result, and what was read but has no place here.
    pub warnings: Vec<String>,
}

impl Imported {
    /// The run as a load driver would have recorded it.
    pub fn into_load(self) -> LoadRecord {
        LoadRecord {
            driver: self.tool,
            window_ns: self.window_ns,
            system: system(&self.jobs, self.far_end.as_ref()),
            far_end: self.far_end,
            jobs: self.jobs,
            warnings: self.warnings,
            ..LoadRecord::default()
        }
    }
}

/// What is known of this end's process: beside a far end, the CPU time of the job is all it took.
pub(crate) fn system(jobs: &[JobRecord], far_end: Option<&FarEndRecord>) -> SystemCounters {
    let cpu_ns = || jobs.iter().map(|job| job.cpu_user_ns.saturating_add(job.cpu_system_ns)).sum();
    SystemCounters { process_cpu_ns: far_end.map(|_| cpu_ns()), ..SystemCounters::default() }
}
