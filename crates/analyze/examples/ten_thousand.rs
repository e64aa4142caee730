//! Writes a record of 10,000 trials, then reads and analyses it, timed.
//!
//! `cargo run --release -p iotax-analyze --example ten_thousand [DIR]`
//!
//! The record stays in `DIR` (default: a new directory under the system's temporary one); if there
//! is one already, it is only read. Each trial has a reader with 20,000 latencies, a writer with
//! 2,000, and index loads.
#![expect(clippy::print_stdout, reason = "a program that prints what it measured")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use iotax_analyze::Analyzer;
use iotax_experiment::layers::Mem;
use iotax_experiment::{
    Arm, Design, Draft, IndexLoads, Layer, Stack, Stop, StopMode, Target, Workload,
};
use iotax_record::{
    DirectionRecord, End, EndReason, Environment, ExperimentHead, FORMAT, HostRecord, JobRecord,
    LatencyHistogram, LoadRecord, OperationRecord, Outcome, Reader, Site, Slow, SystemCounters,
    Trial, Writer,
};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const TRIALS: u32 = 10_000;
const SECOND_NS: u64 = 1_000_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).map_or_else(
        || std::env::temp_dir().join(format!("iotax-ten-thousand-{}", std::process::id())),
        PathBuf::from,
    );
    if !dir.join("experiment.json").exists() {
        let started = Instant::now();
        write(&dir)?;
        println!("wrote {TRIALS} trials to {} in {:.1?}", dir.display(), started.elapsed());
    }
    let started = Instant::now();
    let reader = Reader::open(&dir)?;
    let mut analyzer = Analyzer::new(&reader.head);
    for trial in reader.lines()? {
        analyzer.add(&trial?);
    }
    println!("read them in {:.2?}", started.elapsed());
    let started = Instant::now();
    let progress = analyzer.decide();
    println!("decided in {:.2?}: {:?}", started.elapsed(), progress.stop);
    let started = Instant::now();
    let analysis = analyzer.finish(reader.end.as_ref());
    println!(
        "analyzed in {:.2?}: {} comparisons, {} warnings",
        started.elapsed(),
        analysis.comparisons.len(),
        analysis.warnings.len()
    );
    if let Some(peak) = peak_memory() {
        println!("peak memory {peak}");
    }
    Ok(())
}

fn write(dir: &Path) -> Result<(), iotax_record::Error> {
    let experiment = experiment();
    let mut writer = Writer::create(dir, &experiment)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for slot in 0..TRIALS {
        let arm = (slot % 2) as usize;
        writer.append(&trial(slot, &experiment.spec.arms[arm].name, arm, &mut rng))?;
    }
    let wall_ns = u64::from(TRIALS) * 8 * SECOND_NS;
    writer.finish(&End {
        reasons: vec![EndReason::AllRun],
        wall_ns,
        interrupted: false,
        gave_up: false,
        trials: None,
        other_programs: None,
    })
}

fn experiment() -> ExperimentHead {
    let mut workload = Workload::preset("driver-searcher").expect("a built-in workload");
    workload.time_ns = 5 * SECOND_NS;
    workload.index = Some(IndexLoads {
        versions_per_second: 4.0,
        index_bytes: 1 << 24,
        slow_load_ns: 10_000_000,
        queries_per_second: 1000.0,
        query_bytes: 16384,
    });
    let layers = vec![Layer::Mem(Mem { size_bytes: 1 << 30 })];
    let arm = |name: &str| Arm::new(name, Target::Stack(Stack { layers: layers.clone() }));
    let stop = Stop {
        mode: StopMode::Default,
        margin: 0.05,
        alpha: 0.05,
        simultaneous: false,
        max_blocks: TRIALS / 2,
        max_blocks_asked: true,
        min_blocks: 3,
        max_time_ns: None,
    };
    let arms = vec![arm("base"), arm("other")];
    ExperimentHead {
        cloud: iotax_experiment::CloudChoice::default(),
        format: FORMAT,
        id: None,
        iotax_version: env!("CARGO_PKG_VERSION").into(),
        started: "2026-01-01T00:00:00Z".into(),
        command: vec!["iotax".into(), "compare".into()],
        spec: Draft { stop, seed: 1, ..Draft::new(vec![workload], arms, Design::Compare) }
            .unchecked(),
        hosts: vec![HostRecord {
            environment: Environment { cpus: 2, ..Environment::default() },
            generator_ns_per_io: Some(50.0),
            ..HostRecord::default()
        }],
        sites: vec![Site::default(); 2],
    }
}

