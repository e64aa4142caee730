//! Detects a rate that alternates between two levels.
//!
//! Examples are a limiter that is switched on and off, and a noisy neighbour with a schedule. No
//! single number describes such a rate. Disturbances of a single level look different: they
//! scatter.

use crate::bucket::best_split;
use crate::sample::{all_finite, mean, median};

/// Minimum number of samples.
const FEWEST: usize = 12;
/// Minimum share of samples for each level.
const SHARE: f64 = 0.2;
/// Minimum ratio of the levels.
pub const APART: f64 = 1.25;
/// Maximum distance of a sample from its level, as a fraction of the distance between levels.
const NEAR: f64 = 1.0 / 6.0;
/// Maximum distance of a sample from its level, as a logarithm.
const NEAREST: f64 = 0.1;
/// Minimum share of a level's samples near it; the others are from seconds in which the level
/// changed. For Gaussian rates the share is 40 %, for uniform ones 33 %.
const CORE: f64 = 0.6;
/// Minimum number of samples for each level.
const FEWEST_OF_EACH: f64 = 4.0;
/// For a steady level: maximum distance of its samples, as a logarithm, and minimum share of them.
const TIGHT: f64 = 0.02;
const TIGHT_CORE: f64 = 0.75;
/// Periods that differ by less than this share of their mean, or by two samples, are regular.
const REGULAR: f64 = 0.25;
/// Minimum number of periods.
const TURNS: usize = 2;

/// Criteria for another level: number of samples, share of similar ones, and similarity.
const SOME: usize = 3;
const MOSTLY: f64 = 0.5;
const ALIKE: f64 = 0.2;

/// Whether some samples are far from a level but similar to each other. This is only a reason to
/// measure longer.
pub fn has_another(rates: &[f64], level: f64) -> bool {
    let is_far = |rate: &f64| *rate * APART < level || *rate > level * APART;
    let others: Vec<f64> = rates.iter().copied().filter(is_far).collect();
    let other = median(&others);
    let alike = others.iter().filter(|rate| (*rate / other).ln().abs() <= ALIKE).count();
    others.len() >= SOME && alike as f64 >= MOSTLY * others.len() as f64
}

/// The two levels of a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoLevels {
    /// The lower level, in the unit of the rates.
    pub low: f64,
    pub high: f64,
    /// Share of samples nearer to the lower level.
    pub low_share: f64,
    /// Number of rises from the lower to the higher level; 0 for a burst that ends.
    pub rises: usize,
    /// Whether both levels are steady, as with limiters.
    pub is_tight: bool,
    /// Period in samples, if it is regular.
    pub period: Option<f64>,
}

