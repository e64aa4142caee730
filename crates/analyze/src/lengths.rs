//! Whether a short slice shows the same as a long one. A bucket of credits refills while the other arm has its
//! turn, a cache drains, a device falls asleep: what a slice shows may be true of slices alone.

use iotax_record::TrialLength;
use iotax_stats::sample::mean;
use iotax_stats::student::critical_t;

use crate::facts::TrialFacts;
use crate::metrics::Metric;

/// Short slices on either side that a longer one is compared with: they see the same weather.
const NEIGHBOURS: usize = 5;
/// Longer slices of an arm from which on they are believed. Fewer may call for another at once.
const ENOUGH: usize = 3;
/// Two-sided levels of the test that a difference is beyond the margin: to report it, and to suspect it.
const SURE: f64 = 0.001;
const SUSPECTED: f64 = 0.05;
/// Slices that tell as much of the noise as one that does not depend on its neighbours.
const DEPENDENT: usize = 4;

/// What the longer slices of an experiment say of the short ones, the worst arm's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Lengths {
    /// Nothing against it that they are the same.
    #[default]
    Alike,
    /// They may not be: another long slice would tell.
    Suspected,
    /// They are not: slices show something else than longer trials.
    Differ,
}

/// The longer slices of one arm beside its short ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LengthEffect {
    pub arm: usize,
    pub lengths: Lengths,
    /// Mean logarithm of the figure of long slices over that of all short ones around them together.
    pub log_ratio: f64,
    /// Window of the longest, in nanoseconds.
    pub long_ns: u64,
    /// That of the short ones.
    pub short_ns: u64,
}

/// Of each arm that has longer slices. `margin`: what counts as the same, a fraction.
pub(crate) fn of_arms(
    trials: &[TrialFacts],
    arms: usize,
    metric: Metric,
    margin: f64,
) -> Vec<LengthEffect> {
    (0..arms).filter_map(|arm| of_arm(trials, arm, arms, metric, margin)).collect()
}

fn of_arm(
    trials: &[TrialFacts],
    arm: usize,
    arms: usize,
    metric: Metric,
    margin: f64,
) -> Option<LengthEffect> {
    let mut own: Vec<&TrialFacts> =
        trials.iter().filter(|trial| trial.usable && trial.arm == Some(arm)).collect();
    own.retain(|trial| trial.length != TrialLength::Usual);
    own.sort_by_key(|trial| trial.slot);
    let scale = Scale::of(metric);
    let figure = |trial: &&TrialFacts| scale.figure(metric, trial);
    let is_short = |trial: &&&TrialFacts| trial.length == TrialLength::Planned;
    let shorts: Vec<f64> = own.iter().filter(is_short).filter_map(figure).collect();
    let short_ns = own.iter().find(is_short)?.window_ns;
    let mut longs = Vec::new();
    for (at, trial) in own.iter().enumerate().filter(|(_, trial)| !is_short(trial)) {
        let before = own[..at].iter().rev().filter(is_short).filter_map(figure).take(NEIGHBOURS);
        let after = own[at..].iter().filter(is_short).filter_map(figure).take(NEIGHBOURS);
        let around: Vec<f64> = before.chain(after).collect();
        let log_ratio = figure(trial).map(|long| scale.log_ratio(&[long], &around));
        if let (Some(log_ratio), true) = (log_ratio, around.len() > NEIGHBOURS) {
            longs.push((trial.window_ns, log_ratio));
        }
    }
    // Those about as long as the longest, the latest: what shows after ten seconds does not after one.
    let longest_ns = longs.iter().map(|(window_ns, _)| *window_ns).max()?;
    longs
        .retain(|(window_ns, log_ratio)| 10 * window_ns >= 7 * longest_ns && log_ratio.is_finite());
    let latest = &longs[longs.len().saturating_sub(ENOUGH)..];
    let ratios: Vec<f64> = latest.iter().map(|(_, ratio)| *ratio).collect();
    // In the time of a long slice each arm has this many short ones.
    let slices = usize::try_from(longest_ns / short_ns.max(1)).unwrap_or(usize::MAX);
    let noise = noise(scale, &shorts, (slices / arms.max(1)).max(NEIGHBOURS))?;
    let log_ratio = mean(&ratios);
    // Those that were repeated at once see the same weather, so that each of them has to show it, and three
    // prove no more than one.
    let beyond = |ratio: f64| ratio * log_ratio.signum() - margin.ln_1p();
    let do_all = ratios.iter().all(|ratio| beyond(*ratio) > 0.0);
    let freedom = (shorts.len() / DEPENDENT).max(1);
    let is_beyond = |level| do_all && beyond(log_ratio) > critical_t(level, freedom) * noise;
    let lengths = if ratios.len() >= ENOUGH && is_beyond(SURE) {
        Lengths::Differ
    } else if ratios.len() < ENOUGH && is_beyond(SUSPECTED) {
        Lengths::Suspected
    } else {
        Lengths::Alike
    };
    Some(LengthEffect { arm, lengths, log_ratio, long_ns: longest_ns, short_ns })
}

