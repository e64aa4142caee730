//! Checks that there is memory for the buffers of a workload before anything is made. The kernel
//! allocates more memory than there is, and kills processes that use it.

use iotax_experiment::{Engine, Job, Workload};
use iotax_vdisk::{AvailableMemory, available_memory};

use crate::engine::thread::{effective_depth, effective_engine};
use crate::error::Error;
use crate::file_assignment::PAGE_BYTES;
use crate::target::IoTarget;

/// What a job's threads need beside buffers: a stack as far as it is used, histograms.
const THREAD_BYTES: u64 = 256 << 10;

/// What the buffers of one job are.
#[derive(Debug, Clone, Copy)]
struct Need {
    threads: u64,
    depth: u64,
    slot_bytes: u64,
}

impl Need {
    fn of(job: &Job, target: IoTarget<'_>) -> Self {
        let engine = effective_engine(job, target);
        let page = PAGE_BYTES as u64;
        let block_bytes = u64::from(job.block_sizes.max_bytes()).next_multiple_of(page);
        let reads = job.reads() || job.verify || job.pre_read;
        let buffers = match (target, engine) {
            (_, Engine::Null) => 0,
            // Its own, what a layer transforms, and what a mixed load writes from.
            (IoTarget::Disk(disk), _) => 1 + u64::from(disk.needs_scratch()),
            _ => u64::from(reads) + u64::from(job.writes_data()),
        };
        Self {
            threads: u64::from(job.threads),
            depth: u64::from(effective_depth(job, engine)),
            slot_bytes: buffers * block_bytes,
        }
    }

    fn bytes(&self) -> u64 {
        let slots = self.depth.saturating_mul(self.slot_bytes);
        self.threads.saturating_mul(slots.saturating_add(THREAD_BYTES))
    }
}

/// Refuses workloads, each on its target, whose buffers do not fit.
///
/// # Errors
/// [`Error::Buffers`], which names the job with the most, and what would fit.
pub(super) fn refuse_beyond<'a>(
    parts: impl Iterator<Item = (&'a Workload, IoTarget<'a>)>,
) -> Result<(), Error> {
    available_memory().map_or(Ok(()), |available| fits(parts, available))
}

fn fits<'a>(
    parts: impl Iterator<Item = (&'a Workload, IoTarget<'a>)>,
    available: AvailableMemory,
) -> Result<(), Error> {
    let jobs = parts.flat_map(|(workload, target)| {
        workload.jobs.iter().map(move |job| (job, Need::of(job, target)))
    });
    let (mut needed_bytes, mut most) = (0_u64, None);
    for (job, need) in jobs {
        needed_bytes = needed_bytes.saturating_add(need.bytes());
        if most.is_none_or(|(_, other): (&Job, Need)| need.bytes() > other.bytes()) {
            most = Some((job, need));
        }
    }
    // A part is for whatever else there is.
    let room_bytes = available.bytes - available.bytes / 8;
    let Some((job, need)) = most.filter(|_| needed_bytes > room_bytes) else { return Ok(()) };
    let for_job = room_bytes.saturating_sub(needed_bytes - need.bytes());
    Err(Error::Buffers {
        job: job.name.clone(),
        threads: need.threads,
        depth: need.depth,
        block_bytes: u64::from(job.block_sizes.max_bytes()),
        needed_bytes,
        available,
        fitting: fitting(&need, job, for_job),
    })
}

