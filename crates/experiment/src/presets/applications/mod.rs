//! What well-known programs do to a disk. Each has a source that gives its numbers, and is checked
//! against the system calls of the program where that can be run: `docs/applications.md`.

mod application;
mod etcd;
mod kafka;
mod lucene;
mod ml;
mod mysql;
mod nats;
mod postgres;
mod rocksdb;

use application::Application;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Condition;
    use crate::workload::Workload;

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
