//! Whether a short slice shows the same as a long one. A bucket of credits refills while the other
//! arm has its turn, a cache drains, a device falls asleep: what a slice shows may be true of
//! slices alone.

use iotax_experiment::plan::LongSlices;
use iotax_record::TrialLength;
use iotax_stats::sample::{mean, variance};
use iotax_stats::student::critical_t;

use crate::facts::TrialFacts;
use crate::metrics::Metric;

/// Short slices on either side that a longer one is compared with: they see the same weather.
const NEIGHBOURS: usize = 5;
/// Longer slices of an arm from which on they are believed. Fewer may call for another at once.
const ENOUGH: usize = 3;
/// Slices of an arm in which it had each place in the order of two arms twice: two pairs of blocks.
const TURN: usize = 4;
/// Slices that came after an equal rest, as many as it takes to know their mean.
const ENOUGH_OF_A_REST: usize = 4;
/// Short slices of an arm from which on it is known how much they depend on each other. Fewer can
/// call for another longer slice, and end nothing.
const LEAST_SHORTS: usize = 2 * NEIGHBOURS + TURN + 2;
/// Short slices that a longer one is compared with, at the least.
const FEWEST_SHORTS: usize = 4;
/// Two-sided levels of the test that a difference is beyond the margin: to report it, and to
/// suspect it.
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
    /// Slices show what lasts longer than they do, and longer than trials usually take, but not for
    /// as long as arms were held.
    NotKept,
    /// Nothing against it, and arms have not been held as long as was asked for.
    NotHeld,
    /// Nothing against it, and the order of the arms makes a difference: what the others left
    /// behind, or what came back meanwhile, may hide it from these. Longer ones would tell.
    Unsure,
    /// They may not be: another long slice would tell.
    Suspected,
    /// They are not: slices show something else than longer trials.
    Differ,
}

impl Lengths {
    /// Whether more longer slices, or trials of the usual length, would tell more.
    pub(crate) const fn is_open(self) -> bool {
        !matches!(self, Self::Alike | Self::NotKept)
    }

    /// Which longer slices come next.
    pub const fn next(self) -> LongSlices {
        match self {
            Self::Alike | Self::NotKept | Self::NotHeld | Self::Differ => LongSlices::Planned,
            Self::Unsure => LongSlices::Longer,
            Self::Suspected => LongSlices::Repeated,
        }
    }
}

/// The longer slices of one arm beside its short ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LengthEffect {
    pub arm: usize,
    pub lengths: Lengths,
    /// Mean logarithm of the figure of long slices over that of all short ones around them
    /// together.
    pub log_ratio: f64,
    /// Window of the longest, in nanoseconds.
    pub long_ns: u64,
    /// That of the short ones.
    pub short_ns: u64,
}

/// Of each arm that has longer slices. `margin`: what counts as the same, a fraction. `usual_ns`:
/// the window of trials that are no slices.
pub(crate) fn of_arms(
    trials: &[TrialFacts],
    arms: usize,
    metric: Metric,
    margin: f64,
    usual_ns: u64,
) -> Vec<LengthEffect> {
    (0..arms).filter_map(|arm| of_arm(trials, arm, arms, metric, margin, usual_ns)).collect()
}