/// What the figures of short slices have to be averaged as to give that of a long one. The mean of their
/// logarithms is not it: where they differ much, it is far below the logarithm of their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// A rate: a slice without any operation has one, too.
    Rate,
    /// Time per operation of a loop that begins one when another ends: the inverse of a rate.
    Time,
    /// Time per operation at a rate that does not depend on it.
    TimeAtRate,
}

impl Scale {
    fn of(metric: Metric) -> Self {
        match metric {
            Metric::Latency | Metric::P99 | Metric::SyncP99 => Self::TimeAtRate,
            _ if metric.is_time() => Self::Time,
            _ => Self::Rate,
        }
    }

    fn figure(self, metric: Metric, trial: &TrialFacts) -> Option<f64> {
        match (metric.of(trial), self) {
            (Some(figure), Self::Time) => Some(figure.recip()),
            (None, Self::Rate | Self::Time) => trial.stalled_below.map(|_| 0.0),
            (figure, _) => figure,
        }
    }

    /// Logarithm of the metric in some slices over that in others.
    fn log_ratio(self, some: &[f64], others: &[f64]) -> f64 {
        let ratio = (mean(some) / mean(others)).ln();
        if self == Self::Time { -ratio } else { ratio }
    }
}

/// Standard deviation of what `window` short slices in a row show against those around them, and at least
/// what it would be if each were independent of its neighbours; `None` of too few slices.
fn noise(scale: Scale, shorts: &[f64], window: usize) -> Option<f64> {
    let middle = |values: &[f64]| {
        let (before, rest) = values.split_at(NEIGHBOURS);
        let (inner, after) = rest.split_at(window);
        scale.log_ratio(inner, &[before, after].concat())
    };
    let root = |squares: Vec<f64>| mean(&squares).sqrt();
    let differences = shorts.windows(window + 2 * NEIGHBOURS).map(middle);
    let squares: Vec<f64> =
        differences.filter(|d| d.is_finite()).map(|difference| difference.powi(2)).collect();
    if squares.len() < 3 {
        return None;
    }
    let step = |two: &[f64]| ((two[1] - two[0]) / mean(shorts)).powi(2) / 2.0;
    let parts = 1.0 / window as f64 + 0.5 / NEIGHBOURS as f64;
    let independent = root(shorts.windows(2).map(step).collect()) * parts.sqrt();
    // What agrees to the last bit is not known any better.
    Some(root(squares).max(independent).max(1e-4))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::stretch;

    /// Slices of 100 ms of two arms; in the blocks `long_at` slices of 1 s, `factor` times as fast.
    fn found(long_at: &[u32], factor: f64, noise: f64) -> Option<LengthEffect> {
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
        let spec = stretch::tests::spec();
        let slice = |slot: u32| {
            let is_long = long_at.contains(&(slot / 2));
            let (window_ns, length) = if is_long {
                (1_000_000_000, TrialLength::LongSlice)
            } else {
                (100_000_000, TrialLength::Planned)
            };
            let wobble = 1.0 + noise * (rng.random::<f64>() - 0.5);
            let rate = 10_000.0 * if is_long { factor } else { wobble };
            let ios = iotax_quantity::whole(rate * window_ns as f64 / 1e9);
            stretch::tests::trial(&spec, slot, ios, window_ns, length)
        };
        let trials: Vec<TrialFacts> = (0..120).map(slice).collect();
        of_arm(&trials, 0, 2, Metric::Throughput, 0.05)
    }

    #[test]
    fn what_long_slices_do_not_show_is_found_after_three_of_them() {
        let lengths = |long_at: &[u32], factor| found(long_at, factor, 0.05).unwrap().lengths;
        assert_eq!(lengths(&[12], 0.7), Lengths::Suspected);
        assert_eq!(lengths(&[12, 14, 16], 0.7), Lengths::Differ);
        assert_eq!(lengths(&[12, 14, 16], 1.4), Lengths::Differ);
        assert_eq!(lengths(&[12, 14, 16], 0.97), Lengths::Alike, "within the margin");
        let effect = found(&[12, 14, 16], 0.7, 0.05).unwrap();
        assert!((effect.log_ratio.exp() - 0.7).abs() < 0.02, "{effect:?}");
        assert_eq!((effect.long_ns, effect.short_ns), (1_000_000_000, 100_000_000));
    }

    #[test]
    fn rates_that_differ_much_are_averaged_before_their_logarithm_is_taken() {
        let around = [1.0, 1.0, 1.0, 9.0];
        assert!(Scale::Rate.log_ratio(&[3.0], &around).abs() < 1e-12);
        let times: Vec<f64> = around.iter().map(|rate: &f64| rate.recip()).collect();
        let rates: Vec<f64> = times.iter().map(|time| time.recip()).collect();
        assert!((Scale::Time.log_ratio(&[3.0 / 2.0], &rates) - 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(Scale::TimeAtRate.log_ratio(&[6.0], &around), 2.0_f64.ln());
    }

    #[test]
    fn noise_and_single_slices_prove_nothing() {
        assert_eq!(found(&[12, 14, 16], 0.9, 0.6).unwrap().lengths, Lengths::Alike);
        assert_eq!(found(&[12, 14, 16], 0.9, 0.01).unwrap().lengths, Lengths::Differ);
        assert_eq!(found(&[], 1.0, 0.1), None);
    }
}
