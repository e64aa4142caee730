//! CPU time per I/O of this crate's engines against fio's, side by side: rounds in which every
//! contender runs once, in an order that rotates, then medians. Both keep full latency
//! histograms. Needs fio in `PATH`.
//!
//! ```text
//! cargo run --release -p iotax-load --example versus_fio -- [DIRECTORY [ROUNDS [SECONDS]]]
//! ```

mod bare;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use iotax_experiment::{Engine, Job, Pattern, Workload};
use iotax_load::{IoTarget, LoadDriver, Native, Request};

const FILE_BYTES: u64 = 256 << 20;
const RAMP_NS: u64 = 200_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Contender {
    Ours(Engine, u32),
    /// This many of the I/Os that are due by one system call: all, as the bare loop does it, or
    /// one, as jobs read from fio do.
    Batch(u32, u32),
    Fio(Engine, u32),
    /// A loop without any statistic.
    Bare(Engine, u32),
}

impl Contender {
    fn name(self) -> String {
        match self {
            Self::Ours(engine, depth) => format!("iotax {} depth {depth}", engine.name()),
            Self::Batch(batch, depth) => format!("iotax io_uring depth {depth}, {batch} at once"),
            Self::Fio(engine, depth) => format!("fio   {} depth {depth}", engine.name()),
            Self::Bare(engine, depth) => format!("bare  {} depth {depth}", engine.name()),
        }
    }

    /// (nanoseconds of CPU per I/O, I/Os per second)
    fn run(self, directory: &Path, seconds: u64) -> (f64, f64) {
        match self {
            Self::Ours(engine, depth) => ours(directory, &workload(engine, depth, seconds)),
            Self::Batch(batch, depth) => {
                let mut workload = workload(Engine::IoUring, depth, seconds);
                workload.jobs[0].submit_batch = Some(batch);
                ours(directory, &workload)
            }
            Self::Fio(engine, depth) => fio(directory, engine, depth, seconds),
            Self::Bare(engine, depth) => {
                let (file, time) = (file(directory), Duration::from_secs(seconds));
                let bare = match engine {
                    Engine::Psync => bare::psync(&file, time, 1),
                    _ => bare::uring(&file, u16::try_from(depth).expect("a small depth"), time, 1),
                };
                let bare = bare.expect("reads");
                let ios = bare.ios as f64;
                (bare.cpu_ns as f64 / ios, ios * 1e9 / bare.wall_ns as f64)
            }
        }
    }
}

fn file(directory: &Path) -> PathBuf {
    directory.join("versus.0")
}

fn workload(engine: Engine, depth: u32, seconds: u64) -> Workload {
    let job = Job {
        engine,
        queue_depth: depth,
        pattern: Pattern::Random,
        size_bytes: FILE_BYTES,
        ..Job::new("versus")
    };
    Workload {
        name: "versus".into(),
        about: String::new(),
        ramp_ns: RAMP_NS,
        time_ns: seconds * 1_000_000_000,
        jobs: vec![job],
        index: None,
        requires: None,
        origin: None,
        notes: Vec::new(),
        yields: None,
        slices: None,
        primary: "versus".into(),
    }
}

fn ours(directory: &Path, workload: &Workload) -> (f64, f64) {
    let request = Request {
        index_ends: &iotax_experiment::IndexEnds::Both,
        workload,
        target: IoTarget::Path(directory),
        ramp_ns: workload.ramp_ns,
        time_ns: workload.time_ns,
        part: None,
        seed: 1,
        stop: &AtomicBool::new(false),
        live: None,
    };
    let record = Native.run(&request).expect("a load");
    let job = &record.jobs[0];
    assert_eq!(job.first_error, None);
    let ios = job.read.ios as f64;
    let cpu_ns = (job.cpu_user_ns + job.cpu_system_ns) as f64;
    (cpu_ns / ios, ios * 1e9 / job.active_ns as f64)
}

