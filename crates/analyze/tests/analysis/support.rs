//! Experiments that never happened: records with known truth and seeded noise.

use std::ops::Deref;

use iotax_analyze::{Analysis, Analyzer, Comparison, Metric, Standing};
use iotax_experiment::layers::{Aes, Mem};
use iotax_experiment::plan::Plan;
use iotax_experiment::{
    Arm, Design, Draft, Engine, Job, Layer, Pace, Pattern, Stack, Stop, StopMode, Subject, Target,
    Workload,
};
use iotax_record::{
    DirectionRecord, End, EndReason, Environment, ExperimentHead, HostRecord, JobRecord,
    LatencyHistogram, LoadRecord, Outcome, Site, Trial,
};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// Length of a trial.
pub(crate) const SECONDS: u64 = 5;
/// Bytes per I/O.
pub(crate) const BLOCK: u64 = 4096;

/// What analysing an experiment showed.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub experiment: ExperimentHead,
    pub analysis: Analysis,
}

impl Deref for Found {
    type Target = Analysis;

    fn deref(&self) -> &Analysis {
        &self.analysis
    }
}

/// An experiment being made up.
#[derive(Debug)]
pub(crate) struct Bed {
    pub experiment: ExperimentHead,
    rng: Xoshiro256PlusPlus,
    slot: u32,
}

impl Bed {
    /// Arms by name, each on its own in-process stack of memory and the given layers.
    pub(crate) fn new(arms: &[(&str, &[Layer])], design: Design) -> Self {
        let spec = Draft {
            stop: Stop {
                mode: StopMode::Quick,
                margin: 0.05,
                alpha: 0.05,
                simultaneous: false,
                max_blocks: 40,
                max_blocks_asked: false,
                min_blocks: 3,
                max_time_ns: None,
            },
            seed: 1,
            ..Draft::new(
                vec![workload()],
                arms.iter().map(|(name, layers)| arm(name, layers)).collect(),
                design,
            )
        }
        .unchecked();
        let sites = arms.iter().map(|_| memory_site()).collect();
        let experiment = ExperimentHead {
            cloud: iotax_experiment::CloudChoice::default(),
            format: iotax_record::FORMAT,
            id: None,
            iotax_version: "0.1.0".into(),
            started: "2026-01-01T00:00:00Z".into(),
            command: vec!["iotax".into()],
            spec,
            hosts: vec![HostRecord {
                environment: Environment {
                    cpus: 2,
                    memory_copy_bytes_per_s: Some(1e10),
                    ..Environment::default()
                },
                generator_ns_per_io: Some(50.0),
                ..HostRecord::default()
            }],
            sites,
        };
        Self { experiment, rng: Xoshiro256PlusPlus::seed_from_u64(7), slot: 0 }
    }

    /// A comparison of arms that are just names.
    pub(crate) fn compare(names: &[&str]) -> Self {
        let arms: Vec<(&str, &[Layer])> = names.iter().map(|name| (*name, &[][..])).collect();
        Self::new(&arms, Design::Compare)
    }

    /// A peel of layers with these names: all subsets of them.
    pub(crate) fn peel(layers: &[&str]) -> Self {
        let masks: Vec<u32> = (0..1 << layers.len()).collect();
        Self::peel_of(layers, masks)
    }

    pub(crate) fn peel_of(layers: &[&str], masks: Vec<u32>) -> Self {
        let names: Vec<String> = masks.iter().map(|mask| format!("mask {mask}")).collect();
        let arms: Vec<(&str, &[Layer])> =
            names.iter().map(|name| (name.as_str(), &[][..])).collect();
        let layers = layers.iter().map(|layer| (*layer).to_owned()).collect();
        Self::new(&arms, Design::Peel { layers, masks })
    }

    pub(crate) fn seed(mut self, seed: u64) -> Self {
        self.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        self
    }

