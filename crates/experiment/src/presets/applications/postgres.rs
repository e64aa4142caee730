//! `PostgreSQL`: commits in its log beside a checkpoint.

use super::super::scales::{GIB, KIB, MIB};
use super::{Application, application};
use crate::engine::Engine;
use crate::workload::{BlockSizes, Job, Pace, Pattern, Workload};

pub(super) const POSTGRES: Application = Application {
    name: "postgres",
    build: postgres,
    sources: &[
        "https://www.postgresql.org/docs/current/pgtestfsync.html (one write of 8 kB, then \
         fdatasync, is how it compares wal_sync_method)",
        "https://www.postgresql.org/docs/current/runtime-config-wal.html (wal_sync_method is \
         fdatasync on Linux; segments of 16 MB, used again; max_wal_size 1 GB, checkpoint_timeout \
         5 min, checkpoint_completion_target 0.9)",
    ],
};

fn postgres() -> Workload {
    application(
        "postgres",
        "Commits of PostgreSQL, one at a time: 8 KiB of its log, made durable by fdatasync; beside \
         them a checkpoint writes pages of 8 KiB at random. What counts is the time of the \
         fdatasync. Nobody gives a threshold that holds for all.",
        vec![wal(), checkpoint()],
        None,
    )
}

/// One segment, over and over: it writes to segments that were written before.
fn wal() -> Job {
    Job {
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(8 * KIB),
        size_bytes: 16 * u64::from(MIB),
        fsync_every: Some(1),
        ..Job::new("wal")
    }
}

/// The most pages that its defaults let a checkpoint write: a page changed for the first time since
/// the last one is in the log as a whole, so 1 GiB of log has 131,072 of them at most, spread over
/// 0.9 of 5 minutes. They are written back as they come (`checkpoint_flush_after`), and not waited
/// for: direct, and several at a time.
fn checkpoint() -> Job {
    const PAGES: f64 = (1 << 17) as f64;
    Job {
        engine: Engine::IoUring,
        queue_depth: 32,
        read_percent: 0,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Fixed(8 * KIB),
        size_bytes: GIB,
        direct: true,
        pace: Pace::Even { iops: (PAGES / (0.9 * 300.0)).round() },
        ..Job::new("checkpoint")
    }
}