fn trial(slot: u32, arm: &str, layers: usize, rng: &mut Xoshiro256PlusPlus) -> Trial {
    let scale = if layers == 0 { 1.0 } else { 1.3 } * (1.0 + 0.05 * rng.random::<f64>());
    let load = LoadRecord {
        far_end: None,
        busiest: Vec::new(),
        paused: None,
        replay: None,
        driver: "native".into(),
        window_ns: 5 * SECOND_NS,
        jobs: vec![
            job("download", 2_000, 30e6 * scale, true, rng),
            job("mmap_read", 20_000, 2e6 * scale, false, rng),
        ],
        operations: vec![
            operation("publish", latencies(20, 3e7, rng)),
            OperationRecord {
                slow: Some(Slow { above_ns: 10_000_000, count: 2 }),
                ..operation(IndexLoads::LOAD, latencies(20, 6e6 * scale, rng))
            },
            OperationRecord {
                waited: Some(50),
                ..operation("query", latencies(5_000, 1e5 * scale, rng))
            },
        ],
        system: SystemCounters::default(),
        warnings: Vec::new(),
    };
    Trial {
        phase: 0,
        block: slot / 2,
        slot,
        arm: arm.into(),
        length: iotax_record::TrialLength::default(),
        started_ns: u64::from(slot) * 8 * SECOND_NS,
        switch_ns: SECOND_NS / 10,
        outcome: Outcome::Completed,
        load: Some(load),
        counters: None,
    }
}

fn operation(name: &str, latency: LatencyHistogram) -> OperationRecord {
    OperationRecord { name: name.into(), latency, ..OperationRecord::default() }
}

fn job(
    name: &str,
    ios: u64,
    median_ns: f64,
    writes: bool,
    rng: &mut Xoshiro256PlusPlus,
) -> JobRecord {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let active_ns = (5e9 * median_ns / if writes { 30e6 } else { 2e6 }) as u64;
    let direction = DirectionRecord {
        ios,
        bytes: ios * 4096,
        service: latencies(ios, median_ns, rng),
        per_second_ios: vec![u32::try_from(ios / 5).expect("few"); 5],
        per_second_bytes: vec![ios * 4096 / 5; 5],
        ..DirectionRecord::default()
    };
    let (read, write) = if writes {
        (DirectionRecord::default(), direction)
    } else {
        (direction, DirectionRecord::default())
    };
    JobRecord {
        tcp: None,
        udp: None,
        name: name.into(),
        engine: "psync".into(),
        threads: 8,
        queue_depth: 1,
        active_ns,
        cpu_user_ns: ios * 2_000,
        read,
        write,
        ..JobRecord::default()
    }
}

/// Log-normal, as latencies are, with a spread of a factor of two.
fn latencies(count: u64, median_ns: f64, rng: &mut Xoshiro256PlusPlus) -> LatencyHistogram {
    let distribution = LogNormal::new(median_ns.ln(), 0.7).expect("a positive spread");
    let mut histogram = LatencyHistogram::new();
    for _ in 0..count {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        histogram.record(distribution.sample(rng) as u64);
    }
    histogram
}

/// The most memory this process ever had, as Linux tells it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().skip(1).collect::<Vec<_>>().join(" "))
}