fn fio(directory: &Path, engine: Engine, depth: u32, seconds: u64) -> (f64, f64) {
    let mut command = Command::new("fio");
    command
        .args(["--name=versus", "--rw=randread", "--bs=4k", "--norandommap", "--time_based"])
        .args(["--invalidate=0", "--ramp_time=200ms", "--output-format=json"])
        .arg(format!("--ioengine={}", engine.name()))
        .arg(format!("--iodepth={depth}"))
        .arg(format!("--size={FILE_BYTES}"))
        .arg(format!("--runtime={seconds}"));
    if engine != Engine::Null {
        command.arg(format!("--filename={}", file(directory).display()));
    }
    let output = command.output().expect("fio in PATH");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let job = &result["jobs"][0];
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let ios = number(&job["read"]["total_ios"]);
    // Percent of the runtime, which is in milliseconds.
    let cpu_ns = (number(&job["usr_cpu"]) + number(&job["sys_cpu"])) / 100.0
        * number(&job["job_runtime"])
        * 1e6;
    (cpu_ns / ios, number(&job["read"]["iops"]))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

/// Median over rounds of the ratio within a round: what disturbs a round disturbs both.
fn ratio(above: &[(f64, f64)], below: &[(f64, f64)]) -> f64 {
    let mut ratios: Vec<f64> = above.iter().zip(below).map(|(a, b)| a.0 / b.0).collect();
    median(&mut ratios)
}

#[expect(clippy::print_stdout, reason = "a program")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let rounds = arguments.next().map_or(7, |text| text.parse().expect("ROUNDS is a number"));
    let seconds = arguments.next().map_or(2, |text| text.parse().expect("SECONDS is a number"));
    let contenders = [
        Contender::Ours(Engine::Null, 1),
        Contender::Fio(Engine::Null, 1),
        Contender::Ours(Engine::Psync, 1),
        Contender::Fio(Engine::Psync, 1),
        Contender::Bare(Engine::Psync, 1),
        Contender::Ours(Engine::IoUring, 32),
        Contender::Fio(Engine::IoUring, 32),
        Contender::Batch(1, 32),
        Contender::Batch(32, 32),
        Contender::Bare(Engine::IoUring, 32),
        Contender::Ours(Engine::Libaio, 32),
        Contender::Fio(Engine::Libaio, 32),
    ];
    let laid_out = workload(Engine::Psync, 1, seconds);
    let go_on = AtomicBool::new(false);
    Native.prepare(&laid_out, IoTarget::Path(&directory), &|_, _| {}, &go_on).expect("a test file");
    // Into the page cache.
    std::fs::read(file(&directory)).expect("the test file");
    let mut results = vec![Vec::new(); contenders.len()];
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let index = (turn + round) % contenders.len();
            results[index].push(contenders[index].run(&directory, seconds));
        }
    }
    println!("Medians of {rounds} rounds of {seconds} s, 4 KiB random reads:\n");
    println!("| contender | CPU per I/O, ns | I/Os per second |\n|---|---|---|");
    for (contender, results) in contenders.iter().zip(&results) {
        let mut cpu: Vec<f64> = results.iter().map(|result| result.0).collect();
        let mut rate: Vec<f64> = results.iter().map(|result| result.1).collect();
        println!("| {} | {:.1} | {:.0} |", contender.name(), median(&mut cpu), median(&mut rate));
    }
    println!("\n| ratio of CPU per I/O | here | goal |\n|---|---|---|");
    for (name, above, below, goal) in [
        ("iotax null / fio null", 0, 1, "-"),
        ("iotax psync / fio psync", 2, 3, "at most 0.75"),
        ("iotax psync / bare loop", 2, 4, "-"),
        ("iotax io_uring / fio io_uring", 5, 6, "at most 0.7"),
        ("iotax io_uring, 1 at once / fio io_uring", 7, 6, "at most 0.85"),
        ("iotax io_uring, 32 at once / bare loop", 8, 9, "at most 1.05"),
        ("iotax libaio / fio libaio", 10, 11, "at most 1"),
    ] {
        println!("| {name} | {:.3} | {goal} |", ratio(&results[above], &results[below]));
    }
    std::fs::remove_file(file(&directory)).expect("the test file");
}
