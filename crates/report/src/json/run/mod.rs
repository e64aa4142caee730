//! `run --format json`: a superset of what `fio --output-format=json+` prints, so that whatever
//! reads fio's output reads ours.
//!
//! All figures here are sums of what the trials recorded, divided by their time: fio's shape asks
//! for rates and for means over seconds, and there is nothing to estimate in them.

mod bins;
mod direction;
mod job;
mod latency;

use std::collections::BTreeMap;

use iotax_analyze::Analysis;
use iotax_record::{ExperimentHead, LoadRecord, Outcome, Trial};
use jiff::Timestamp;
use serde::Serialize;

use self::job::Job;
use super::compare::Output;
use super::text::json_text;

/// fio's root object, and ours in it.
#[derive(Serialize)]
pub(crate) struct Root<T> {
    #[serde(rename = "fio version")]
    version: String,
    /// End of the experiment, in seconds since 1970.
    timestamp: i64,
    timestamp_ms: i64,
    /// The same as C's `asctime` writes it, in UTC.
    time: String,
    #[serde(rename = "global options")]
    global_options: BTreeMap<&'static str, String>,
    jobs: Vec<Job>,
    /// Everything that fio does not know: see `compare`.
    iotax: T,
}

impl<T> Root<T> {
    pub(crate) fn new(
        experiment: &ExperimentHead,
        analysis: &Analysis,
        trials: &[&Trial],
        iotax: T,
    ) -> Self {
        let workload = experiment.spec.workload();
        let loads: Vec<&LoadRecord> = trials
            .iter()
            .filter(|t| matches!(t.outcome, Outcome::Completed | Outcome::Degraded { .. }))
            .filter_map(|t| t.load.as_ref())
            .collect();
        let started: Timestamp = experiment.started.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let wall = i64::try_from(analysis.ending.wall_ns).unwrap_or(i64::MAX);
        let wall = jiff::SignedDuration::from_nanos(wall);
        let end = started.checked_add(wall).unwrap_or(Timestamp::MAX);
        Self {
            version: format!("iotax-{}", experiment.iotax_version),
            timestamp: end.as_second(),
            timestamp_ms: end.as_millisecond(),
            time: end.strftime("%a %b %e %H:%M:%S %Y").to_string(),
            global_options: BTreeMap::from([
                ("ramp_time", job::milliseconds(workload.ramp_ns)),
                ("randseed", experiment.spec.seed.to_string()),
                ("runtime", job::milliseconds(workload.time_ns)),
            ]),
            jobs: workload.jobs.iter().map(|job| Job::new(job, workload, &loads)).collect(),
            iotax,
        }
    }

    /// With the jobs of a later phase after its own; options that differ are no longer global.
    pub(crate) fn followed_by(mut self, later: Self) -> Self {
        self.global_options.retain(|name, value| later.global_options.get(name) == Some(value));
        self.jobs.extend(later.jobs);
        self
    }

    /// With something else of ours in it.
    pub(crate) fn with<U>(self, iotax: U) -> Root<U> {
        let Self { version, timestamp, timestamp_ms, time, global_options, jobs, iotax: _ } = self;
        Root { version, timestamp, timestamp_ms, time, global_options, jobs, iotax }
    }
}

/// One JSON object in the shape of fio's JSON+, indented, ending in a newline: one job per job of
/// the workload, all usable trials together. Shape and differences: `docs/json.md`.
pub fn json_run(experiment: &ExperimentHead, analysis: &Analysis, trials: &[Trial]) -> String {
    let trials: Vec<&Trial> = trials.iter().collect();
    let iotax = Output::new(experiment, analysis);
    json_text(&Root::new(experiment, analysis, &trials, iotax))
}
