//! `MySQL`'s `InnoDB`: commits in the redo log, pages written twice.

use super::super::scales::{GIB, KIB, MIB};
use super::{Application, application};
use crate::engine::Engine;
use crate::workload::{BlockSizes, Job, Pace, Pattern, Workload};

pub(super) const MYSQL: Application = Application {
    name: "mysql",
    build: mysql,
    sources: &[
        "https://dev.mysql.com/doc/refman/8.0/en/innodb-parameters.html \
         (innodb_flush_log_at_trx_commit=1: the log is written and flushed at each commit; \
         innodb_page_size 16 KB, innodb_io_capacity 200 pages a second, \
         innodb_doublewrite_pages 4)",
        "https://dev.mysql.com/doc/refman/8.0/en/innodb-doublewrite-buffer.html (pages go to the \
         doublewrite buffer in one chunk with one fsync, then to their places)",
        "https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_INNODB_REDO_LOG_FORMAT.html (the \
         redo log has blocks of 512 bytes)",
    ],
};

/// `innodb_io_capacity`: pages written back per second.
const PAGES_PER_SECOND: f64 = 200.0;
const PAGE_BYTES: u32 = 16 * KIB;
/// `innodb_doublewrite_pages`: pages of one write to the doublewrite buffer.
const BATCH_PAGES: u32 = 4;

fn mysql() -> Workload {
    application(
        "mysql",
        "Commits of MySQL's InnoDB, one at a time: a block of 512 bytes of its redo log, made \
         durable before the next. Beside them 200 dirty pages of 16 KiB a second go to the \
         doublewrite buffer, flushed each time, and to their places, past the page cache. What counts \
         is the time of a flush of the redo log. Nobody gives a threshold that holds for all.",
        vec![redo(), doublewrite(), pages()],
        None,
    )
}

/// One of its files, over and over.
fn redo() -> Job {
    Job {
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(512),
        size_bytes: 4 * u64::from(MIB),
        fsync_every: Some(1),
        ..Job::new("redo")
    }
}

fn doublewrite() -> Job {
    Job {
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(BATCH_PAGES * PAGE_BYTES),
        size_bytes: 8 * u64::from(MIB),
        direct: true,
        fsync_every: Some(1),
        pace: Pace::Even { iops: PAGES_PER_SECOND / f64::from(BATCH_PAGES) },
        ..Job::new("doublewrite")
    }
}

fn pages() -> Job {
    Job {
        engine: Engine::IoUring,
        queue_depth: 32,
        read_percent: 0,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Fixed(PAGE_BYTES),
        size_bytes: GIB,
        direct: true,
        pace: Pace::Even { iops: PAGES_PER_SECOND },
        ..Job::new("pages")
    }
}
