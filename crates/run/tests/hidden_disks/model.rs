//! Disks that are a formula: what passes per second at an instant, for I/Os of a size and depth.
//! What disturbs a load is put on top, so that hundreds of searches take a second.

use iotax_caps::{Ended, Observation, Prober};
use iotax_experiment::Probe;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A step of the sum over time.
const STEP_S: f64 = 0.01;
const BETWEEN_S: f64 = 0.005;

/// What is asked of a disk at an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub target: usize,
    /// Seconds since the search began.
    pub at_s: f64,
    pub block_bytes: f64,
    pub queue_depth: f64,
}

/// I/Os per second of a disk.
pub(crate) type Rate = Box<dyn FnMut(Asked) -> f64>;

/// How a load is disturbed: windows and whole probes that lose a share of what they would have had.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Disturbed {
    /// Share of the seconds that lose something.
    pub windows: f64,
    /// Share of the probes that do, throughout.
    pub probes: f64,
    /// Share of its time that the load waits for a CPU, as the kernel tells it.
    pub cpu_wait: Option<f64>,
}

pub(crate) struct Model {
    pub rate: Rate,
    pub disturbed: Disturbed,
    pub random: Xoshiro256PlusPlus,
    pub now_s: f64,
}

impl Model {
    pub(crate) fn of(seed: u64, disturbed: Disturbed, rate: Rate) -> Self {
        Self { rate, disturbed, random: Xoshiro256PlusPlus::seed_from_u64(seed), now_s: 0.0 }
    }

    /// What is left where something is lost.
    fn left(&mut self, probability: f64) -> f64 {
        let is_hit = self.random.random_range(0.0..1.0) < probability;
        if is_hit { self.random.random_range(0.1..0.8) } else { 1.0 }
    }

    fn observe(&mut self, probe: &Probe, target: usize, open_s: f64) -> Observation {
        let window_s = probe.time_ns as f64 / 1e9;
        let depth = probe.traffic.map_or(probe.queue_depth, |traffic| traffic.flows);
        let block_bytes = probe.traffic.map_or(probe.block_bytes, |traffic| traffic.block_bytes);
        let throughout = self.left(self.disturbed.probes);
        let (mut sum, mut seconds, mut left) = (0.0, Vec::new(), 1.0);
        let steps = (window_s / STEP_S).round() as usize;
        let mut before = 0_u64;
        for step in 0..steps {
            let at_s = step as f64 * STEP_S;
            if at_s >= seconds.len() as f64 && step % 100 == 0 {
                left = self.left(self.disturbed.windows) * throughout;
            }
            let asked = Asked {
                target,
                at_s: open_s + at_s,
                block_bytes: f64::from(block_bytes),
                queue_depth: f64::from(depth),
            };
            sum += (self.rate)(asked) * STEP_S * left;
            if (step + 1) % 100 == 0 {
                seconds.push((sum as u64 - before) as u32);
                before = sum as u64;
            }
        }
        let ios = sum as u64;
        Observation {
            ios,
            bytes: ios * u64::from(block_bytes),
            active_ns: probe.time_ns,
            mean_latency_ns: f64::from(depth) * window_s * 1e9 / sum,
            per_second_ios: seconds,
            cpu_wait: self.disturbed.cpu_wait,
            ..Observation::default()
        }
    }
}

impl Prober for Model {
    fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended> {
        let open_s = self.now_s + probe.ramp_ns as f64 / 1e9;
        self.now_s = open_s + probe.time_ns as f64 / 1e9 + BETWEEN_S;
        let targets: Vec<usize> = probe.places.iter().map(|(target, _)| *target).collect();
        Ok(targets.into_iter().map(|target| self.observe(probe, target, open_s)).collect())
    }

    fn pause(&mut self, pause_ns: u64) -> Result<(), Ended> {
        self.now_s += pause_ns as f64 / 1e9;
        Ok(())
    }
}
