//! The models: each is run by loom in every order of its threads, with so many preemptions at most
//! that it ends in seconds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, AtomicUsize as Counter, Ordering};
use loom::thread;

use crate::bucket::{Caps, Groups, RateLimit, SharedBucket};
use crate::threads::gate::Gate;
use crate::threads::handoff::Handoff;
use crate::threads::stop::Running;
use crate::sync::Fault;
use crate::sync::atomic::AtomicBool;

/// Runs a model; a fault is one of what it is made of.
pub fn run(model: fn(), fault: Fault) {
    fault.plant();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// The submitter pushes to the queue; a worker of the layer takes from it and hands back to the
/// submitter's port, where that sleeps: every I/O comes back, once.
pub fn an_io_goes_to_a_layers_thread_and_comes_back() {
    let [queue, port] = [2, 2].map(|capacity| Arc::new(Handoff::with_capacity(capacity)));
    let worker = {
        let (queue, port) = (Arc::clone(&queue), Arc::clone(&port));
        thread::spawn(move || {
            while let Some(io) = queue.take() {
                port.push(io);
            }
        })
    };
    queue.push(1);
    queue.push(2);
    assert_eq!([port.take(), port.take()], [Some(1), Some(2)]);
    queue.close();
    worker.join().expect("no panic");
    assert_eq!(port.try_take(), None);
}

/// Two workers and two I/Os: each is taken by one of them, and both end when the queue is closed.
pub fn two_threads_of_a_layer_share_a_queue() {
    let queue = Arc::new(Handoff::with_capacity(2));
    let taken = Arc::new(Counter::new(0));
    let workers = [(); 2].map(|()| {
        let (queue, taken) = (Arc::clone(&queue), Arc::clone(&taken));
        thread::spawn(move || {
            while let Some(io) = queue.take() {
                taken.fetch_add(io, Ordering::Relaxed);
            }
        })
    });
    queue.push(1);
    queue.push(2);
    queue.close();
    for worker in workers {
        worker.join().expect("no panic");
    }
    assert_eq!(taken.load(Ordering::Relaxed), 3);
}

/// Whoever waits for a while only is woken as well.
pub fn a_submitter_that_waits_for_a_while_is_woken() {
    let port = Arc::new(Handoff::with_capacity(1));
    let worker = {
        let port = Arc::clone(&port);
        thread::spawn(move || port.push(1))
    };
    assert_eq!(port.take_within(std::time::Duration::from_secs(3600)), Some(1));
    worker.join().expect("no panic");
}

const PER_IO_NS: u64 = 1_000;

fn caps() -> Caps {
    Caps {
        iops: Some(RateLimit::sustained(1e9 / PER_IO_NS as f64)),
        bw_bytes: None,
        io_unit_bytes: None,
        counts_reads: true,
        counts_writes: true,
    }
}

/// Two disks of a group, whose time goes on between any two steps: the rate holds for both
/// together, and who comes first passes first.
pub fn disks_of_a_group_share_a_bucket() {
    two_disks(|bucket, clock| {
        let passage = bucket.admit(4096, || clock.fetch_add(1, Ordering::Relaxed));
        (passage.arrival_ns, passage.passes_ns)
    });
}

/// The same, but the clock is read before the lock is taken: it must fail.
pub fn a_clock_that_is_read_too_early() {
    two_disks(|bucket, clock| {
        let arrival_ns = clock.fetch_add(1, Ordering::Relaxed);
        (arrival_ns, bucket.admit(4096, || arrival_ns).passes_ns)
    });
}

fn two_disks(admit: fn(&SharedBucket, &AtomicU64) -> (u64, u64)) {
    let groups = Arc::new(Mutex::new(Groups::default()));
    let clock = Arc::new(AtomicU64::new(0));
    let disks = [(); 2].map(|()| {
        let (groups, clock) = (Arc::clone(&groups), Arc::clone(&clock));
        thread::spawn(move || {
            let joined = groups.lock().expect("no panic").join("a", caps());
            let bucket = joined.expect("the same caps");
            ([(); 2].map(|()| admit(&bucket, &clock)), bucket)
        })
    });
    let [first, second] = disks.map(|disk| disk.join().expect("no panic"));
    assert!(Arc::ptr_eq(&first.1, &second.1), "one bucket");
    let mut passed = [first.0, second.0].concat();
    passed.sort_unstable();
    // Each I/O pays for itself: the next may pass when it has been paid for.
    for (nth, (arrival_ns, passes_ns)) in (0..).zip(&passed) {
        assert!(passes_ns >= arrival_ns);
        assert_eq!(*passes_ns, passed[0].1 + nth * PER_IO_NS, "{passed:?}");
    }
}

/// All threads of a load are ready before any starts, and all start at one instant.
pub fn threads_start_together() {
    let gate = Arc::new(Gate::new());
    let ready = Arc::new(Counter::new(0));
    let threads = [(); 2].map(|()| {
        let (gate, ready) = (Arc::clone(&gate), Arc::clone(&ready));
        thread::spawn(move || {
            ready.fetch_add(1, Ordering::Relaxed);
            let start = gate.ticket().arrive();
            assert_eq!(ready.load(Ordering::Relaxed), 2);
            start
        })
    });
    assert_eq!(gate.open(2, || 77), Some(77));
    for thread in threads {
        assert_eq!(thread.join().expect("no panic"), Some(77));
    }
}

/// Nobody waits for a thread that failed before it was ready.
pub fn nobody_waits_for_a_thread_that_failed() {
    let gate = Arc::new(Gate::new());
    let [waits, fails] = [Arc::clone(&gate), Arc::clone(&gate)];
    let waits = thread::spawn(move || waits.ticket().arrive());
    let fails = thread::spawn(move || drop(fails.ticket()));
    assert_eq!(gate.open(2, || 77), None);
    assert_eq!(waits.join().expect("no panic"), None);
    fails.join().expect("no panic");
}

/// Who sees that all writers are through sees all that they wrote; the last one of a job that ends
/// all others raises the flag.
pub fn who_sees_that_all_are_through_sees_what_they_did() {
    let running = Arc::new(Running::new(&[2], 0));
    let written = Arc::new([(); 2].map(|()| loom::cell::UnsafeCell::new(0)));
    let writers = [0, 1].map(|number| {
        let (running, written) = (Arc::clone(&running), Arc::clone(&written));
        thread::spawn(move || {
            let through = running.through(0, true);
            // SAFETY: of this thread until it is through, which is what is under test.
            written[number].with_mut(|cell| unsafe { *cell = 1 });
            drop(through);
        })
    });
    while !running.jobs_are_through() {
        thread::yield_now();
    }
    // SAFETY: nobody writes any more, which is what is under test.
    let sum: i32 = written.iter().map(|cell| cell.with(|cell| unsafe { *cell })).sum();
    assert_eq!(sum, 2);
    for writer in writers {
        writer.join().expect("no panic");
    }
    assert!(running.all_are_through() && running.has_ended());
}

/// Whoever sees that a thread is through sees whether it broke down.
pub fn who_sees_that_all_are_through_sees_whether_one_broke_down() {
    let running = Arc::new(Running::new(&[1], 0));
    let user = AtomicBool::new(false);
    let breaks = {
        let running = Arc::clone(&running);
        thread::spawn(move || {
            let broken = catch_unwind(AssertUnwindSafe(|| {
                let _through = running.through(0, false);
                // Past the hook, which would print each of thousands.
                std::panic::resume_unwind(Box::new(()));
            }));
            assert!(broken.is_err());
        })
    };
    if running.jobs_are_through() {
        assert!(running.flags(&user).abandoned());
    }
    breaks.join().expect("no panic");
    assert!(running.jobs_are_through() && running.flags(&user).raised());
}

/// The flag of the one who asked for the load ends it, with nothing lost of what was done.
pub fn who_stops_a_load_ends_its_threads() {
    let running = Arc::new(Running::new(&[1], 1));
    let user = Arc::new(AtomicBool::new(false));
    let job = {
        let (running, user) = (Arc::clone(&running), Arc::clone(&user));
        thread::spawn(move || {
            let _through = running.through(0, false);
            while !running.flags(&user).raised() {
                thread::yield_now();
            }
        })
    };
    let through = running.index_through();
    user.store(true, std::sync::atomic::Ordering::Relaxed);
    job.join().expect("no panic");
    assert!(running.jobs_are_through() && !running.all_are_through());
    drop(through);
    assert!(running.all_are_through() && !running.has_ended());
}
