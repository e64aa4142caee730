//! Experiments that never happened, through the code that concludes on real ones: the plan orders the
//! arms of each block, and `Phases` takes in the trials, says when to stop and what came out.

use iotax_analyze::{Comparison, Metric, Phases, Verdict};
use iotax_experiment::plan::Plan;
use iotax_experiment::{Arm, Job, Spec, Stop, StopMode, Target, Workload};
use iotax_record::{
    DirectionRecord, End, Environment, ExperimentHead, HostRecord, JobRecord, LatencyHistogram,
    LoadRecord, Outcome, Site, Trial,
};
use rand::RngExt;

use crate::noise::{Disk, Disturbance, Noise, Rng, Stream, rng};

const SECOND_NS: f64 = 1e9;
/// Measured seconds of a trial, discarded ones, and those between two trials.
const WINDOW: f64 = 5.0;
const RAMP: f64 = 2.0;
const SWITCH: f64 = 1.0;
/// I/Os per second of an arm without a tax.
const RATE: f64 = 20_000.0;
/// A workload with syncs: throughput, sync latency and CPU per I/O are compared.
const EVERY: u32 = 64;

/// Comparisons of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub mode: StopMode,
    pub arms: usize,
    pub noise: Noise,
    pub disturbance: Disturbance,
    /// By which the throughput of the last arm is lower.
    pub tax: f64,
}

#[expect(clippy::struct_excessive_bools, reason = "each is counted on its own")]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Came {
    /// Some arm is called slower or faster in the primary measure; in any.
    pub signed: bool,
    pub any_signed: bool,
    /// The same in the median.
    pub typical_signed: bool,
    /// The last arm's interval of the median holds the truth, if it has one.
    pub typical_missed: bool,
    /// The last arm is called slower.
    pub slower: bool,
    /// Its interval holds the truth, if it has one.
    pub missed: bool,
    pub blocks: u32,
}

impl Scenario {
    pub(crate) const fn of(mode: StopMode, noise: Noise, disturbance: Disturbance) -> Self {
        Self { mode, arms: 2, noise, disturbance, tax: 0.0 }
    }

    /// The run of this seed, to its end.
    pub(crate) fn play(&self, seed: u64) -> Came {
        let experiment = experiment(self, seed);
        let plan = Plan::new(&experiment.spec);
        let mut rng = rng(seed ^ 0x5eed);
        let mut stage = Stage {
            disk: self.disturbance.disk(&mut rng),
            typical: (0..self.arms).map(|_| Stream::new(self.noise)).collect(),
            streams: (0..self.arms * 3).map(|_| Stream::new(self.noise)).collect(),
            rng,
            now: 0.0,
            slot: 0,
        };
        let mut phases = Phases::new(&experiment);
        let mut open = vec![vec![true; self.arms]];
        let mut reasons = Vec::new();
        for block in 0..plan.max_blocks {
            for (place, arm) in plan.order(block, |arm| open[0][arm]).into_iter().enumerate() {
                let tax = if arm + 1 == self.arms { self.tax } else { 0.0 };
                phases.add(&stage.trial(&experiment.spec.arms[arm], (block, place, arm), tax));
            }
            let progress = phases.decide();
            open = phases.open(&progress);
            reasons = progress.stop;
            if !reasons.is_empty() {
                break;
            }
        }
        let end = End {
            reasons,
            wall_ns: 0,
            interrupted: false,
            gave_up: false,
            trials: None,
            other_programs: None,
        };
        let (_, analysis) = phases.finish(Some(&end)).remove(0);
        self.came(&analysis.comparisons)
    }

    fn came(&self, comparisons: &[Comparison]) -> Came {
        let primary = || comparisons.iter().filter(|c| c.metric == Metric::Throughput);
        let last = primary().next_back().expect("a comparison");
        let ends = last.lo.zip(last.hi);
        let typical = || comparisons.iter().filter(|c| c.metric == Metric::P50);
        let last_typical = typical().next_back().expect("a comparison");
        let longer = 1.0 / (1.0 - self.tax) - 1.0;
        Came {
            signed: primary().any(|c| c.verdict.is_signed()),
            any_signed: comparisons.iter().any(|c| c.verdict.is_signed()),
            typical_signed: typical().any(|c| c.verdict.is_signed()),
            typical_missed: last_typical
                .lo
                .zip(last_typical.hi)
                .is_some_and(|(lo, hi)| longer < lo || longer > hi),
            slower: last.verdict == Verdict::Slower,
            missed: ends.is_some_and(|(lo, hi)| self.tax < lo || self.tax > hi),
            blocks: last.blocks,
        }
    }

    /// So many runs, and the counts of what came of them.
    pub(crate) fn tally(&self, runs: u32) -> Tally {
        let mut tally = Tally { runs, ..Tally::default() };
        for seed in 0..runs {
            let came = self.play(0x10_7a_00 + u64::from(seed));
            tally.signed += u32::from(came.signed);
            tally.any_signed += u32::from(came.any_signed);
            tally.typical_signed += u32::from(came.typical_signed);
            tally.typical_missed += u32::from(came.typical_missed);
            tally.slower += u32::from(came.slower);
            tally.missed += u32::from(came.missed);
            tally.blocks.push(came.blocks);
        }
        tally.blocks.sort_unstable();
        tally
    }
}

