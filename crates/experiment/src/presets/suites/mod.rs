//! Suites: phases that follow one another on the same arm, each as its source has it.

mod constellation;
mod network;
mod nfs_kerberos;
mod provider_baseline;

use iotax_layers::Error;

use crate::engine::Engine;
use crate::presets::driver_searcher;
use crate::presets::scales::SECOND_NS;
use crate::spec::Yields;
use crate::workload::{BlockSizes, Job, Pattern, Workload};

/// The search engine's disk as a suite of one phase, so that it goes where suites go.
const DRIVER_SEARCHER: Suite = Suite {
    name: "driver-searcher",
    about: "A search engine's disk: index files are downloaded while others are mapped and read. \
            One phase, the workload of the same name.",
    source: "Algolia (2025), a reproduction in fio of slow index loads on disks that were \
             encrypted twice; as it was published it is the workload driver-searcher-published",
    phases: || vec![driver_searcher::fed()],
};

/// In the order of `iotax workloads`.
static SUITES: [Suite; 10] = [
    provider_baseline::ALL,
    provider_baseline::AZURE,
    provider_baseline::AWS,
    provider_baseline::GCP,
    constellation::SUITE,
    nfs_kerberos::SUITE,
    network::PEEL,
    network::BASELINE,
    network::CONSTELLATION,
    DRIVER_SEARCHER,
];

fn find(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}

/// A suite built in.
struct Suite {
    pub name: &'static str,
    pub about: &'static str,
    pub source: &'static str,
    pub phases: fn() -> Vec<Workload>,
}

/// A phase of one job: its name, `about`, ramp and time in seconds.
fn phase(name: &str, about: &str, job: Job, times: [u64; 2]) -> Workload {
    Workload {
        about: about.into(),
        ramp_ns: times[0] * SECOND_NS,
        time_ns: times[1] * SECOND_NS,
        yields: Some(Yields::Spans),
        ..Workload::new(name, vec![job])
    }
}

/// Past the page cache, as deep as asked. fio's `libaio` of the sources is `io_uring` here.
fn direct(name: &str, pattern: Pattern, read_percent: u8, block: u32, depth: u32) -> Job {
    Job {
        engine: if depth == 1 { Engine::Psync } else { Engine::IoUring },
        queue_depth: depth,
        read_percent,
        pattern,
        block_sizes: BlockSizes::Fixed(block),
        direct: true,
        ..Job::new(name)
    }
}

impl Workload {
    /// The phases of the built-in suite of that name.
    ///
    /// # Errors
    /// A name that is none of a suite.
    pub fn suite(name: &str) -> Result<Vec<Self>, Error> {
        let unknown = || Error::unknown("suite", name, Self::suite_names());
        find(name).map(|suite| (suite.phases)()).ok_or_else(unknown)
    }

