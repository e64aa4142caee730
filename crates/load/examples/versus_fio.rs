use iotax_load::*;
use iotax_spec::*;
use std::sync::atomic::AtomicBool;
fn main() {
    let dir = std::path::PathBuf::from("/tmp/vf");
    std::fs::create_dir_all(&dir).unwrap();
    for (engine, depth) in [(Engine::Null, 1), (Engine::Null, 32), (Engine::Psync, 1)] {
        let job = Job {
            name: "j".into(),
            engine,
            threads: 1,
            queue_depth: depth,
            read_percent: 100,
            pattern: Pattern::Random,
            block_sizes: BlockSizes::Fixed(4096),
            files: Files::PerThread,
            size_bytes: 256 << 20,
            pace: Pace::Closed,
            bound: Bound::Time,
            start_delay_ns: 0,
            direct: false,
            invalidate: false,
            fsync_every: None,
            end_fsync: false,
            verify: false,
            sqpoll: false,
            advise: true,
        };
        let w = Workload {
            name: "w".into(),
            about: String::new(),
            ramp_ns: 100_000_000,
            time_ns: 1_000_000_000,
            jobs: vec![job],
            index: None,
            primary: "j".into(),
        };
        let stop = AtomicBool::new(false);
        Native.prepare(&w, Target::Path(&dir), &|_, _| {}, &stop).unwrap();
        let r = Native
            .run(&Request {
                workload: &w,
                target: Target::Path(&dir),
                ramp_ns: w.ramp_ns,
                time_ns: w.time_ns,
                seed: 1,
                stop: &stop,
                live: None,
            })
            .unwrap();
        let j = &r.jobs[0];
        println!(
            "{:?} ios {} cpu/io {:.1} mean {:.1} p50 {} L {:.4} err {:?} u{} s{}",
            engine,
            j.read.ios,
            (j.cpu_user_ns + j.cpu_system_ns) as f64 / j.read.ios as f64,
            j.read.service.mean_ns(),
            j.read.service.quantile_ns(0.5),
            j.in_flight_io_ns as f64 / j.active_ns as f64,
            j.first_error,
            j.cpu_user_ns,
            j.cpu_system_ns
        );
    }
}
