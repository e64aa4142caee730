//! A search engine's disk: a driver downloads index files while a searcher maps and reads them.
//!
//! The parameters are those of a published reproduction (Algolia, 2025, on Azure ephemeral disks
//! that were encrypted twice), as fio command lines:
//!
//! ```text
//! fio --name=download  --size=2G --numjobs=30 --ioengine=psync --bs=4M --rw=write
//!     --time_based --runtime=70s --ramp_time=2s &
//! sleep 2
//! fio --name=mmap_read --filename=fio_blob --size=50G --numjobs=8 --ioengine=mmap
//!     --bsrange=4K-1M --rw=randread --time_based --runtime=60s --ramp_time=2s
//! ```

use super::scales::{GIB, KIB, MIB, MILLISECOND_NS, SECOND_NS};
use crate::engine::Engine;
use crate::spec::Yields;
use crate::workload::{BlockSizes, Files, IndexLoads, Job, Pace, Pattern, Think, Workload};

/// The reader starts this much after the writers: the `sleep 2` between the two command lines.
const READER_DELAY_NS: u64 = 2 * SECOND_NS;
/// Each command line's `--ramp_time`.
const FIO_RAMP_NS: u64 = 2 * SECOND_NS;

/// What 10 Gbit/s bring in 3.5 ms, less the headers of packets: so much at a time is downloaded.
const DOWNLOAD_BYTES: u32 = 4 * MIB;
const DOWNLOAD_NS: u64 = 3_500_000;
/// Fewer writers leave the disk idle while they wait for the network.
const LEAST_WRITERS: u32 = 2;

/// The published job with a driver that is fed as in production, which keeps its meaning on every
/// disk and at every scale.
///
/// As published, the writers write to files that they have written before, as fast as memory takes
/// it. What holds them back is the kernel's limit on dirty pages, once 60 GiB of files have filled it;
/// files of a twentieth fit into memory, never reach that limit, and measure memory and CPU. So:
///
/// - what was downloaded is durable before more is (`write_through`): all of it reaches the disk,
///   and each writer has 4 MiB in its queue, at most;
/// - it comes through a network of 10 Gbit/s, shared by the writers, however many they are: that is
///   faster than a cloud's disk, and slower than memory. Neither network nor disk is scaled;
/// - fewer writers are left at a smaller scale, and at least two: the queue that reads find before
///   them gets shorter with the time in which they are counted, and never empty;
/// - the reader's pages leave the cache after each I/O (`uncached`): of 50 GiB it hardly ever finds
///   one again, and of 1 GiB it would find half.
pub(super) fn fed() -> Workload {
    let published = published();
    let [download, mmap_read] = [download(), mmap_read()];
    let jobs = vec![
        Job {
            write_through: true,
            think: Some(Think { time_ns: DOWNLOAD_NS * u64::from(download.threads), after_ios: 1 }),
            least_threads: Some(LEAST_WRITERS),
            ..download
        },
        Job { uncached: true, ..mmap_read },
    ];
    Workload {
        name: "driver-searcher".into(),
        about: "A search engine's disk: 30 writers download index files over a network of 10 Gbit/s, \
                4 MiB at a time, while 8 readers map a 50 GiB file and read 4 KiB to 1 MiB at \
                random; beside them index versions are published up to 4 times per second, loaded, \
                and queried. Loads over 10 ms are slow. Needs 110 GiB; scale=0.05 makes it 3 GiB, 2 \
                writers and 5 s."
            .into(),
        jobs,
        yields: Some(Yields::Scale { time: true, ramp: true }),
        ..published
    }
}

pub(super) fn published() -> Workload {
    Workload {
        about: "The same as it was published for fio: 30 writers that no network holds back, and \
                their files are written again and again. Only files larger than memory make them \
                wait for the disk, so leave its scale at 1. Needs 110 GiB."
            .into(),
        // The reader's own ramp begins when it starts.
        ramp_ns: READER_DELAY_NS + FIO_RAMP_NS,
        time_ns: 60 * SECOND_NS,
        index: Some(default_index()),
        primary: "mmap_read".into(),
        ..Workload::new("driver-searcher-published", vec![download(), mmap_read()])
    }
}