fn of_arm(
    trials: &[TrialFacts],
    arm: usize,
    arms: usize,
    metric: Metric,
    margin: f64,
    usual_ns: u64,
) -> Option<LengthEffect> {
    let mut own: Vec<&TrialFacts> =
        trials.iter().filter(|trial| trial.usable && trial.arm == Some(arm)).collect();
    own.retain(|trial| trial.length != TrialLength::Usual);
    own.sort_by_key(|trial| trial.slot);
    let scale = Scale::of(metric);
    let figure = |trial: &&TrialFacts| scale.figure(metric, trial);
    let is_short = |trial: &&&TrialFacts| trial.length == TrialLength::Planned;
    let short_ns = own.iter().find(is_short)?.window_ns;
    let shorts = same_rest(&between_shorts(&own), figure);
    let mut longs = Vec::new();
    for trial in own.iter().filter(|trial| !is_short(trial)) {
        let (before, after) =
            shorts.split_at(shorts.partition_point(|short| short.slot < trial.slot));
        let before = before.iter().rev().take(NEIGHBOURS);
        let around: Vec<f64> =
            before.chain(after.iter().take(NEIGHBOURS)).map(|s| s.figure).collect();
        let log_ratio = figure(trial).map(|long| scale.log_ratio(&[long], &around));
        if let (Some(log_ratio), true) = (log_ratio, around.len() >= FEWEST_SHORTS) {
            longs.push((trial.window_ns, log_ratio));
        }
    }
    // Those about as long as the longest, the latest: what shows after ten seconds does not after
    // one.
    let longest_ns = longs.iter().map(|(window_ns, _)| *window_ns).max()?;
    longs
        .retain(|(window_ns, log_ratio)| 10 * window_ns >= 7 * longest_ns && log_ratio.is_finite());
    let latest = &longs[longs.len().saturating_sub(ENOUGH)..];
    let ratios: Vec<f64> = latest.iter().map(|(_, ratio)| *ratio).collect();
    // In the time of a long slice each arm has this many short ones.
    let slices = usize::try_from(longest_ns / short_ns.max(1)).unwrap_or(usize::MAX);
    let short_noise = noise(scale, &shorts, (slices / arms.max(1)).max(NEIGHBOURS))?;
    let log_ratio = mean(&ratios);
    // Of what moves more slowly than all of the short ones together, those that were held tell
    // more.
    let among_longs = if longest_ns > usual_ns { variance(&ratios).sqrt() } else { 0.0 };
    let noise = short_noise.max(among_longs);
    // Those that were repeated at once see the same weather, so that each of them has to show it,
    // and three prove no more than one.
    let beyond = |ratio: f64| ratio * log_ratio.signum() - margin.ln_1p();
    let do_all = ratios.iter().all(|ratio| beyond(*ratio) > 0.0);
    let are_few = shorts.len() < LEAST_SHORTS;
    let freedom = if are_few { shorts.len() - 2 } else { shorts.len() / DEPENDENT };
    let is_beyond = |level| beyond(log_ratio) > critical_t(level, freedom) * noise;
    let do_all_agree = ratios.iter().all(|ratio| ratio * log_ratio > 0.0);
    let is_repeated = ratios.len() >= ENOUGH && !are_few;
    let lengths = if is_repeated && do_all && is_beyond(SURE) {
        Lengths::Differ
    } else if !(do_all_agree && is_beyond(SUSPECTED)) {
        Lengths::Alike
    } else if is_repeated && longest_ns >= usual_ns {
        // Longer ones than these would be no slices.
        Lengths::Differ
    } else {
        Lengths::Suspected
    };
    Some(LengthEffect { arm, lengths, log_ratio, long_ns: longest_ns, short_ns })
}

/// The short slices of an arm that come after a short one of it, each with that one. The first
/// after a long one shows what that left behind, or what came back in a rest as long.
fn between_shorts<'a>(own: &[&'a TrialFacts]) -> Vec<[&'a TrialFacts; 2]> {
    let is_short = |trial: &TrialFacts| trial.length == TrialLength::Planned;
    let pairs = own.windows(2).map(|pair| [pair[0], pair[1]]);
    pairs.filter(|pair| pair.iter().all(|trial| is_short(trial))).collect()
}

/// What the figures of short slices have to be averaged as to give that of a long one. The mean of
/// their logarithms is not it: where they differ much, it is far below the logarithm of their mean.
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

/// A short slice as it would have been after as long a rest as any other.
#[derive(Debug, Clone, Copy)]
struct Short {
    slot: u32,
    figure: f64,
}

