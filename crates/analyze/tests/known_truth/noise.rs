//! What makes trials of equal arms differ.

use std::fmt;

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) type Rng = Xoshiro256PlusPlus;

pub(crate) fn rng(seed: u64) -> Rng {
    Rng::seed_from_u64(seed)
}

/// Noise of single trials: each measure of each arm has its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    /// Standard deviation of the logarithm.
    pub sd: f64,
    /// Correlation of an arm's trial with its trial in the block before.
    pub lag: f64,
    /// One trial in twenty takes 2 to 5 times as long.
    pub spikes: bool,
}

impl Noise {
    pub(crate) const fn white(sd: f64) -> Self {
        Self { sd, lag: 0.0, spikes: false }
    }
}

/// What the disk does, whichever arm is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Disturbance {
    None,
    /// The first trial of a block is this much faster.
    Place(f64),
    /// The disk is 30 % slower in every other half of a period of so many seconds.
    Toggle(f64),
    /// The same, of a period that each run draws: 3 to 300 s.
    AnyToggle,
    /// Each trial is this much slower than the one before.
    Drift(f64),
    /// The disk begins at half of its speed and warms up in so many seconds.
    WarmUp(f64),
}

impl Disturbance {
    /// The disk of one run.
    pub(crate) fn disk(self, rng: &mut Rng) -> Disk {
        let disturbance = match self {
            Self::AnyToggle => Self::Toggle(3.0 * 100_f64.powf(rng.random())),
            other => other,
        };
        Disk { disturbance, phase: rng.random() }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk {
    disturbance: Disturbance,
    phase: f64,
}

impl Disk {
    /// Mean speed in the `seconds` from `start` on: of trial `number`, at `place` in its block.
    pub(crate) fn speed(&self, start: f64, seconds: f64, (number, place): (u32, usize)) -> f64 {
        match self.disturbance {
            Disturbance::None | Disturbance::AnyToggle => 1.0,
            Disturbance::Place(gain) => {
                if place == 0 {
                    1.0 + gain
                } else {
                    1.0
                }
            }
            Disturbance::Drift(loss) => (1.0 - loss).powf(f64::from(number)),
            Disturbance::WarmUp(time) => 1.0 - 0.5 * (-(start + seconds / 2.0) / time).exp(),
            Disturbance::Toggle(period) => {
                let fast = |until: f64| {
                    let periods = until / period + self.phase;
                    (periods.floor() * 0.5 + periods.fract().min(0.5)) * period
                };
                0.7 + 0.3 * (fast(start + seconds) - fast(start)) / seconds
            }
        }
    }
}

/// The noise of one measure of one arm, from block to block.
#[derive(Debug)]
pub(crate) struct Stream {
    noise: Noise,
    state: Option<f64>,
}

impl Stream {
    pub(crate) const fn new(noise: Noise) -> Self {
        Self { noise, state: None }
    }

    /// The next trial's factor.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> f64 {
        let Noise { sd, lag, spikes } = self.noise;
        let z: f64 = StandardNormal.sample(rng);
        let state = self.state.map_or(z, |before| lag * before + (1.0 - lag * lag).sqrt() * z);
        self.state = Some(state);
        let slowed = if spikes && rng.random_bool(0.05) { rng.random_range(2.0..5.0) } else { 1.0 };
        (sd * state).exp() / slowed
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} %", 100.0 * self.sd)?;
        if self.lag > 0.0 {
            write!(f, ", lag-1 {}", self.lag)?;
        }
        if self.spikes { write!(f, ", spikes") } else { Ok(()) }
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "none"),
            Self::Place(gain) => {
                write!(f, "first trial of each block {:.0} % faster", 100.0 * gain)
            }
            Self::Toggle(period) => {
                write!(f, "30 % slower in alternate periods of {:.1} s", period / 2.0)
            }
            Self::AnyToggle => {
                write!(f, "30 % slower in alternate periods of 1.5 to 150 s (random)")
            }
            Self::Drift(loss) => {
                write!(f, "each trial {:.1} % slower than the previous one", 100.0 * loss)
            }
            Self::WarmUp(time) => {
                write!(f, "half speed at first, full speed after {time:.0} s")
            }
        }
    }
}
