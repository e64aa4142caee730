//! `RocksDB`: point reads beside a compaction.

use super::super::scales::{GIB, KIB, MIB};
use super::{Application, application};
use crate::workload::{BlockSizes, Files, Job, Pace, Pattern, Workload};

pub(super) const ROCKSDB: Application = Application {
    name: "rocksdb",
    build: rocksdb,
    sources: &[
        "https://github.com/facebook/rocksdb/wiki/Performance-Benchmarks (readwhilewriting of \
         benchmark.sh with direct I/O: 64 threads read blocks of 8 KiB beside a writer of 2 MB/s)",
        "https://github.com/facebook/rocksdb/wiki/Direct-IO (compaction reads ahead 2 MB, and \
         writes 1 MB at a time)",
        "https://gist.github.com/mdcallag/54d6ee5b91ac08f0bb47d14e56a71b54 (write amplification 10)",
    ],
};

/// `benchmark_write_rate_limit`, and how often each byte is written again.
const WRITTEN_BYTES_PER_S: f64 = 2e6;
const AMPLIFICATION: f64 = 10.0;

fn rocksdb() -> Workload {
    application(
        "rocksdb",
        "RocksDB's readwhilewriting: 64 threads read blocks of 8 KiB at random past the page cache; \
         beside them compaction reads 2 MiB and writes 1 MiB at a time, 20 MB/s each. What counts is \
         the rate of the reads.",
        vec![get(), compaction_read(), compaction_write()],
        None,
    )
}

fn get() -> Job {
    Job {
        threads: 64,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Fixed(8 * KIB),
        size_bytes: 4 * GIB,
        files: Files::Shared("rocksdb_tables".into()),
        direct: true,
        ..Job::new("get")
    }
}

fn compaction_rate(bytes: u32) -> Pace {
    Pace::Even { iops: (AMPLIFICATION * WRITTEN_BYTES_PER_S / f64::from(bytes)).round() }
}

fn compaction_read() -> Job {
    Job {
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(2 * MIB),
        size_bytes: 4 * GIB,
        files: Files::Shared("rocksdb_tables".into()),
        direct: true,
        pace: compaction_rate(2 * MIB),
        ..Job::new("compaction-read")
    }
}

fn compaction_write() -> Job {
    Job {
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(MIB),
        size_bytes: GIB,
        direct: true,
        fresh: true,
        pace: compaction_rate(MIB),
        ..Job::new("compaction-write")
    }
}