/// The short slices of an arm in their order. What a bucket holds, and whether a device is awake,
/// follows from how many turns the others had since: what differs with that alternates with the
/// order of the arms, and is no noise.
fn same_rest(
    shorts: &[[&TrialFacts; 2]],
    figure: impl Fn(&&TrialFacts) -> Option<f64>,
) -> Vec<Short> {
    let after = |[before, own]: &[&TrialFacts; 2]| {
        Some((own.slot - before.slot, Short { slot: own.slot, figure: figure(own)? }))
    };
    let all: Vec<(u32, Short)> = shorts.iter().filter_map(after).collect();
    let groups = groups_of_rest(&all);
    let group = |rest: u32| groups.iter().rev().find(|group| group.least <= rest);
    let whole = mean(&all.iter().map(|(_, short)| short.figure).collect::<Vec<_>>());
    // Each mean takes one of the degrees of freedom.
    let lost = (all.len() as f64 / all.len().saturating_sub(groups.len()).max(1) as f64).sqrt();
    let alike = |(rest, short): &(u32, Short)| {
        let of_group = group(*rest).map_or(whole, |group| group.mean);
        // Where all stalled, they are alike.
        let deviation = if of_group > 0.0 { short.figure / of_group - 1.0 } else { 0.0 };
        Short { figure: whole * (1.0 + lost * deviation), ..*short }
    };
    all.iter().map(alike).collect()
}

/// Slices that came after about the same rest.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RestGroup {
    /// The shortest rest, in turns.
    least: u32,
    mean: f64,
}

/// Slices by the rest before them, in turns: those of neighbouring rests together where there are
/// few of one.
fn groups_of_rest(all: &[(u32, Short)]) -> Vec<RestGroup> {
    let mut sorted = all.to_vec();
    sorted.sort_by_key(|(rest, short)| (*rest, short.slot));
    let mut left = &sorted[..];
    let mut groups = Vec::new();
    while let Some((least, _)) = left.first() {
        let end = |rest: u32| left.partition_point(|(of, _)| *of <= rest);
        let rests = left.iter().map(|(rest, _)| *rest);
        let size = rests.map(end).find(|end| *end >= ENOUGH_OF_A_REST).unwrap_or(left.len());
        let size = if left.len() - size < ENOUGH_OF_A_REST { left.len() } else { size };
        let figures: Vec<f64> = left[..size].iter().map(|(_, short)| short.figure).collect();
        groups.push(RestGroup { least: *least, mean: mean(&figures) });
        left = &left[size..];
    }
    groups
}

/// Standard deviation of what `window` short slices in a row show against those around them, and at
/// least what it would be if each were independent of its neighbours; `None` of too few slices.
fn noise(scale: Scale, shorts: &[Short], window: usize) -> Option<f64> {
    let shorts: Vec<f64> = shorts.iter().map(|short| short.figure).collect();
    // These are too few to show more.
    if (FEWEST_SHORTS..LEAST_SHORTS).contains(&shorts.len()) {
        let parts = 1.0 / window as f64 + 1.0 / shorts.len().min(2 * NEIGHBOURS) as f64;
        return Some(((variance(&shorts) * parts).sqrt() / mean(&shorts)).max(1e-4));
    }
    // Whole turns, so that what alternates with the order of the arms is no noise. As if they were
    // independent, a longer window is the quieter one. One for which there are too few slices is
    // taken for as noisy as the longest for which there are enough.
    let most = shorts.len().checked_sub(LEAST_SHORTS - TURN)? / TURN * TURN;
    let whole = window.next_multiple_of(TURN).min(most);
    if whole == 0 {
        return None;
    }
    let turns = (whole as f64 / window as f64).sqrt().max(1.0);
    let middle = |values: &[f64]| {
        let (before, rest) = values.split_at(NEIGHBOURS);
        let (inner, after) = rest.split_at(whole);
        scale.log_ratio(inner, &[before, after].concat())
    };
    let differences = shorts.windows(whole + 2 * NEIGHBOURS).map(middle);
    let squares: Vec<f64> =
        differences.filter(|d| d.is_finite()).map(|difference| difference.powi(2)).collect();
    if squares.is_empty() {
        return None;
    }
    let parts = 1.0 / window as f64 + 0.5 / NEIGHBOURS as f64;
    let independent = of_one(&shorts) * parts.sqrt();
    // What agrees to the last bit is not known any better.
    Some((mean(&squares).sqrt() * turns).max(independent).max(1e-4))
}

