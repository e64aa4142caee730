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

use super::{GIB, KIB, MIB, SECOND_NS};
use crate::workload::{BlockSizes, Engine, Files, IndexLoads, Job, Pace, Pattern, Workload};

const MILLISECOND_NS: u64 = 1_000_000;
/// The reader starts this much after the writers: the `sleep 2` between the two command lines.
const READER_DELAY_NS: u64 = 2 * SECOND_NS;
/// Each command line's `--ramp_time`.
const FIO_RAMP_NS: u64 = 2 * SECOND_NS;

pub(super) fn published() -> Workload {
    Workload {
        name: "driver-searcher".into(),
        about: "A search engine's disk: 30 writers download index files with 4 MiB writes while 8 \
                readers map a 50 GiB file and read 4 KiB to 1 MiB at random; beside them index \
                versions are published up to 4 times per second, loaded, and queried. Loads over \
                10 ms are slow. Needs 110 GiB; scale=0.05 makes it 5.5 GiB and 3 s."
            .into(),
        // The reader's own ramp begins when it starts.
        ramp_ns: READER_DELAY_NS + FIO_RAMP_NS,
        time_ns: 60 * SECOND_NS,
        jobs: vec![download(), mmap_read()],
        index: Some(default_index()),
        origin: None,
        notes: Vec::new(),
        primary: "mmap_read".into(),
    }
}

fn download() -> Job {
    Job {
        threads: 30,
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(4 * MIB),
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

/// What [`in_process`] does, through the system and past its page cache.
pub(super) fn in_system(bytes: u64) -> Workload {
    let mut workload = in_process(bytes);
    workload.about = workload.about.replace("in-process stacks", "stacks of the system");
    let share = bytes / workload.jobs.len() as u64 / u64::from(MIB) * u64::from(MIB);
    for job in &mut workload.jobs {
        (job.engine, job.direct, job.size_bytes) = (Engine::Psync, true, share);
    }
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
        name: "peel-search".into(),
        about: "A search engine in small, for in-process stacks: random reads of 4 KiB to 1 MiB, \
                one at a time, beside 50 sequential 1 MiB writes per second."
            .into(),
        ramp_ns: SECOND_NS / 4,
        time_ns: 2 * SECOND_NS,
        primary: searcher.name.clone(),
        jobs: vec![searcher, driver],
        index: None,
        origin: None,
        notes: Vec::new(),
    }
}