fn download() -> Job {
    Job {
        threads: 30,
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(DOWNLOAD_BYTES),
        size_bytes: 2 * GIB,
        ..Job::new("download")
    }
}

fn mmap_read() -> Job {
    Job {
        engine: Engine::Mmap,
        threads: 8,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Range { min: 4 * KIB, max: MIB },
        files: Files::Shared("fio_blob".into()),
        size_bytes: 50 * GIB,
        start_delay_ns: READER_DELAY_NS,
        // fio's default, `invalidate=1`.
        invalidate: true,
        ..Job::new("mmap_read")
    }
}

/// Index publishing as described for that system: at most 4 versions per second, loads over 10 ms
/// flagged.
///
/// The size is ours. Touching 16 MiB that is still in the page cache takes 1 to 4 ms on any
/// machine, so a load over 10 ms is the storage's doing; and 4 versions per second write 64 MiB/s,
/// which a small cloud disk sustains (64 MiB versions would be 256 MiB/s: the experiment would
/// measure its own publishing). Queries of 16 KiB, 1000 per second, are what a busy shard answers.
pub(crate) fn default_index() -> IndexLoads {
    IndexLoads {
        versions_per_second: 4.0,
        index_bytes: 16 * u64::from(MIB),
        slow_load_ns: 10 * MILLISECOND_NS,
        queries_per_second: 1000.0,
        query_bytes: 16 * KIB,
    }
}

fn small_engine(stacks: &str) -> String {
    format!(
        "A search engine in small, for {stacks}: random reads of 4 KiB to 1 MiB, one at a time, \
         beside 50 sequential 1 MiB writes per second."
    )
}

/// What [`in_process`] does, through the system and past its page cache.
pub(super) fn in_system(bytes: u64) -> Workload {
    let mut workload = in_process(bytes);
    workload.about = small_engine("stacks of the system");
    let share = bytes / workload.jobs.len() as u64 / u64::from(MIB) * u64::from(MIB);
    for job in &mut workload.jobs {
        (job.engine, job.direct, job.size_bytes) = (Engine::Psync, true, share);
    }
    workload.yields = Some(Yields::Spans);
    workload
}

