//! Where a sandbox forbids an engine, another stands in for it: what differs then may be the engines.

use std::collections::BTreeSet;

use crate::facts::{JobFacts, TrialFacts};

/// Whether different engines drove the primary jobs of trials, some of them in place of another.
pub(crate) fn mixes_engines<'a>(trials: impl IntoIterator<Item = &'a TrialFacts>) -> bool {
    let jobs = trials.into_iter().flat_map(|trial| &trial.jobs).filter(|job| job.is_primary);
    let jobs: Vec<&JobFacts> = jobs.collect();
    let engines: BTreeSet<&str> = jobs.iter().map(|job| job.engine.as_str()).collect();
    engines.len() > 1 && jobs.iter().any(|job| job.stands_in)
}
