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
use crate::workload::{Job, Requirement, Workload};

/// A workload that stands for a program.
pub(super) struct Application {
    pub(super) name: &'static str,
    pub(super) build: fn() -> Workload,
    /// Where its numbers are from: addresses, with what is said there.
    pub(super) sources: &'static [&'static str],
}

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

/// The first of `jobs` decides.
fn application(
    name: &str,
    about: &str,
    jobs: Vec<Job>,
    requires: Option<(&str, &str)>,
) -> Workload {
    Workload {
        name: name.into(),
        about: about.into(),
        ramp_ns: SECOND_NS,
        time_ns: 10 * SECOND_NS,
        primary: jobs[0].name.clone(),
        jobs,
        index: None,
        requires: requires
            .map(|(rule, source)| Requirement { rule: rule.into(), source: source.into() }),
        origin: None,
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let words: Vec<&str> = requires.rule.split(' ').collect();
            let [job @ .., _, comparator, _] = words.as_slice() else { panic!("{requires:?}") };
            assert!(["<", ">"].contains(comparator), "{name}: {requires:?}");
            assert!(job.iter().all(|job| workload.jobs.iter().any(|j| j.name == *job)), "{name}");
        }
    }
}
