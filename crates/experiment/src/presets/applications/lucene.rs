//! Lucene: searches of mapped files beside a merge.

use super::super::scales::{GIB, KIB};
use super::{Application, application};
use crate::engine::Engine;
use crate::workload::{BlockSizes, Files, Job, Pace, Pattern, Workload};

pub(super) const LUCENE: Application = Application {
    name: "lucene",
    build: lucene,
    sources: &[
        "https://github.com/apache/lucene/blob/main/lucene/core/src/java/org/apache/lucene/store/MMapDirectory.java \
         (files are mapped)",
        "https://github.com/apache/lucene/blob/main/lucene/core/src/java/org/apache/lucene/index/ConcurrentMergeScheduler.java \
         (merges begin at 20 MB/s: START_MB_PER_SEC)",
        "https://github.com/apache/lucene/blob/main/lucene/core/src/java/org/apache/lucene/store/FSDirectory.java \
         (written 8192 bytes at a time)",
    ],
};

const CHUNK_BYTES: u32 = 8 * KIB;
/// In MiB, as Lucene counts them.
const MERGED_BYTES_PER_S: f64 = 20.0 * (1 << 20) as f64;

fn lucene() -> Workload {
    application(
        "lucene",
        "Lucene: 8 threads search an index that is mapped, so that each page they touch at random is \
         read by a page fault; beside them a merge reads segments through another mapping and writes \
         a new one, 20 MiB/s each, 8 KiB at a time, through the page cache. What counts is the rate \
         of page faults.",
        vec![search(), merge_read(), merge_write()],
        None,
    )
}

/// The number of threads and the size of the index are ours; that it stays cold stands for one far
/// larger than memory.
fn search() -> Job {
    Job {
        engine: Engine::Mmap,
        threads: 8,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Fixed(4 * KIB),
        size_bytes: 4 * GIB,
        files: Files::Shared("lucene_index".into()),
        invalidate: true,
        uncached: true,
        ..Job::new("search")
    }
}

fn merge_rate() -> Pace {
    Pace::Even { iops: MERGED_BYTES_PER_S / f64::from(CHUNK_BYTES) }
}

fn merge_read() -> Job {
    Job {
        engine: Engine::Mmap,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(CHUNK_BYTES),
        size_bytes: GIB,
        files: Files::Shared("lucene_segments".into()),
        invalidate: true,
        pace: merge_rate(),
        ..Job::new("merge-read")
    }
}

fn merge_write() -> Job {
    Job {
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(CHUNK_BYTES),
        size_bytes: GIB / 2,
        fresh: true,
        pace: merge_rate(),
        ..Job::new("merge-write")
    }
}