    pub(crate) fn stop(mut self, change: impl FnOnce(&mut Stop)) -> Self {
        self.edit(|spec| change(&mut spec.stop));
        self
    }

    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Draft)) {
        self.experiment.spec = self.experiment.spec.with(change);
    }

    /// Offers a rate instead of a closed loop.
    pub(crate) fn offer(mut self, iops: f64) -> Self {
        self.edit(|spec| spec.phases[0].jobs[0].pace = Pace::Even { iops });
        self
    }

    /// Puts all arms on one disk whose reads are counted.
    pub(crate) fn on_disk(mut self) -> Self {
        for site in &mut self.experiment.sites {
            *site = disk_site();
        }
        self
    }

    /// The arms of a block in the order of the plan.
    pub(crate) fn order(&self, block: u32) -> Vec<usize> {
        Plan::new(&self.experiment.spec).order(block, |_| true)
    }

    /// One trial of each arm, at these rates.
    pub(crate) fn block(&mut self, block: u32, iops: &[f64]) -> Vec<Trial> {
        let order = self.order(block);
        order.into_iter().map(|arm| self.trial(block, arm, iops[arm])).collect()
    }

    /// Blocks of trials in the order of the plan. `iops[arm]` is the truth, `noise` the
    /// standard deviation of the logarithm of a trial's rate.
    pub(crate) fn blocks(&mut self, blocks: u32, iops: &[f64], noise: f64) -> Vec<Trial> {
        let mut trials = Vec::new();
        for block in 0..blocks {
            for arm in self.order(block) {
                let z: f64 = StandardNormal.sample(&mut self.rng);
                trials.push(self.trial(block, arm, iops[arm] * (noise * z).exp()));
            }
        }
        trials
    }

    /// One closed-loop trial: latencies uniform in 0.5 to 1.5 times their mean, 1 / iops.
    pub(crate) fn trial(&mut self, block: u32, arm: usize, iops: f64) -> Trial {
        self.trial_with(block, arm, iops, 1e9 / iops)
    }

    /// One trial with this rate and this mean latency.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn trial_with(
        &mut self,
        block: u32,
        arm: usize,
        rate: f64,
        latency_ns: f64,
    ) -> Trial {
        let ios = (rate * SECONDS as f64).round() as u64;
        let mut latency = LatencyHistogram::new();
        let mut sum_ns = 0;
        for _ in 0..ios {
            let ns = (latency_ns * (0.5 + self.rng.random::<f64>())) as u64;
            latency.record(ns);
            sum_ns += ns;
        }
        let is_open = self.experiment.spec.workload().jobs[0].pace.offered_iops().is_some();
        let per_second = ios / SECONDS;
        let read = DirectionRecord {
            ios,
            bytes: ios * BLOCK,
            response: is_open.then(|| latency.clone()),
            service: latency,
            per_second_ios: vec![per_second as u32; SECONDS as usize],
            per_second_bytes: vec![per_second * BLOCK; SECONDS as usize],
            ..DirectionRecord::default()
        };
        let offered = self.experiment.spec.workload().jobs[0].pace.offered_iops();
        let job = JobRecord {
            name: "reader".into(),
            engine: "vdisk".into(),
            threads: 1,
            queue_depth: 1,
            active_ns: SECONDS * SECOND_NS,
            cpu_user_ns: ios * 2_000,
            in_flight_io_ns: sum_ns,
            offered_ios: offered.map(|rate| (rate * SECONDS as f64) as u64),
            read,
            ..JobRecord::default()
        };
        let slot = self.slot;
        self.slot += 1;
        Trial {
            phase: 0,
            counters: None,
            block,
            slot,
            arm: self.experiment.spec.arms[arm].name.clone(),
            length: iotax_record::TrialLength::default(),
            started_ns: u64::from(slot) * 8 * SECOND_NS,
            switch_ns: SECOND_NS,
            outcome: Outcome::Completed,
            load: Some(LoadRecord {
                driver: "native".into(),
                window_ns: SECONDS * SECOND_NS,
                jobs: vec![job],
                ..LoadRecord::default()
            }),
        }
    }

    pub(crate) fn analyze(&self, trials: &[Trial]) -> Found {
        self.finish(trials, Some(&end()))
    }

    pub(crate) fn finish(&self, trials: &[Trial], end: Option<&End>) -> Found {
        let analysis = self.analyzer(trials).finish(end);
        Found { experiment: self.experiment.clone(), analysis }
    }

    pub(crate) fn decide(&self, trials: &[Trial]) -> Standing {
        self.analyzer(trials).decide()
    }

    pub(crate) fn analyzer(&self, trials: &[Trial]) -> Analyzer {
        let mut analyzer = Analyzer::new(&self.experiment);
        for trial in trials {
            analyzer.add(trial);
        }
        analyzer
    }
}

pub(crate) fn end() -> End {
    End {
        reasons: vec![EndReason::Resolved { besides: None }],
        wall_ns: 60 * SECOND_NS,
        interrupted: false,
        gave_up: false,
        trials: None,
        other_programs: None,
    }
}

/// A trial that failed before anything was measured.
pub(crate) fn failed(mut trial: Trial) -> Trial {
    trial.outcome = Outcome::Failed { error: "/dev/sdx: no such device".into() };
    trial.load = None;
    trial
}

/// The primary job's record.
pub(crate) fn job(trial: &mut Trial) -> &mut JobRecord {
    &mut load(trial).jobs[0]
}

pub(crate) fn load(trial: &mut Trial) -> &mut LoadRecord {
    trial.load.as_mut().expect("a measured trial")
}

/// The comparison of an arm or a layer.
pub(crate) fn of<'a>(analysis: &'a Analysis, subject: &str, metric: Metric) -> &'a Comparison {
    let is_called = |own: &Subject| match own {
        Subject::Arm(name) | Subject::Layer(name) => name == subject,
        Subject::Interaction([a, b]) => format!("{a} x {b}") == subject,
        Subject::Total => subject == "total",
        Subject::Level(_) => false,
    };
    let is_it = |c: &&Comparison| is_called(&c.subject) && c.metric == metric;
    analysis.comparisons.iter().find(is_it).expect("there is such a comparison")
}

pub(crate) fn aes() -> Layer {
    Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 })
}

pub(crate) fn memory_site() -> Site {
    Site { kind: "vdisk".into(), storage_id: "memory".into(), ..Site::default() }
}

pub(crate) fn disk_site() -> Site {
    Site {
        kind: "directory".into(),
        target: "/data".into(),
        file_system: Some("ext4".into()),
        device: Some("vda".into()),
        direct: Some(true),
        has_device: true,
        storage_id: "254:0 /data".into(),
        ..Site::default()
    }
}

fn arm(name: &str, layers: &[Layer]) -> Arm {
    let mut all = vec![Layer::Mem(Mem { size_bytes: 1 << 30 })];
    all.extend_from_slice(layers);
    Arm::new(name, Target::Stack(Stack { layers: all }))
}

fn workload() -> Workload {
    let job = Job {
        engine: Engine::Vdisk,
        pattern: Pattern::Random,
        size_bytes: 1 << 30,
        ..Job::new("reader")
    };
    Workload {
        ramp_ns: 2 * SECOND_NS,
        time_ns: SECONDS * SECOND_NS,
        ..Workload::new("reads", vec![job])
    }
}