/// The same shape for an in-process stack: one searcher, and one driver that offers a fixed
/// 50 MiB/s whatever the layers cost, so that every arm searches beside the same writing.
pub(super) fn in_process(disk_bytes: u64) -> Workload {
    let searcher = Job {
        engine: Engine::Vdisk,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Range { min: 4 * KIB, max: MIB },
        size_bytes: disk_bytes,
        ..Job::new("searcher")
    };
    let driver = Job {
        engine: Engine::Vdisk,
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(MIB),
        size_bytes: disk_bytes,
        pace: Pace::Even { iops: 50.0 },
        ..Job::new("driver")
    };
    Workload {
        about: small_engine("in-process stacks"),
        ramp_ns: SECOND_NS / 4,
        time_ns: 2 * SECOND_NS,
        ..Workload::new("peel-search", vec![searcher, driver])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the writers may have in the disk's queue.
    fn outstanding_bytes(job: &Job) -> u64 {
        u64::from(job.threads) * u64::from(job.block_sizes.max_bytes())
    }

    /// What the network brings to all writers together, if the disk takes no time.
    fn network_bytes_per_s(job: &Job) -> f64 {
        let Think { time_ns, after_ios } = job.think.unwrap();
        let bytes = f64::from(job.block_sizes.max_bytes()) * f64::from(after_ios);
        f64::from(job.threads) * bytes * 1e9 / time_ns as f64
    }

    fn scaled(factor: f64) -> Workload {
        let mut workload = fed();
        workload.scale(factor).unwrap();
        workload
    }

    #[test]
    fn all_that_is_published_but_the_feeding_is_as_published() {
        let (mut fed, published) = (fed(), published());
        let [download, mmap_read] = fed.jobs.as_mut_slice() else { panic!("two jobs") };
        (download.write_through, download.think, download.least_threads) = (false, None, None);
        mmap_read.uncached = false;
        assert_eq!(fed.jobs, published.jobs);
        assert_eq!((fed.ramp_ns, fed.time_ns), (published.ramp_ns, published.time_ns));
        assert_eq!((fed.index, fed.primary), (published.index, published.primary));
    }

    #[test]
    fn a_twentieth_and_a_fiftieth() {
        let told = |factor: f64| scaled(factor).explain().join("\n");
        insta::assert_snapshot!(told(0.05), @"
        every trial: 1s ramp, then 5s measured
        download: 2 threads, sequential writes of 4M, over 100M each, psync buffered, a pause of 7ms after every I/O, write-through
        mmap_read (decides): 8 threads, random reads of 4k-1M, over 2560M of `fio_blob`, mmap buffered with a cache that is kept cold, from 100ms on
        index: up to 4 versions/s of 2M published and loaded, slow over 10ms; 1000 queries/s of 16k
        ");
        insta::assert_snapshot!(told(0.02), @"
        every trial: 1s ramp, then 5s measured
        download: 2 threads, sequential writes of 4M, over 40M each, psync buffered, a pause of 7ms after every I/O, write-through
        mmap_read (decides): 8 threads, random reads of 4k-1M, over 1G of `fio_blob`, mmap buffered with a cache that is kept cold, from 40ms on
        index: up to 4 versions/s of 2M published and loaded, slow over 10ms; 1000 queries/s of 16k
        ");
    }

    proptest! {
        /// At every scale the writers are fed faster than a cloud's disk takes it and slower than
        /// memory, all they write reaches the disk, and the reads have their writes before them.
        #[test]
        fn the_mechanism_is_the_same_at_every_scale(factor in 0.001..1.0_f64) {
            let workload = scaled(factor);
            let (whole, least) = (fed(), u64::from(LEAST_WRITERS) * u64::from(DOWNLOAD_BYTES));
            let [download, mmap_read] = workload.jobs.as_slice() else { panic!("two jobs") };
            let network = network_bytes_per_s(download);
            prop_assert!((network / network_bytes_per_s(&whole.jobs[0]) - 1.0).abs() < 1e-6);
            prop_assert!((1.1e9..1.25e9).contains(&network), "10 Gbit/s less headers: {network}");
            prop_assert!(download.write_through);
            let outstanding = outstanding_bytes(download);
            prop_assert!(outstanding >= least);
            prop_assert!(outstanding <= outstanding_bytes(&whole.jobs[0]));
            // Each writer goes through its own file, which holds a download at least.
            prop_assert!(download.size_bytes >= u64::from(DOWNLOAD_BYTES));
            // 4 KiB of each reader at a time: next to nothing beside what is written.
            prop_assert!(outstanding >= 64 * u64::from(mmap_read.threads) * u64::from(4 * KIB));
            prop_assert_eq!(mmap_read.threads, whole.jobs[1].threads);
            prop_assert!(mmap_read.uncached && mmap_read.invalidate);
            let versions = workload.index.unwrap().versions_per_second * workload.time_ns as f64 / 1e9;
            prop_assert!(versions >= 20.0);
            prop_assert!(workload.index.unwrap().index_bytes >= 2 << 20);
            prop_assert!(workload.ramp_ns > download.think.unwrap().time_ns);
            prop_assert_eq!(workload.validate(), Ok(()));
        }

        #[test]
        fn a_smaller_scale_never_has_more_writers(a in 0.001..1.0_f64, b in 0.001..1.0_f64) {
            let writers = |factor: f64| scaled(factor).jobs[0].threads;
            prop_assert!(writers(a.min(b)) <= writers(a.max(b)));
        }
    }
}
