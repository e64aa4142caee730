//! What another tool's result comes to.

use iotax_record::{DirectionRecord, FarEndRecord, JobRecord, LoadRecord, SystemCounters};

use super::number::{MOST, whole};
use super::options::Options;

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
    /// The options of each job.
    pub options: Vec<Options>,
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

/// Flows of which a tool kept little more than their rate, all from the client to the server.
pub(super) struct Flow {
    pub name: String,
    pub is_udp: bool,
    pub flows: u32,
    pub block_bytes: u64,
    pub bits_per_s: f64,
    pub seconds: u64,
}

impl Flow {
    /// Adds it to a result, as a job of its own group: they ran one after the other.
    pub(super) fn add_to(self, result: &mut Imported) {
        let Self { name, is_udp, flows, block_bytes, bits_per_s, seconds } = self;
        let engine = if is_udp { "udp_stream" } else { "tcp_stream" };
        // A rate above 0 has moved something, and no sum of such overflows.
        let bytes = whole(bits_per_s / 8.0 * seconds as f64).clamp(1, MOST);
        let options = [
            ("ioengine", engine.to_owned()),
            ("rw", "write".to_owned()),
            ("bs", block_bytes.to_string()),
            ("numjobs", flows.to_string()),
        ];
        let options = options.into_iter().map(|(name, value)| (name.to_owned(), value));
        result.options.push(options.collect());
        result.groups.push(u32::try_from(result.jobs.len()).unwrap_or(u32::MAX));
        let write = DirectionRecord {
            ios: bytes.div_ceil(block_bytes),
            bytes,
            ..DirectionRecord::default()
        };
        let active_ns = seconds.saturating_mul(1_000_000_000);
        result.window_ns = result.window_ns.max(active_ns);
        result.jobs.push(JobRecord {
            engine: engine.to_owned(),
            threads: flows,
            queue_depth: 1,
            active_ns,
            write,
            name,
            ..JobRecord::default()
        });
    }
}