/// Standard deviation of one short slice, as a share of their mean, if each is independent of its
/// neighbours. It is taken from the steps between turns, within which a bucket that refills while
/// the other arm works alternates with the order of the arms; those that depend on each other make
/// it larger.
fn of_one(shorts: &[f64]) -> f64 {
    let step = |two: &[f64]| ((mean(&two[TURN..]) - mean(&two[..TURN])) / mean(shorts)).powi(2);
    let squares: Vec<f64> = shorts.windows(2 * TURN).map(step).collect();
    (mean(&squares) * TURN as f64 / 2.0).sqrt()
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
        of_arm(&trials, 0, 2, Metric::Throughput, 0.05, 5_000_000_000)
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

    /// Slices of an arm in the order AB BA AB BA: after a rest of two turns, and of none. One in
    /// ten is long.
    fn alternating(rate: impl Fn(u32, bool) -> f64, long_rate: f64) -> LengthEffect {
        let spec = stretch::tests::spec();
        let slice = |block: u32| {
            let is_second = block % 2 == 1;
            let is_long = [10, 15, 20].contains(&block);
            let (window_ns, length) = if is_long {
                (1_000_000_000, TrialLength::LongSlice)
            } else {
                (100_000_000, TrialLength::Planned)
            };
            let rate = if is_long { long_rate } else { rate(block, is_second) };
            let ios = iotax_quantity::whole(rate * window_ns as f64 / 1e9);
            let facts = stretch::tests::trial(&spec, 2 * block, ios, window_ns, length);
            TrialFacts { slot: 2 * block + u32::from(is_second), ..facts }
        };
        let trials: Vec<TrialFacts> = (0..30).map(slice).collect();
        let longs = of_arm(&trials, 0, 2, Metric::Throughput, 0.05, 5_000_000_000);
        longs.expect("longer slices")
    }

    #[test]
    fn what_alternates_with_the_order_of_the_arms_is_no_noise() {
        let by_rest = |_, is_second: bool| if is_second { 10_000.0 } else { 5_000.0 };
        assert_eq!(alternating(by_rest, 6_000.0).lengths, Lengths::Differ);
        assert_eq!(alternating(by_rest, 7_500.0).lengths, Lengths::Alike);
        // As much of it, in another rhythm.
        let otherwise = |block: u32, _| if block % 7 < 4 { 10_000.0 } else { 5_000.0 };
        assert_ne!(alternating(otherwise, 6_000.0).lengths, Lengths::Differ);
    }

    #[test]
    fn rests_that_were_rare_count_with_their_neighbours() {
        let of = |rests: &[u32]| -> Vec<u32> {
            let short = |(slot, rest): (usize, &u32)| {
                (*rest, Short { slot: u32::try_from(slot).unwrap(), figure: 1.0 })
            };
            let all: Vec<_> = rests.iter().enumerate().map(short).collect();
            groups_of_rest(&all).iter().map(|group| group.least).collect()
        };
        assert_eq!(of(&[1, 3, 1, 3, 1, 3, 1, 3]), [1, 3]);
        assert_eq!(of(&[1, 2, 2, 2, 4, 4, 4, 4, 5]), [1, 4]);
        assert_eq!(of(&[1, 1, 1]), [1]);
        assert_eq!(of(&[]), [] as [u32; 0]);
    }

    #[test]
    fn the_noise_of_more_slices_than_there_are_is_that_of_as_many_as_there_are() {
        let of = |count: u32, window| {
            let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
            let short = |slot| Short { slot, figure: 1.0 + 0.2 * (rng.random::<f64>() - 0.5) };
            noise(Scale::Rate, &(0..count).map(short).collect::<Vec<_>>(), window)
        };
        assert_eq!(of(3, 5), None);
        assert!(of(4, 5).is_some() && of(16, 5).is_some());
        let (few, many) = (of(40, 300).unwrap(), of(3000, 300).unwrap());
        assert!((0.01..0.04).contains(&many) && few > many / 2.0, "{few} {many}");
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
