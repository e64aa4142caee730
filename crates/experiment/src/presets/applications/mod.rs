//! What well-known programs do to a disk. Each has a source that gives its numbers, and is checked
//! against the system calls of the program where that can be run: `docs/applications.md`.

mod etcd;
mod kafka;
mod lucene;
mod ml;
mod mysql;
mod nats;
mod postgres;
mod rocksdb;

use super::scales::SECOND_NS;
use crate::rule::Rule;
use crate::spec::Yields;
use crate::workload::{Job, Requirement, Workload};

/// All of them, in the order of `iotax workloads`.
pub(super) const ALL: &[Application] = &[
    etcd::WAL,
    etcd::WAL_LOADED,
    postgres::POSTGRES,
    mysql::MYSQL,
    kafka::KAFKA,
    rocksdb::ROCKSDB,
    lucene::LUCENE,
    nats::SYNC,
    ml::LOAD,
];

/// A workload that stands for a program.
pub(crate) struct Application {
    pub(crate) name: &'static str,
    pub(crate) build: fn() -> Workload,
    /// Where its numbers are from: addresses, with what is said there.
    pub(crate) sources: &'static [&'static str],
}

/// The first of `jobs` decides.
fn application(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Condition;

    #[test]
    fn each_has_a_source_is_possible_and_says_whose_threshold_it_has() {
        for Application { name, build, sources } in ALL {
            let workload = build();
            assert_eq!(workload.name, *name);
            assert_eq!(workload.validate(), Ok(()), "{name}");
            assert!(!sources.is_empty(), "{name}");
            let told = workload.requires.iter().map(|requires| requires.source.as_str());
            for source in sources.iter().copied().chain(told) {
                assert!(source.starts_with("https://"), "{name}: {source}");
            }
            let text = serde_json::to_string(&workload).unwrap();
            assert_eq!(serde_json::from_str::<Workload>(&text).unwrap(), workload);
        }
    }

    #[test]
    fn the_job_of_a_rule_is_there() {
        for Application { name, build, .. } in ALL {
            let workload = build();
            let Some(requires) = &workload.requires else { continue };
            let Condition::Figure { job, .. } = &requires.rule.condition else {
                panic!("{name}: {requires:?}")
            };
            assert!(job.iter().all(|job| workload.jobs.iter().any(|j| j.name == *job)), "{name}");
        }
    }
}
