//! One result: what was measured, whoever has saved it.

use std::path::PathBuf;

use iotax_experiment::Job;
use iotax_record::{JobRecord, LoadRecord, Outcome, Placed};

use crate::importers::Options;

/// One result that was read.
pub(super) struct ResultFile {
    pub arm: usize,
    pub block: u32,
    /// As the user wrote it.
    pub file: PathBuf,
    /// The tool and its version, for people.
    pub tool: String,
    /// Which run of iotax it is, if it is one.
    pub id: Option<String>,
    /// The one arm of it that is meant, if one is named.
    pub of: Option<String>,
    /// When it began, RFC 3339.
    pub started: Option<String>,
    /// Where in Kubernetes it was measured, as far as that is one place.
    pub placed: Option<Placed>,
    pub warnings: Vec<String>,
    /// Whether its latencies count from submission, even at an offered rate.
    pub counts_from_submission: bool,
    /// In the order of the result, each with a name of its own.
    pub jobs: Vec<Measured>,
}

/// A job of a result.
pub(super) struct Measured {
    pub name: String,
    /// What is known of it.
    pub job: Job,
    /// Its options in fio's words; empty if the result does not tell.
    pub options: Options,
    /// Its runs: one in a file of another tool, as many as trials in a record.
    pub runs: Vec<Run>,
}

/// One run of one job.
#[derive(PartialEq)]
pub(super) struct Run {
    /// Since the start of the result.
    pub started_ns: u64,
    pub outcome: Outcome,
    /// That job alone.
    pub load: Option<LoadRecord>,
}

impl ResultFile {
    /// Whether iotax made it.
    pub(super) fn is_ours(&self) -> bool {
        self.tool.starts_with("iotax")
    }
}

impl Measured {
    /// The records of its runs.
    pub(super) fn records(&self) -> impl Iterator<Item = &JobRecord> {
        self.runs.iter().filter_map(|run| run.load.as_ref()).flat_map(|load| &load.jobs)
    }

    /// Whether it did any I/O.
    pub(super) fn is_busy(&self) -> bool {
        self.records().any(|record| record.ios() > 0)
    }

    /// Calls it by another name, everywhere.
    pub(super) fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        name.clone_into(&mut self.job.name);
        for load in self.runs.iter_mut().filter_map(|run| run.load.as_mut()) {
            for record in &mut load.jobs {
                name.clone_into(&mut record.name);
            }
        }
    }
}

impl ResultFile {
    /// Whether both are of one run: by its identifier, or since no two runs have the same of everything.
    pub(super) fn is_same_run(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            (None, None) => {
                let is_same = |(one, other): (&Measured, &Measured)| {
                    one.name == other.name && one.runs == other.runs
                };
                self.started == other.started
                    && self.jobs.len() == other.jobs.len()
                    && self.jobs.iter().zip(&other.jobs).all(is_same)
            }
            (one, other) => one == other,
        }
    }

    /// Whether both hold one measurement, though they are results of two arms: the same of everything
    /// that was counted and timed, whatever the files say of names and dates.
    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        let is_same_record = self.id.is_some() && self.id == other.id && self.of == other.of;
        let [own, others] = [self, other].map(|read| read.busy().collect::<Vec<_>>());
        let is_same = |(one, other): (&&JobRecord, &&JobRecord)| {
            one.read == other.read
                && one.write == other.write
                && one.trim == other.trim
                && one.sync == other.sync
                && one.active_ns == other.active_ns
        };
        is_same_record
            || own.iter().any(|record| is_timed(record))
                && own.len() == others.len()
                && own.iter().zip(&others).all(is_same)
    }

    /// The records of all jobs that did something.
    fn busy(&self) -> impl Iterator<Item = &JobRecord> {
        let records = self.jobs.iter().flat_map(Measured::records);
        records.filter(|record| record.ios() > 0)
    }

    /// Lets latencies count from submission; whether any counted from elsewhere.
    pub(super) fn forget_response(&mut self) -> bool {
        let runs = self.jobs.iter_mut().flat_map(|job| &mut job.runs);
        let loads = runs.filter_map(|run| run.load.as_mut());
        let mut is_changed = false;
        for record in loads.flat_map(|load| &mut load.jobs) {
            for direction in
                [&mut record.read, &mut record.write].into_iter().chain(&mut record.trim)
            {
                is_changed |= direction.response.take().is_some();
            }
        }
        is_changed
    }
}

/// Whether it has times, or figures of each second: totals alone agree in all runs of one size or rate.
fn is_timed(record: &JobRecord) -> bool {
    record.directions().any(|direction| {
        direction.service.count() > 0
            || direction.summary.is_some()
            || direction.per_second_bytes.len() > 1
    })
}
