//! What all of them are made by.

use super::super::scales::SECOND_NS;
use crate::fitted::Yields;
use crate::rule::Rule;
use crate::workload::{Job, Requirement, Workload};

/// A workload that stands for a program.
pub(crate) struct Application {
    pub(crate) name: &'static str,
    pub(crate) build: fn() -> Workload,
    /// Where its numbers are from: addresses, with what is said there.
    pub(crate) sources: &'static [&'static str],
}

/// The first of `jobs` decides.
pub(super) fn application(
    name: &str,
    about: &str,
    jobs: Vec<Job>,
    requires: Option<(&str, &str)>,
) -> Workload {
    Workload {
        about: about.into(),
        ramp_ns: SECOND_NS,
        time_ns: 10 * SECOND_NS,
        requires: requires.map(|(rule, source)| Requirement {
            rule: Rule::parse(rule).expect("a preset's rule can be read"),
            source: source.into(),
        }),
        yields: Some(Yields::Spans),
        ..Workload::new(name, jobs)
    }
}
