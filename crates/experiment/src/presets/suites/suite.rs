//! What suites are made of.

use crate::engine::Engine;
use crate::fitted::Yields;
use crate::presets::scales::SECOND_NS;
use crate::workload::{BlockSizes, Job, Pattern, Workload};

/// A suite built in.
pub(super) struct Suite {
    pub name: &'static str,
    pub about: &'static str,
    pub source: &'static str,
    pub phases: fn() -> Vec<Workload>,
}

/// A phase of one job: its name, `about`, ramp and time in seconds.
pub(super) fn phase(name: &str, about: &str, job: Job, times: [u64; 2]) -> Workload {
    Workload {
        about: about.into(),
        ramp_ns: times[0] * SECOND_NS,
        time_ns: times[1] * SECOND_NS,
        yields: Some(Yields::Spans),
        ..Workload::new(name, vec![job])
    }
}

/// Past the page cache, as deep as asked. fio's `libaio` of the sources is `io_uring` here.
pub(super) fn direct(
    name: &str,
    pattern: Pattern,
    read_percent: u8,
    block: u32,
    depth: u32,
) -> Job {
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
