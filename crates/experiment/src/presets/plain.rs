//! One job each: what provider documentation states limits for.

use super::scales::{KIB, MIB, SECOND_NS};
use crate::engine::Engine;
use crate::spec::Yields;
use crate::workload::{BlockSizes, Job, Pattern, Workload};

pub(super) fn randread_4k() -> Workload {
    let job = random(100);
    plain(
        "randread-4k",
        "Random 4 KiB reads past the page cache, one at a time: the latency of a small read. \
         Set depth=32 to look for the IOPS limit instead.",
        job,
    )
}

pub(super) fn randwrite_4k() -> Workload {
    plain(
        "randwrite-4k",
        "Random 4 KiB writes past the page cache, one at a time: the latency of a small write. \
         Set depth=32 to look for the IOPS limit instead.",
        random(0),
    )
}

pub(super) fn seqread_1m() -> Workload {
    plain(
        "seqread-1m",
        "Sequential 1 MiB reads past the page cache, four in flight: the bandwidth of reads.",
        sequential(100),
    )
}

pub(super) fn seqwrite_1m() -> Workload {
    plain(
        "seqwrite-1m",
        "Sequential 1 MiB writes past the page cache, four in flight: the bandwidth of writes.",
        sequential(0),
    )
}

pub(super) fn mixed_70_30() -> Workload {
    plain(
        "mixed-70-30",
        "Random 4 KiB I/Os past the page cache, 70 % reads and 30 % writes, one at a time: the \
         usual picture of a transactional database. Set depth=32 to look for the IOPS limit \
         instead.",
        random(70),
    )
}

fn random(read_percent: u8) -> Job {
    Job {
        engine: Engine::IoUring,
        read_percent,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Fixed(4 * KIB),
        direct: true,
        ..Job::new("io")
    }
}

fn sequential(read_percent: u8) -> Job {
    Job {
        queue_depth: 4,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(MIB),
        ..random(read_percent)
    }
}

fn plain(name: &str, about: &str, job: Job) -> Workload {
    Workload {
        about: about.into(),
        ramp_ns: 2 * SECOND_NS,
        time_ns: 5 * SECOND_NS,
        yields: Some(Yields::Spans),
        ..Workload::new(name, vec![job])
    }
}
