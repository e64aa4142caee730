//! Experiments that never happened, through the code that concludes on real ones: the plan orders
//! the arms of each block and says when to look, and `Phases` takes in the trials, says when to
//! stop and what came out.

use std::fmt;

use iotax_analyze::{Comparison, Lengths, Metric, Phases, Verdict};
use iotax_experiment::plan::{Phase, Plan, SliceLengths};
use iotax_experiment::{Arm, Draft, Job, Spec, Stop, StopMode, Target, Workload};
use iotax_record::{
    DirectionRecord, End, EndReason, Environment, ExperimentHead, HostRecord, JobRecord,
    LatencyHistogram, LoadRecord, Outcome, Site, Trial, TrialLength,
};
use rand::RngExt;

use crate::noise::{Disk, Disturbance, Noise, Rng, Stream, rng};
use crate::recordings::{Recording, WINDOW_NS};

const SECOND_NS: f64 = 1e9;
/// I/Os per second of an arm without a tax, where no recording says it.
const RATE: f64 = 20_000.0;
/// A workload with syncs: throughput, the median write, sync latency and CPU per I/O are compared.
const EVERY: u32 = 64;
/// Places at which the latencies of a trial lie, spread over a factor of two.
const SPREAD: u32 = 64;

/// How long trials take, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Times {
    /// From the end of one to the start of the next.
    pub switch_ns: u64,
    /// What is discarded of each.
    pub ramp_ns: u64,
    /// What is measured of each.
    pub time_ns: u64,
    /// Whether they are slices, as a pilot settles them.
    pub are_slices: bool,
}

impl Times {
    const LONG: Self = Self {
        switch_ns: 1_000_000_000,
        ramp_ns: 2_000_000_000,
        time_ns: 5_000_000_000,
        are_slices: false,
    };

    /// Slices of so many milliseconds, each after a start of 20 ms and a switch of 5 ms.
    const fn slices(time_ns: u64) -> Self {
        Self { switch_ns: 5_000_000, ramp_ns: 20_000_000, time_ns, are_slices: true }
    }

    /// What is measured of a trial, in windows of a recording.
    const fn windows(self) -> usize {
        (self.time_ns / WINDOW_NS) as usize
    }

    /// Of one trial with all that belongs to it.
    fn seconds(self) -> f64 {
        (self.switch_ns + self.ramp_ns + self.time_ns) as f64 / SECOND_NS
    }
}

/// Where the noise of trials comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Weather {
    /// Each measure of each arm has its own.
    OfTrials(Noise),
    /// Both arms see the windows of a recording, each measure from its own place on. A slice, and
    /// the pause between two slices, last a whole number of windows.
    Recorded(&'static Recording),
}

impl fmt::Display for Weather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfTrials(noise) => write!(f, "{noise}, of slices"),
            Self::Recorded(recording) => write!(f, "{recording:?}"),
        }
    }
}

/// Comparisons of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub mode: StopMode,
    pub arms: usize,
    pub times: Times,
    pub weather: Weather,
    pub disturbance: Disturbance,
    /// By which the throughput of the last arm is lower.
    pub tax: f64,
    /// Seconds at most, if somebody asks for fewer than an experiment takes by itself.
    pub most_seconds: Option<u32>,
}

#[expect(clippy::struct_excessive_bools, reason = "each is counted on its own")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Came {
    /// Some arm is called slower or faster in the primary measure; in any.
    pub signed: bool,
    pub any_signed: bool,
    /// The same in the median.
    pub typical_signed: bool,
    /// The last arm's interval of the median does not hold the truth, if it has one.
    pub typical_missed: bool,
    /// What the last arm is called in the primary measure.
    pub verdict: Verdict,
    /// Its interval does not hold the truth, if it has one.
    pub missed: bool,
    pub blocks: u32,
    /// What most slices say; as all of them, where that is no other.
    pub in_most: Verdict,
    /// How long it took: slices, what is discarded before each, and switching.
    pub seconds: f64,
    /// Slices were given up for longer trials.
    pub gave_up: bool,
}

impl Scenario {
    pub(crate) const fn of(mode: StopMode, noise: Noise, disturbance: Disturbance) -> Self {
        let weather = Weather::OfTrials(noise);
        Self {
            mode,
            arms: 2,
            times: Times::LONG,
            weather,
            disturbance,
            tax: 0.0,
            most_seconds: None,
        }
    }

