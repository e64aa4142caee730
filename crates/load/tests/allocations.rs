//! The loop that issues I/Os never allocates: a longer run makes no more allocations.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use iotax_experiment::{Bound, Engine, Job, Pace, Trims};
use iotax_load::{IoTarget, LoadDriver as _, Native};
use support::{MIB, MS, disk, job, mem, request, workload};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of a run of so many I/Os.
fn allocations(engine: Engine, pace: Pace, ios: u64, target: IoTarget<'_>) -> u64 {
    let mut job = job(engine);
    (job.queue_depth, job.read_percent, job.pace) = (8, 50, pace);
    counted(job, ios, target)
}

fn counted(mut job: Job, ios: u64, target: IoTarget<'_>) -> u64 {
    job.bound = Bound::Bytes(4096 * ios);
    let mut workload = workload(job);
    (workload.ramp_ns, workload.time_ns) = (0, 600_000 * MS);
    let stop = AtomicBool::new(false);
    Native.prepare(&workload, target, &|_, _| {}, &stop).unwrap();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let record = Native.run(&request(&workload, target, &stop)).unwrap();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    let job = &record.jobs[0];
    let trims = job.trim.as_ref().map_or(0, |trim| trim.ios);
    assert_eq!((&job.first_error, job.read.ios + job.write.ios + trims), (&None, ios));
    allocations
}

#[test]
fn a_longer_run_makes_no_more_allocations() {
    let directory = tempfile::tempdir().unwrap();
    let disk = disk(&[mem(16 * MIB)]);
    for engine in [Engine::Null, Engine::Psync, Engine::IoUring, Engine::Vdisk] {
        for pace in [Pace::Closed, Pace::Poisson { iops: 20_000.0 }] {
            let target = match engine {
                Engine::Vdisk => IoTarget::Disk(&disk),
                _ => IoTarget::Path(directory.path()),
            };
            // The first run pays for what is set up once per process.
            allocations(engine, pace, 10, target);
            let short = allocations(engine, pace, 10, target);
            let long = allocations(engine, pace, 10_000, target);
            // A longer run is sampled more often, and what it reads of /proc differs in length; but
            // not one I/O in a hundred may cost an allocation.
            assert!(long <= short + 80, "{engine:?}: {short} allocations, then {long}");
        }
        if engine != Engine::Vdisk {
            let trims = |ios| {
                let job = Job { trims: Some(Trims::Only), read_percent: 0, ..job(engine) };
                counted(job, ios, IoTarget::Path(directory.path()))
            };
            trims(10);
            let (short, long) = (trims(10), trims(10_000));
            assert!(long <= short + 80, "{engine:?}: {short} allocations, then {long} of trims");
        }
    }
}
