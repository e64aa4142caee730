//! etcd's log: each entry is on the disk before it counts.

use super::super::scales::{KIB, MIB, MILLISECOND_NS, SECOND_NS};
use super::{Application, application};
use crate::workload::{BlockSizes, Job, Pattern, Think, Workload};

const FIO_LINE: &str = "https://www.ibm.com/cloud/blog/using-fio-to-tell-whether-your-storage-is-fast-enough-for-etcd \
     (sequential writes of 2300 bytes, fdatasync after each)";
const BACKEND: &str = "https://github.com/etcd-io/etcd/blob/main/server/storage/backend/backend.go \
     (the database commits every 100 ms: defaultBatchInterval)";

pub(super) const WAL: Application =
    Application { name: "etcd-wal", build: alone, sources: &[FIO_LINE] };
pub(super) const WAL_LOADED: Application =
    Application { name: "etcd-wal-loaded", build: loaded, sources: &[FIO_LINE, BACKEND] };

const RULE: &str = "sync.p99 > 10ms";
const THRESHOLD: &str =
    "https://etcd.io/docs/v3.5/faq/ (p99 of wal_fsync_duration_seconds below 10 ms)";

/// A p99 below the threshold is believed from 10,000 syncs on: that many even at 3 ms each.
const TIME_NS: u64 = 30 * SECOND_NS;

fn alone() -> Workload {
    timed(application(
        "etcd-wal",
        "etcd's write-ahead log: sequential writes of 2300 bytes into newly allocated space, each \
         made durable by fdatasync before the next. What counts is the time of the fdatasync.",
        vec![wal()],
        Some((RULE, THRESHOLD)),
    ))
}

fn loaded() -> Workload {
    timed(application(
        "etcd-wal-loaded",
        "The same beside etcd's own database, which is on the same disk unless it is told \
         otherwise: ten times a second at most it writes pages at random, and makes them durable by \
         fdatasync.",
        vec![wal(), backend()],
        Some((RULE, THRESHOLD)),
    ))
}

fn timed(workload: Workload) -> Workload {
    Workload { time_ns: TIME_NS, ..workload }
}

/// Ten segments of 64 MB: etcd allocates each before it writes to it, so no write overwrites.
fn wal() -> Job {
    Job {
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(2300),
        size_bytes: 640 * u64::from(MIB),
        fsync_every: Some(1),
        fresh: true,
        ..Job::new("wal")
    }
}

/// Commits as a trace shows them at 550 puts a second: 36 writes, most of 8 KiB, and two syncs each;
/// how many there are goes with the puts.
fn backend() -> Job {
    const WRITES: u32 = 36;
    const SYNCS: u32 = 2;
    Job {
        read_percent: 0,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Fixed(8 * KIB),
        size_bytes: 100 * u64::from(MIB),
        fsync_every: Some(WRITES / SYNCS),
        think: Some(Think { time_ns: 100 * MILLISECOND_NS, after_ios: WRITES }),
        ..Job::new("backend")
    }
}