    /// Names of the built-in suites.
    pub fn suite_names() -> impl Iterator<Item = &'static str> {
        SUITES.iter().map(|suite| suite.name)
    }

    /// One paragraph about a suite; `None` if there is none of that name.
    pub fn suite_about(name: &str) -> Option<&'static str> {
        find(name).map(|suite| suite.about)
    }

    /// Where a suite's settings are from; `None` if there is none of that name.
    pub fn suite_source(name: &str) -> Option<&'static str> {
        find(name).map(|suite| suite.source)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn suites_are_possible_and_say_where_they_are_from() {
        for name in Workload::suite_names() {
            for phase in Workload::suite(name).unwrap() {
                assert_eq!(phase.validate(), Ok(()), "{name}: {}", phase.name);
            }
            assert!(!Workload::suite_about(name).unwrap().is_empty());
            assert!(!Workload::suite_source(name).unwrap().is_empty());
        }
        assert_eq!(Workload::suite_about("none"), None);
    }

    #[test]
    fn suites_read_as_sentences() {
        let suites =
            ["provider-baseline", "constellation", "nfs-kerberos", "constellation-network"];
        let all: Vec<String> = suites
            .iter()
            .flat_map(|name| Workload::suite(name).unwrap())
            .map(|phase| format!("{}\n  {}", phase.name, phase.explain().join("\n  ")))
            .collect();
        assert_snapshot!(all.join("\n"), @"
        azure-write-iops
          every trial: 5s ramp, then 30s measured
          azure-random: 4 threads, random writes of 4k, over 30G each, io_uring 256 deep direct
        azure-read-iops
          every trial: 5s ramp, then 30s measured
          azure-random: 4 threads, random reads of 4k, over 30G each, io_uring 256 deep direct
        aws-write-iops
          every trial: 5s ramp, then 3m measured
          aws-random: 16 threads, random writes of 16k, over 1G each, psync direct
        aws-read-iops
          every trial: 5s ramp, then 3m measured
          aws-random: 16 threads, random reads of 16k, over 1G each, psync direct
        aws-write-throughput
          every trial: 5s ramp, then 3m measured
          aws-sequential: 1 thread, sequential writes of 1M, over 1G, io_uring 8 deep direct
        aws-read-throughput
          every trial: 5s ramp, then 3m measured
          aws-sequential: 1 thread, sequential reads of 1M, over 1G, io_uring 8 deep direct
        gcp-write-throughput
          every trial: 2s ramp, then 1m measured
          gcp-sequential: 16 threads, sequential writes of 1M, over 10G each, io_uring 64 deep direct
        gcp-write-iops
          every trial: 2s ramp, then 1m measured
          gcp-random: 1 thread, random writes of 4k, over 10G, io_uring 256 deep direct
        gcp-read-throughput
          every trial: 2s ramp, then 1m measured
          gcp-sequential: 16 threads, sequential reads of 1M, over 10G each, io_uring 64 deep direct
        gcp-read-iops
          every trial: 2s ramp, then 1m measured
          gcp-random: 1 thread, random reads of 4k, over 10G, io_uring 256 deep direct
        read_iops
          every trial: 10s ramp, then 1m measured
          io: 1 thread, random reads of 4k, over 10G, io_uring 128 deep direct, on CPUs 0
        write_iops
          every trial: 10s ramp, then 1m measured
          io: 1 thread, random writes of 4k, over 10G, io_uring 128 deep direct, on CPUs 0
        read_bw
          every trial: 10s ramp, then 1m measured
          io: 1 thread, random reads of 1M, over 10G, io_uring 128 deep direct, on CPUs 0
        write_bw
          every trial: 10s ramp, then 1m measured
          io: 1 thread, random writes of 1M, over 10G, io_uring 128 deep direct, on CPUs 0
        random load=low
          every trial: 5s ramp, then 30s measured
          io: 1 thread, random I/Os (50 % reads) of 4k, over 1G, psync direct
        sequential load=low
          every trial: 5s ramp, then 30s measured
          io: 1 thread, sequential I/Os (50 % reads) of 64k, over 1G, psync direct
        git-checkout load=low
          every trial: 5s ramp, then 30s measured
          files: 1 thread, operations on 5000 files of 7111 bytes each (5 in a directory): create:20,stat:51,open:9,delete:20
        random load=high
          every trial: 5s ramp, then 30s measured
          io: 8 threads, random I/Os (50 % reads) of 4k, over 1G each, io_uring 16 deep direct
        sequential load=high
          every trial: 5s ramp, then 30s measured
          io: 8 threads, sequential I/Os (50 % reads) of 64k, over 1G each, io_uring 16 deep direct
        git-checkout load=high
          every trial: 5s ramp, then 30s measured
          files: 8 threads, operations on 5000 files of 7111 bytes each (5 in a directory): create:20,stat:51,open:9,delete:20
        tcp
          every trial: 1s ramp, then 10s measured
          flow: 1 thread, blocks of 128k to the peer
        udp
          every trial: 1s ramp, then 10s measured
          datagrams: 1 thread, datagrams of 1400 bytes to the peer
        ");
    }

    #[test]
    fn a_misspelt_suite_is_corrected() {
        assert_snapshot!(Workload::suite("nfs-kerberus").unwrap_err(), @"
        unknown suite `nfs-kerberus`; did you mean `nfs-kerberos`?
        known suites: provider-baseline, provider-baseline-azure, provider-baseline-aws, provider-baseline-gcp, constellation, nfs-kerberos, network, network-baseline, constellation-network, driver-searcher
        ");
    }
}