/// Options with which a job would need no more than this: a lower depth, else smaller blocks, else
/// fewer threads.
fn fitting(need: &Need, job: &Job, room_bytes: u64) -> String {
    let of_thread = (room_bytes / need.threads.max(1)).saturating_sub(THREAD_BYTES);
    let depth = of_thread.checked_div(need.slot_bytes).unwrap_or(0);
    if depth > 0 {
        return format!("--set depth={depth}");
    }
    let buffers = need.slot_bytes.div_ceil(u64::from(job.block_sizes.max_bytes())).max(1);
    let block_bytes = of_thread / buffers;
    if block_bytes >= PAGE_BYTES as u64 {
        let block_bytes = 1 << block_bytes.ilog2();
        let one = if need.depth > 1 { "--set depth=1 " } else { "" };
        return format!("{one}--set bs={}", iotax_experiment::units::format_bytes(block_bytes));
    }
    format!("--set depth=1 --set bs=4k --set threads={}", (room_bytes / (2 * THREAD_BYTES)).max(1))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iotax_experiment::{BlockSizes, Engine};
    use iotax_layers::{Layer, Mem};
    use iotax_vdisk::{MemoryLimit, MonotonicClock, VirtualDisk};

    use super::*;
    use crate::engine::testing;

    fn refused(jobs: Vec<Job>, bytes: u64) -> Option<String> {
        let mem = Layer::Mem(Mem { size_bytes: 1 << 20 });
        let disk = VirtualDisk::open(&[mem], Arc::new(MonotonicClock)).unwrap();
        let workload = testing::workload(jobs);
        let available = AvailableMemory { bytes, limit: MemoryLimit::AddressSpace };
        let parts = [(&workload, IoTarget::Disk(&disk))];
        fits(parts.into_iter(), available).err().map(|error| error.to_string())
    }

    fn job(bytes: u32, depth: u32, threads: u32) -> Job {
        Job {
            engine: Engine::IoUring,
            block_sizes: BlockSizes::Fixed(bytes),
            queue_depth: depth,
            threads,
            ..Job::new("io")
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_does() {
        let told = |job, bytes| refused(vec![job], bytes).unwrap();
        insta::assert_snapshot!(told(job(1 << 30, 64, 1), 6 << 30), @"the workload's buffers need 64 GiB of memory (job `io`: threads 1, queue depth 64, block size 1 GiB), but only 6 GiB is available within the `ulimit -v` limit of this process; use `--set depth=5`");
        insta::assert_snapshot!(told(job(1 << 30, 4, 8), 6 << 30), @"the workload's buffers need 32 GiB of memory (job `io`: threads 8, queue depth 4, block size 1 GiB), but only 6 GiB is available within the `ulimit -v` limit of this process; use `--set depth=1 --set bs=512M`");
        insta::assert_snapshot!(told(job(4096, 1, 65_000), 6 << 30), @"the workload's buffers need 16.1 GiB of memory (job `io`: threads 65000, queue depth 1, block size 4 KiB), but only 6 GiB is available within the `ulimit -v` limit of this process; use `--set depth=1 --set bs=4k --set threads=10752`");
        let small = Job { name: "small".to_owned(), ..job(4096, 8, 1) };
        insta::assert_snapshot!(refused(vec![small, job(1 << 30, 64, 1)], 6 << 30).unwrap(), @"the workload's buffers need 64 GiB of memory (job `io`: threads 1, queue depth 64, block size 1 GiB), but only 6 GiB is available within the `ulimit -v` limit of this process; use `--set depth=5`");
        assert_eq!(refused(vec![job(4096, 1024, 4)], 1 << 30), None);
    }

    /// What is proposed is accepted.
    #[test]
    fn what_is_said_to_fit_fits() {
        for (bytes, depth, threads) in
            [(1 << 30, 64, 1), (1 << 30, 1, 9), (1 << 30, 4, 8), (4096, 1, 65_000)]
        {
            for room in [64 << 20, 1 << 30, 6_u64 << 30] {
                let of = job(bytes, depth, threads);
                let Some(told) = refused(vec![of], room) else { continue };
                let (_, proposed) = told.rsplit_once(" `").unwrap();
                let value = |name: &str| {
                    let (_, value) = proposed.split_once(&format!("--set {name}="))?;
                    let value = value.split([' ', '`']).next()?;
                    iotax_experiment::units::parse_bytes(value)
                        .ok()
                        .and_then(|value| u32::try_from(value).ok())
                };
                let smaller = job(
                    value("bs").unwrap_or(bytes),
                    value("depth").unwrap_or(depth),
                    value("threads").unwrap_or(threads),
                );
                assert_eq!(refused(vec![smaller], room), None, "{told}");
            }
        }
    }
}