/// The two levels of a time series; `None` if it does not have exactly two.
pub fn two_levels(rates: &[f64]) -> Option<TwoLevels> {
    let n = rates.len();
    if n < FEWEST || !all_finite(rates) || rates.iter().any(|rate| *rate <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    let mut sorted = logs.clone();
    sorted.sort_by(f64::total_cmp);
    let at = best_split(&sorted, 1);
    let middle = f64::midpoint(median(&sorted[..at]), median(&sorted[at..]));
    let (below, above) = sides(&logs, middle);
    let (low, high) = (median(&below), median(&above));
    let distance = high - low;
    let core = |level: f64, members: &[f64], near: f64| {
        let near = members.iter().filter(|log| (*log - level).abs() <= near).count();
        near as f64 / members.len() as f64
    };
    let both = [(low, below.as_slice()), (high, above.as_slice())];
    let least = FEWEST_OF_EACH.max(SHARE * n as f64);
    let near = NEAREST.min(NEAR * distance);
    let is_level = |(level, members): &(f64, &[f64])| {
        members.len() as f64 >= least && core(*level, members, near) >= CORE
    };
    if distance < APART.ln() || !both.iter().all(is_level) {
        return None;
    }
    let is_tight = both.iter().all(|(level, members)| core(*level, members, TIGHT) >= TIGHT_CORE);
    let low_share = logs.iter().filter(|log| **log < middle).count() as f64 / n as f64;
    let (rises, falls) = (changes(&logs, middle, true), changes(&logs, middle, false));
    Some(TwoLevels {
        low: low.exp(),
        high: high.exp(),
        low_share,
        rises: rises.len(),
        is_tight,
        period: period([rises, falls]),
    })
}

/// Fraction of the distance between the levels that noise does not cross.
const BETWEEN: f64 = 0.1;

/// The samples below and above the middle, without those in which the level changed, which are at
/// neither level.
fn sides(logs: &[f64], middle: f64) -> (Vec<f64>, Vec<f64>) {
    let is_change = |at: usize| {
        let around = at.checked_sub(1).and_then(|before| logs.get(before)).zip(logs.get(at + 1));
        around.is_some_and(|(before, after)| {
            let (low, high) = (before.min(*after), before.max(*after));
            let part = (logs[at] - low) / (high - low);
            low < middle && middle <= high && BETWEEN < part && part < 1.0 - BETWEEN
        })
    };
    let kept = (0..logs.len()).filter(|at| !is_change(*at)).map(|at| logs[at]);
    kept.partition(|log| *log < middle)
}

/// Positions at which a series crosses the middle upwards or downwards.
fn changes(logs: &[f64], middle: f64, is_rise: bool) -> Vec<usize> {
    let is_it = |at: &usize| {
        let (before, after) = (logs[at - 1] >= middle, logs[*at] >= middle);
        before != after && after == is_rise
    };
    (1..logs.len()).filter(is_it).collect()
}

/// The mean distance between rises, or between falls, if all are similar.
fn period(changes: [Vec<usize>; 2]) -> Option<f64> {
    let turns = |changes: Vec<usize>| -> Vec<f64> {
        changes.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
    };
    let turns = changes.map(turns).into_iter().max_by_key(Vec::len)?;
    let (least, most) = turns
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), turn| (least.min(*turn), most.max(*turn)));
    let is_regular = most - least <= (REGULAR * mean(&turns)).max(2.0) && least >= 2.0;
    (turns.len() >= TURNS && is_regular).then(|| mean(&turns))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn toggled(seconds: usize, period: usize, share: f64) -> Vec<f64> {
        let high = (period as f64 * (1.0 - share)).round();
        let rate = |at: usize| if ((at % period) as f64) < high { 2000.0 } else { 600.0 };
        (0..seconds).map(rate).collect()
    }

    #[test]
    fn a_switched_rate_has_two_levels_and_a_period() {
        let found = two_levels(&toggled(60, 10, 0.5)).unwrap();
        assert!((found.low / 600.0 - 1.0).abs() < 1e-9 && (found.high / 2000.0 - 1.0).abs() < 1e-9);
        assert!((found.low_share - 0.5).abs() < 1e-9, "{found:?}");
        assert_eq!(found.period, Some(10.0));
        let irregular: Vec<f64> = [3, 11, 5, 17, 4, 9]
            .iter()
            .zip([600.0, 2000.0].into_iter().cycle())
            .flat_map(|(seconds, rate)| std::iter::repeat_n(rate, *seconds))
            .collect();
        let found = two_levels(&irregular).unwrap();
        assert_eq!(found.period, None, "{found:?}");
    }

    /// Each rate for the given number of seconds.
    fn turns(of: &[(f64, usize)]) -> Vec<f64> {
        of.iter().flat_map(|(rate, seconds)| std::iter::repeat_n(*rate, *seconds)).collect()
    }

    #[test]
    fn a_burst_that_runs_out_never_rises_and_a_bucket_that_fills_never_falls() {
        let of = |turns_: &[(f64, usize)]| two_levels(&turns(turns_)).map(|found| found.rises);
        assert_eq!(of(&[(2000.0, 10), (600.0, 10)]), Some(0));
        assert_eq!(of(&[(600.0, 10), (2000.0, 10)]), Some(1));
        assert_eq!(of(&[(600.0, 5), (2000.0, 5), (600.0, 5), (2000.0, 5), (600.0, 5)]), Some(2));
    }

    #[test]
    fn two_levels_are_long_enough_and_far_enough_apart() {
        let of = |seconds: usize, high: f64| {
            let found = two_levels(&turns(&[(high, seconds - 5), (1000.0, 5)]));
            found.is_some()
        };
        assert_eq!([of(11, 2000.0), of(12, 2000.0)], [false, true], "samples");
        assert_eq!([of(25, 2000.0), of(26, 2000.0)], [true, false], "share of the lower one");
        assert_eq!([of(12, 1240.0), of(12, 1260.0)], [false, true], "ratio");
        assert_eq!(two_levels(&turns(&[(f64::INFINITY, 10), (1000.0, 10)])), None);
        assert_eq!(two_levels(&turns(&[(1000.0, 10), (0.0, 10)])), None);
    }

    #[test]
    fn levels_near_to_each_other_must_hold_still_and_limiters_levels_do() {
        let of = |ratio: f64, noise: f64| {
            let noise = |at: usize| (noise * ((at * 7 % 3) as f64 - 1.0)).exp();
            let level = |at: usize| if (at / 5).is_multiple_of(2) { ratio } else { 1.0 };
            let rates: Vec<f64> = (0..40).map(|at| 1000.0 * level(at) * noise(at)).collect();
            two_levels(&rates).map(|found| found.is_tight)
        };
        assert_eq!([of(3.0, 0.0), of(3.0, 0.019)], [Some(true); 2]);
        assert_eq!([of(3.0, 0.05), of(3.0, 0.09), of(3.0, 0.11)], [Some(false), Some(false), None]);
        assert_eq!([of(1.4, 0.05), of(1.4, 0.08)], [Some(false), None], "a sixth of the distance");
    }

    #[test]
    fn seconds_in_which_the_level_changed_belong_to_neither() {
        let low_and_high = |logs: &[f64]| sides(logs, 0.5);
        let (below, above) = low_and_high(&[0.0, 0.0, 0.3, 1.0, 1.0, 0.8, 0.0]);
        assert_eq!((below, above), (vec![0.0; 3], vec![1.0; 2]));
        // A tenth of the way is noise of one level, and no change.
        let (below, above) = low_and_high(&[0.0, 0.05, 1.0, 0.95, 0.0]);
        assert_eq!((below, above), (vec![0.0, 0.05, 0.0], vec![1.0, 0.95]));
        // Nor is a spike, or what is between two values of one side.
        let (below, above) = low_and_high(&[0.0, 1.0, 0.0, 0.2, 0.4, 2.0, 1.0, 0.6]);
        assert_eq!((below, above), (vec![0.0, 0.0, 0.2], vec![1.0, 2.0, 1.0, 0.6]));
        // The ends have no neighbour.
        assert_eq!(low_and_high(&[0.3, 1.0]), (vec![0.3], vec![1.0]));
    }

    #[test]
    fn turns_that_differ_by_a_quarter_of_their_mean_are_regular() {
        let of = |seconds: [usize; 4]| {
            let rates = [2000.0, 600.0, 2000.0, 600.0];
            let mut all: Vec<_> = rates.into_iter().zip(seconds).collect();
            all.extend([(2000.0, 10), (600.0, 5)]);
            two_levels(&turns(&all)).unwrap().period
        };
        assert_eq!(of([10, 10, 10, 14]), Some(22.0), "20 and 24");
        assert_eq!(of([10, 10, 10, 16]), None, "20 and 26");
        let short = |turns: [usize; 3]| period([vec![turns[0], turns[1], turns[2]], Vec::new()]);
        assert_eq!(short([0, 3, 8]), Some(4.0), "two samples");
        assert_eq!([short([0, 3, 9]), short([0, 1, 2])], [None; 2]);
    }

    #[test]
    fn some_alike_samples_far_from_a_level_hint_at_another() {
        let of = |others: &[f64]| has_another(&[&[1000.0; 5], others].concat(), 1000.0);
        assert!(of(&[700.0; 3]) && of(&[1300.0; 3]));
        assert!(!of(&[700.0; 2]), "too few");
        assert!(!of(&[810.0; 3]) && !of(&[1240.0; 3]), "too near");
        assert!(!of(&[100.0, 200.0, 400.0]) && !of(&[100.0, 200.0, 400.0, 700.0]), "unlike");
        assert!(of(&[390.0, 400.0, 410.0, 100.0, 150.0]), "three of five are");
        assert!(of(&[400.0, 480.0, 400.0]) && !of(&[320.0, 400.0, 500.0]), "a fifth");
    }

    #[test]
    fn noise_and_disturbances_are_no_second_level() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut called = [0; 3];
        for _ in 0..500 {
            let mut noise = |of: &mut dyn FnMut(&mut Xoshiro256PlusPlus) -> f64| -> Vec<f64> {
                (0..30).map(|_| of(&mut random)).collect()
            };
            let sum = |r: &mut Xoshiro256PlusPlus| {
                (0..12).map(|_| r.random_range(-0.5..0.5)).sum::<f64>()
            };
            let series = [
                noise(&mut |r| (0.3 * sum(r)).exp()),
                noise(&mut |r| r.random_range(0.2..1.0)),
                noise(&mut |r| {
                    if r.random_range(0.0..1.0) < 0.4 { r.random_range(0.1..0.8) } else { 1.0 }
                }),
            ];
            for (called, series) in called.iter_mut().zip(series) {
                *called += u32::from(two_levels(&series).is_some());
            }
        }
        assert!(called.iter().all(|called| *called <= 10), "{called:?}");
    }

    proptest! {
        #[test]
        fn levels_and_shares_come_out_as_they_went_in(
            period in 6_usize..20, share in 0.35..0.65_f64, noise in 0.0..0.05_f64,
        ) {
            let wave = toggled(80, period, share);
            let rates: Vec<f64> = wave.iter().enumerate()
                .map(|(at, rate)| rate * (1.0 + noise * ((at * 7 % 5) as f64 - 2.0) / 2.0)).collect();
            let truth = wave.iter().filter(|rate| **rate < 1000.0).count() as f64 / 80.0;
            let found = two_levels(&rates).unwrap();
            prop_assert!((found.low_share - truth).abs() < 1e-9, "{found:?}");
            prop_assert!((found.high / 2000.0 - 1.0).abs() < 0.05, "{found:?}");
            prop_assert!((found.period.unwrap() - period as f64).abs() < 0.5, "{found:?}");
        }
    }
}
