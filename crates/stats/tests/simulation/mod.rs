//! Runs that never happened, on noise like that of busy machines: heavy tails, trials that depend
//! on the one before, spikes. Shared by tests and by the examples that print the tables of
//! docs/benchmarks.md.

use iotax_stats::regime::{self, LOOKS};
use iotax_stats::sequential::{Decision, Sequential};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) type Rng = Xoshiro256PlusPlus;

pub(crate) fn rng(seed: u64) -> Rng {
    Rng::seed_from_u64(seed)
}

pub(crate) fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// How trials vary around their level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    /// Coefficient of variation of the trials' throughput, which is lognormal.
    pub cov: f64,
    /// Correlation of successive trials, whatever their arm.
    pub lag1: f64,
    /// Share of trials that something slows down two to five times.
    pub spikes: f64,
}

impl Noise {
    /// Logarithms of throughput, in the order in which trials run.
    pub(crate) fn trials(&self, count: usize, rng: &mut Rng) -> Vec<f64> {
        let sd = self.cov.powi(2).ln_1p().sqrt();
        let mut state = normal(rng);
        let mut next = || {
            let value = sd * state;
            state = self.lag1 * state + (1.0 - self.lag1.powi(2)).sqrt() * normal(rng);
            let is_slowed = rng.random::<f64>() < self.spikes;
            if is_slowed { value - rng.random_range(2.0_f64..5.0).ln() } else { value }
        };
        (0..count).map(|_| next()).collect()
    }
}

/// What is planted into a run, as logarithms that are taken off.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Planted {
    /// Trials after which `common` is taken off all arms.
    pub common_from: usize,
    pub common: f64,
    /// Blocks after which `single` is taken off the second arm.
    pub single_from: usize,
    pub single: f64,
    /// Taken off every arm but the first.
    pub tax: f64,
}

/// Blocks of a run: the log throughput of each arm, in the order of the arms; they ran in random
/// order within each block.
pub(crate) fn blocks(
    noise: Noise,
    planted: Planted,
    arms: usize,
    count: usize,
    rng: &mut Rng,
) -> Vec<Vec<f64>> {
    let trials = noise.trials(arms * count, rng);
    let mut order: Vec<usize> = (0..arms).collect();
    let mut block = |(number, trials): (usize, &[f64])| {
        order.shuffle(rng);
        let mut of_arm = vec![0.0; arms];
        for (place, (&arm, trial)) in order.iter().zip(trials).enumerate() {
            let is_late = number * arms + place >= planted.common_from;
            let is_hit = arm == 1 && number >= planted.single_from;
            of_arm[arm] = trial
                - if is_late { planted.common } else { 0.0 }
                - if is_hit { planted.single } else { 0.0 }
                - if arm > 0 { planted.tax } else { 0.0 };
        }
        of_arm
    };
    trials.chunks(arms).enumerate().map(&mut block).collect()
}

/// What all arms share, block by block.
pub(crate) fn levels(blocks: &[Vec<f64>]) -> Vec<f64> {
    blocks.iter().map(|block| block.iter().sum::<f64>() / block.len() as f64).collect()
}

/// The second arm against the first, block by block.
pub(crate) fn differences(blocks: &[Vec<f64>]) -> Vec<f64> {
    blocks.iter().map(|block| block[1] - block[0]).collect()
}

/// Whether the monitor reports a change at any look of a run of two arms.
pub(crate) fn is_ever_reported(v: &[f64]) -> bool {
    let looks = LOOKS.iter().take_while(|n| **n <= v.len());
    looks
        .into_iter()
        .any(|n| regime::two_levels(&v[..*n], regime::LEVEL).is_some_and(|fit| fit.found))
}

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// What may be said; `None`: the effect changed, and no look at the blocks since is left.
    pub decision: Option<Decision>,
    /// Whether the effect was seen to change.
    pub has_changed: bool,
}

/// Goes through the differences as the analysis does, from look to look, until the procedure says
/// stop: the blocks since a change of the effect, at looks that were not used before it was seen.
pub(crate) fn run(procedure: &Sequential, d: &[f64]) -> Ended {
    let design = procedure.design();
    let mut ended = Ended { decision: None, has_changed: false };
    for n in 1..=d.len().min(design.last_look()) {
        let change = regime::monitor(&d[..n], regime::LEVEL);
        let since = &d[change.map_or(0, |change| change.before)..n];
        let spent = change.map_or(0, |change| design.look_before(change.seen_at));
        let decision = procedure.conclude(since);
        let decision = (decision.blocks > spent).then_some(decision);
        ended = Ended { decision, has_changed: change.is_some() };
        if decision.is_some_and(|decision| decision.stop.is_some()) {
            break;
        }
    }
    ended
}