/// How often something came of so many runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub runs: u32,
    pub signed: u32,
    pub any_signed: u32,
    pub typical_signed: u32,
    pub typical_missed: u32,
    pub slower: u32,
    pub missed: u32,
    /// Ascending.
    pub blocks: Vec<u32>,
}

impl Tally {
    pub(crate) fn mean_blocks(&self) -> f64 {
        f64::from(self.blocks.iter().sum::<u32>()) / f64::from(self.runs)
    }
}

/// The machine during one run.
#[derive(Debug)]
struct Stage {
    disk: Disk,
    /// By arm: throughput, sync latency, CPU.
    streams: Vec<Stream>,
    /// By arm: the median write.
    typical: Vec<Stream>,
    rng: Rng,
    now: f64,
    slot: u32,
}

impl Stage {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn trial(&mut self, arm: &Arm, (block, place, at): (u32, usize, usize), tax: f64) -> Trial {
        self.now += SWITCH * self.rng.random_range(0.9..1.1) + RAMP;
        let start = self.now;
        self.now += WINDOW;
        let which = (self.slot, place);
        let [rate, sync, cpu] =
            [0, 1, 2].map(|measure| self.streams[3 * at + measure].next(&mut self.rng));
        let rate = RATE * (1.0 - tax) * rate;
        let speed = self.disk.speed(start, WINDOW, which);
        let ios = (rate * speed * WINDOW).round() as u64;
        let per_second = |second: u32| {
            (rate * self.disk.speed(start + f64::from(second), 1.0, which)).round() as u32
        };
        let syncs = (ios / u64::from(EVERY)).max(1);
        let mut synced = LatencyHistogram::new();
        let window_ns = (WINDOW * SECOND_NS) as u64;
        synced.record_many((1e6 * sync / speed) as u64, syncs);
        // A trial's median is what 1,000 of its writes say, spread by a factor of two.
        let median_ns = 50e3 / (1.0 - tax) / speed * self.typical[at].next(&mut self.rng);
        let mut service = LatencyHistogram::new();
        for _ in 0..1_000 {
            let spread = 2_f64.powf(self.rng.random_range(-0.5..0.5));
            service.record((median_ns * spread) as u64);
        }
        let write = DirectionRecord {
            service,
            ios,
            bytes: ios * 4096,
            per_second_ios: (0..WINDOW as u32).map(per_second).collect(),
            ..DirectionRecord::default()
        };
        let job = JobRecord {
            name: "writer".into(),
            engine: "sync".into(),
            threads: 1,
            queue_depth: 1,
            active_ns: window_ns,
            in_flight_io_ns: window_ns,
            cpu_user_ns: (ios as f64 * 4000.0 * cpu) as u64,
            write,
            sync: synced,
            ..JobRecord::default()
        };
        let slot = self.slot;
        self.slot += 1;
        Trial {
            phase: 0,
            counters: None,
            block,
            slot,
            arm: arm.name.clone(),
            length: iotax_record::TrialLength::default(),
            started_ns: (start * SECOND_NS) as u64,
            switch_ns: (SWITCH * SECOND_NS) as u64,
            outcome: Outcome::Completed,
            load: Some(LoadRecord {
                driver: "native".into(),
                window_ns,
                jobs: vec![job],
                ..LoadRecord::default()
            }),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn experiment(scenario: &Scenario, seed: u64) -> ExperimentHead {
    let job = Job {
        read_percent: 0,
        fsync_every: Some(EVERY),
        size_bytes: 1 << 30,
        ..Job::new("writer")
    };
    let workload = Workload {
        name: "writes".into(),
        ramp_ns: (RAMP * SECOND_NS) as u64,
        time_ns: (WINDOW * SECOND_NS) as u64,
        jobs: vec![job],
        primary: "writer".into(),
        ..Workload::preset("randread-4k").expect("a preset")
    };
    let arm = |number| Arm::new(format!("arm {number}"), Target::Path("/data".into()));
    let arms: Vec<Arm> = (0..scenario.arms).map(arm).collect();
    let sites = vec![Site { storage_id: "one disk".into(), ..Site::default() }; arms.len()];
    let stop = Stop { mode: scenario.mode, ..Stop::default() };
    ExperimentHead {
        cloud: iotax_experiment::CloudChoice::default(),
        format: iotax_record::FORMAT,
        id: None,
        iotax_version: "0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        command: Vec::new(),
        spec: Spec::compare(workload, arms, stop, seed).expect("a spec"),
        hosts: vec![HostRecord {
            environment: Environment { cpus: 2, ..Environment::default() },
            ..HostRecord::default()
        }],
        sites,
    }
}