    /// In slices on a disk, or path, as it was recorded.
    pub(crate) fn recorded(mode: StopMode, recording: &'static Recording) -> Self {
        let times = Times::slices(recording.slice_windows() as u64 * WINDOW_NS);
        let usual = Self::of(mode, Noise::white(0.0), Disturbance::None);
        Self { times, weather: Weather::Recorded(recording), ..usual }
    }

    /// In slices: in every recorded and made noise, and in noise of each slice, independent and
    /// with a lag-1 autocorrelation of .6.
    pub(crate) fn in_slices(mode: StopMode) -> Vec<Self> {
        let of_windows = Recording::all().iter().chain(Recording::made());
        let of_slices = [0.0, 0.6].map(|lag| {
            let noise = Noise { lag, ..Noise::white(0.2) };
            let times = Times::slices(2 * WINDOW_NS);
            Self { times, ..Self::of(mode, noise, Disturbance::None) }
        });
        of_windows.map(|recording| Self::recorded(mode, recording)).chain(of_slices).collect()
    }

    /// The run of this seed, to its end. The schedule is that of the loop that makes real trials.
    pub(crate) fn play(&self, seed: u64) -> Came {
        let experiment = experiment(self, seed);
        let plan = Plan::new(&experiment.spec);
        let mut stage = Stage::new(self, seed);
        let mut phases = Phases::new(&experiment);
        let mut open = vec![vec![true; self.arms]];
        let mut reasons = vec![EndReason::AllRun];
        let mut lengths = SliceLengths::default();
        let (mut block, mut most, mut gave_up) = (0, plan.max_blocks, false);
        let allows = |now: f64, seconds: f64| {
            let end = (now + seconds * self.arms as f64) * SECOND_NS;
            plan.max_time_ns.is_none_or(|most| end <= most as f64)
        };
        while block < most {
            let fits = |slices| allows(stage.now, stage.times.seconds() * f64::from(slices));
            let slices = if gave_up { 1 } else { lengths.next(&plan, block, fits) };
            if block > 0 && !allows(stage.now, stage.times.seconds()) {
                reasons = vec![EndReason::TimeUp];
                break;
            }
            stage.length = match slices {
                _ if gave_up => TrialLength::Usual,
                1 => TrialLength::Planned,
                _ => TrialLength::LongSlice,
            };
            for (place, arm) in plan.order(block, |arm| open[0][arm]).into_iter().enumerate() {
                let tax = if arm + 1 == self.arms { self.tax } else { 0.0 };
                let which = (block, place, arm);
                phases.add(&stage.trial(&experiment.spec.arms[arm], which, slices, tax));
            }
            block += 1;
            if !gave_up && slices == 1 && !plan.is_look(block) {
                continue;
            }
            let progress = phases.decide();
            open = phases.open(&progress);
            if !progress.stop.is_empty() {
                reasons = progress.stop;
                break;
            }
            lengths.set_next(progress.lengths.next());
            if progress.lengths == Lengths::Differ && !gave_up {
                gave_up = true;
                stage.times = Times::LONG;
                most = block + Plan::new(&experiment.spec.with(Draft::give_up_slices)).max_blocks;
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
        self.came(&analysis.comparisons, stage.now, gave_up)
    }

    fn came(&self, comparisons: &[Comparison], seconds: f64, gave_up: bool) -> Came {
        let primary = || comparisons.iter().filter(|c| c.metric == Metric::Throughput);
        let last = primary().next_back().expect("a comparison");
        let ends = last.lo.zip(last.hi);
        let typical = || comparisons.iter().filter(|c| c.metric == Metric::P50);
        let last_typical = typical().next_back().expect("a comparison");
        let in_most = comparisons.iter().rfind(|c| c.metric == Metric::TrimmedThroughput);
        let longer = 1.0 / (1.0 - self.tax) - 1.0;
        Came {
            signed: primary().any(|c| c.verdict.is_signed()),
            any_signed: comparisons.iter().any(|c| c.verdict.is_signed()),
            typical_signed: typical().any(|c| c.verdict.is_signed()),
            typical_missed: last_typical
                .lo
                .zip(last_typical.hi)
                .is_some_and(|(lo, hi)| longer < lo || longer > hi),
            verdict: last.verdict,
            in_most: in_most.map_or(last.verdict, |c| c.verdict),
            missed: ends.is_some_and(|(lo, hi)| self.tax < lo || self.tax > hi),
            blocks: last.blocks,
            seconds,
            gave_up,
        }
    }

    /// What came of so many runs.
    pub(crate) fn tally(&self, runs: u32) -> Tally {
        Tally((0..runs).map(|seed| self.play(0x10_7a_00 + u64::from(seed))).collect())
    }
}

/// What came of runs that differ in their seeds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally(Vec<Came>);

impl Tally {
    pub(crate) fn count(&self, of: impl Fn(&Came) -> bool) -> u32 {
        u32::try_from(self.0.iter().filter(|came| of(came)).count()).unwrap_or(u32::MAX)
    }

    pub(crate) fn called(&self, verdict: Verdict) -> u32 {
        self.count(|came| came.verdict == verdict)
    }

    pub(crate) fn mean_blocks(&self) -> f64 {
        f64::from(self.0.iter().map(|came| came.blocks).sum::<u32>()) / self.0.len() as f64
    }

    pub(crate) fn median(&self, of: impl Fn(&Came) -> f64) -> f64 {
        let mut all: Vec<f64> = self.0.iter().map(of).collect();
        all.sort_unstable_by(f64::total_cmp);
        all[all.len() / 2]
    }
}

/// What is measured of a trial.
#[derive(Debug, Clone, Copy)]
enum Measure {
    Rate,
    Sync,
    Cpu,
    Typical,
}

const MEASURES: usize = 4;

/// The machine during one run.
#[derive(Debug)]
struct Stage {
    times: Times,
    weather: Weather,
    disk: Disk,
    /// Of each measure of each arm.
    streams: Vec<[Stream; MEASURES]>,
    /// The window with which each measure begins.
    first: [usize; MEASURES],
    /// Windows that are over.
    over: usize,
    length: TrialLength,
    rng: Rng,
    /// Seconds since the start.
    now: f64,
    slot: u32,
    /// What all trials have in common; histograms take memory.
    job: JobRecord,
}

impl Stage {
    fn new(scenario: &Scenario, seed: u64) -> Self {
        let mut rng = rng(seed ^ 0x5eed);
        let noise = match scenario.weather {
            Weather::OfTrials(noise) => noise,
            Weather::Recorded(_) => Noise::white(0.0),
        };
        let disk = scenario.disturbance.disk(&mut rng);
        let first = match scenario.weather {
            Weather::OfTrials(_) => [0; MEASURES],
            Weather::Recorded(recording) => {
                std::array::from_fn(|_| rng.random_range(0..recording.windows()))
            }
        };
        let direction =
            || DirectionRecord { service: LatencyHistogram::empty(), ..DirectionRecord::default() };
        let job = JobRecord {
            name: "writer".into(),
            engine: "sync".into(),
            threads: 1,
            queue_depth: 1,
            read: direction(),
            write: direction(),
            sync: LatencyHistogram::empty(),
            ..JobRecord::default()
        };
        Self {
            times: scenario.times,
            weather: scenario.weather,
            disk,
            streams: (0..scenario.arms)
                .map(|_| std::array::from_fn(|_| Stream::new(noise)))
                .collect(),
            first,
            over: 0,
            length: TrialLength::Planned,
            rng,
            now: 0.0,
            slot: 0,
            job,
        }
    }

    /// The speed of this trial by a measure, where that of an undisturbed one is 1.
    fn speed(&mut self, measure: Measure, arm: usize, slices: u32) -> f64 {
        match self.weather {
            Weather::OfTrials(_) => {
                let speed = self.streams[arm][measure as usize].next(&mut self.rng);
                // A longer one has the mean of so many.
                speed.powf(f64::from(slices).sqrt().recip())
            }
            Weather::Recorded(recording) => {
                let at = self.first[measure as usize] + self.over;
                let windows = self.times.windows() * slices as usize;
                recording.iops(at, windows) / recording.mean_iops()
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn trial(
        &mut self,
        arm: &Arm,
        (block, place, at): (u32, usize, usize),
        slices: u32,
        tax: f64,
    ) -> Trial {
        let Times { switch_ns, ramp_ns, time_ns, are_slices } = self.times;
        let time_ns = time_ns * u64::from(slices);
        // What is not measured takes a window at least.
        self.over += (switch_ns + ramp_ns).div_ceil(WINDOW_NS) as usize;
        // The time limit counts what slices take at least.
        let jitter = if are_slices { 1.0 } else { self.rng.random_range(0.9..1.1) };
        self.now += (switch_ns as f64 * jitter + ramp_ns as f64) / SECOND_NS;
        let (start, window) = (self.now, time_ns as f64 / SECOND_NS);
        self.now += window;
        let which = (self.slot, place);
        let usual = match self.weather {
            Weather::OfTrials(_) => RATE,
            Weather::Recorded(recording) => recording.mean_iops(),
        };
        let speed = self.disk.speed(start, window, which);
        let rate = usual * (1.0 - tax) * self.speed(Measure::Rate, at, slices);
        let ios = (rate * speed * window).round() as u64;
        let per_second = |second: u32| {
            (rate * self.disk.speed(start + f64::from(second), 1.0, which)).round() as u32
        };
        let per_second_ios = (0..window as u32).map(per_second).collect();
        // Nothing takes longer than the window, also not all together.
        let [sync, cpu, typical] = [Measure::Sync, Measure::Cpu, Measure::Typical]
            .map(|measure| self.speed(measure, at, slices).max(1.0 / (usual * window)));
        self.over += self.times.windows() * slices as usize;
        let mut job = self.job.clone();
        (job.active_ns, job.in_flight_io_ns) = (time_ns, time_ns);
        let syncs = ios.div_ceil(u64::from(EVERY));
        job.sync.record_many(((1e6 / sync / speed) as u64).min(time_ns / syncs.max(1)), syncs);
        job.cpu_user_ns = ((ios as f64 * 4000.0 / cpu) as u64).min(time_ns);
        let median_ns = 1e9 / usual / (1.0 - tax) / speed / typical;
        for place in 0..SPREAD {
            let share = (f64::from(place) + 0.5) / f64::from(SPREAD);
            let count = (ios * u64::from(place + 1)) / u64::from(SPREAD)
                - (ios * u64::from(place)) / u64::from(SPREAD);
            job.write.service.record_many((median_ns * 2_f64.powf(share - 0.5)) as u64, count);
        }
        (job.write.ios, job.write.bytes) = (ios, ios * 4096);
        job.write.per_second_ios = per_second_ios;
        let load = LoadRecord {
            driver: "native".into(),
            window_ns: time_ns,
            jobs: vec![job],
            ..LoadRecord::default()
        };
        let slot = self.slot;
        self.slot += 1;
        Trial {
            phase: 0,
            length: self.length,
            counters: None,
            block,
            slot,
            arm: arm.name.clone(),
            started_ns: (start * SECOND_NS) as u64,
            switch_ns,
            outcome: match load.stalled_below("writer") {
                None => Outcome::Completed,
                Some(_) => Outcome::Degraded { reasons: vec!["no I/O completed".into()] },
            },
            load: Some(load),
        }
    }
}

fn experiment(scenario: &Scenario, seed: u64) -> ExperimentHead {
    let Times { ramp_ns, time_ns, are_slices, .. } = scenario.times;
    let job = Job {
        read_percent: 0,
        fsync_every: Some(EVERY),
        size_bytes: 1 << 30,
        ..Job::new("writer")
    };
    let workload = Workload {
        name: "writes".into(),
        jobs: vec![job],
        primary: "writer".into(),
        ..Workload::preset("randread-4k").expect("a preset")
    };
    let arm = |number| Arm::new(format!("arm {number}"), Target::Path("/data".into()));
    let arms: Vec<Arm> = (0..scenario.arms).map(arm).collect();
    let sites = vec![Site { storage_id: "one disk".into(), ..Site::default() }; arms.len()];
    let max_time_ns = scenario.most_seconds.map(|seconds| u64::from(seconds) * 1_000_000_000);
    let stop = Stop { mode: scenario.mode, max_time_ns, ..Stop::default() };
    let spec = Spec::compare(workload.in_slices(), arms, stop, seed).expect("a spec");
    let settled = spec.with(|draft| {
        let whole_trials = draft.alternate();
        let times = Phase { ramp_ns, time_ns };
        if are_slices {
            assert_eq!(whole_trials, None, "arms that can alternate");
            draft.settle(Some(&[times]));
            assert!(draft.is_of_slices());
        } else {
            draft.settle(None);
            (draft.phases[0].ramp_ns, draft.phases[0].time_ns) = (ramp_ns, time_ns);
        }
    });
    ExperimentHead {
        cloud: iotax_experiment::CloudChoice::default(),
        format: iotax_record::FORMAT,
        id: None,
        iotax_version: "0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        command: Vec::new(),
        spec: settled,
        hosts: vec![HostRecord {
            environment: Environment { cpus: 2, ..Environment::default() },
            ..HostRecord::default()
        }],
        sites,
    }
}
