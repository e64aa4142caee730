//! What is offered is served, and figures of one run agree with one another.

use std::sync::atomic::AtomicBool;

use iotax_experiment::{Engine, IndexLoads, Job, Pace, Think, Workload};
use iotax_layers::{Delay, Layer, Queue};
use iotax_load::{Fio, IoTarget, LoadDriver as _, Native};
use iotax_record::{DirectionRecord, JobRecord};
use iotax_testing::needs_program;

use crate::support::{MIB, MS, disk, engines, job, mem, prepare_and_run, request, run, workload};

/// Mean number in flight by Little's law against the number counted.
fn assert_littles_law(job: &JobRecord) {
    let of = |direction: &DirectionRecord| {
        direction.service.mean_ns() * direction.service.count() as f64
    };
    let by_latency = of(&job.read) + of(&job.write);
    let ratio = by_latency / job.in_flight_io_ns as f64;
    // I/Os under way at the edges of the window belong to it in part only.
    assert!((0.5..2.0).contains(&ratio), "{}: {ratio}", job.engine);
}

#[test]
fn latencies_agree_with_what_is_in_flight() {
    for engine in engines() {
        let mut mixed = job(engine);
        (mixed.read_percent, mixed.queue_depth) = (70, 8);
        assert_littles_law(&run(&workload(mixed)).jobs[0]);
        let mut late = job(engine);
        late.start_delay_ns = 120 * MS;
        assert_littles_law(&run(&workload(late)).jobs[0]);
        let mut pausing = job(engine);
        pausing.queue_depth = 8;
        pausing.think = Some(Think { time_ns: 10 * MS, after_ios: 4 });
        assert_littles_law(&run(&workload(pausing)).jobs[0]);
    }
}

#[test]
fn an_open_loop_offers_its_rate() {
    for engine in engines() {
        for pace in [Pace::Even { iops: 2000.0 }, Pace::Poisson { iops: 2000.0 }] {
            let mut job = job(engine);
            (job.queue_depth, job.threads, job.pace) = (4, 2, pace);
            let record = run(&workload(job));
            let job = &record.jobs[0];
            let offered = job.offered_ios.unwrap();
            // 400 of a Poisson process: 20 is one standard deviation.
            let few = if matches!(pace, Pace::Even { .. }) { 2 } else { 120 };
            assert!(offered.abs_diff(400) <= few, "{}: {offered}", job.engine);
            assert!(job.read.ios * 4 > offered * 3 && job.read.ios < offered * 2);
            let response = job.read.response.as_ref().unwrap();
            assert!(response.max_ns() + 1 >= job.max_slip_ns / 2);
        }
    }
}

#[test]
fn fio_offers_a_rate_and_does_not_exceed_it() {
    if !needs_program("fio") {
        return;
    }
    let (fio, stop) = (Fio::find().unwrap(), AtomicBool::new(false));
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let target = IoTarget::Path(directory.path());
    let pace = Pace::Even { iops: 200.0 };
    let mut paced = workload(Job { pace, direct: false, ..job(Engine::Psync) });
    paced.time_ns = 1000 * MS;
    fio.prepare(&paced, target, &|_, _| {}, &stop).unwrap();
    let record = fio.run(&request(&paced, target, &stop)).unwrap();
    let job = &record.jobs[0];
    assert!(job.active_ns >= 100 * MS, "{} ns", job.active_ns);
    let offered = job.offered_ios.unwrap();
    assert!((100..=400).contains(&offered), "{offered}");
    assert!((1..=2 * offered).contains(&job.read.ios), "{} of {offered}", job.read.ios);
}

#[test]
fn index_versions_come_at_their_rate() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = workload(job(Engine::Psync));
    workload.time_ns = 500 * MS;
    workload.index = Some(IndexLoads {
        versions_per_second: 40.0,
        index_bytes: 2 * MIB + 4096,
        slow_load_ns: 1,
        queries_per_second: 1000.0,
        query_bytes: 10_000,
    });
    let disk = disk(&[mem(16 * MIB)]);
    for target in [IoTarget::Path(directory.path()), IoTarget::Disk(&disk)] {
        let done = prepare_and_run(&workload, target).unwrap().operations;
        let [published, _, queries] = [0, 1, 2].map(|at: usize| done[at].latency.count());
        assert!((2..=21).contains(&published), "{published}");
        assert!((10..1000).contains(&queries), "{queries}");
    }
}

#[test]
fn operations_on_files_come_by_the_hundred_or_at_their_rate() {
    let directory = tempfile::tempdir().unwrap();
    let operations = |preset: &str, changes: &[&str]| {
        let mut workload = Workload::preset(preset).unwrap();
        for change in [&["files=200", "threads=2"], changes].concat() {
            workload.set(change).unwrap();
        }
        (workload.ramp_ns, workload.time_ns) = (50 * MS, 1000 * MS);
        let (target, stop) = (IoTarget::Path(directory.path()), AtomicBool::new(false));
        Native.prepare(&workload, target, &|_, _| (), &stop).unwrap();
        let job = Native.run(&request(&workload, target, &stop)).unwrap().jobs.remove(0);
        job.read.ios + job.write.ios
    };
    for preset in ["git-checkout", "git-status", "git-gc"] {
        let done = operations(preset, &[]);
        assert!(done > 100, "{preset}: {done}");
    }
    let done = operations("git-status", &["rate=100"]);
    assert!((5..=110).contains(&done), "{done}");
}

#[test]
fn simulated_latency_is_met_at_every_depth() {
    let delay = Layer::Delay(Delay { latency_ns: 2 * MS, jitter_ns: 0 });
    for depth in [1, 16, 256] {
        let disk = disk(&[mem(16 * MIB), delay.clone()]);
        let mut workload = workload(job(Engine::Vdisk));
        workload.jobs[0].queue_depth = depth;
        let record = prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
        let expected = f64::from(depth) * 100.0;
        let share = record.jobs[0].read.ios as f64 / expected;
        assert!((0.1..1.02).contains(&share), "depth {depth}: {share}");
    }
}

#[test]
fn a_work_queue_lets_writes_through() {
    let queue = Layer::Queue(Queue { workers: 2 });
    let delay = Layer::Delay(Delay { latency_ns: MS, jitter_ns: 0 });
    for layers in [vec![mem(16 * MIB), queue.clone()], vec![mem(16 * MIB), delay, queue]] {
        let disk = disk(&layers);
        let mut workload = workload(job(Engine::Vdisk));
        (workload.jobs[0].queue_depth, workload.jobs[0].read_percent) = (8, 0);
        let record = prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
        assert!(record.jobs[0].write.ios > 100, "{}", record.jobs[0].write.ios);
    }
}
