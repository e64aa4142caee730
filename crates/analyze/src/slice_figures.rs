//! Figures of slices. What was counted in a tenth of a second is little, so a slice's figure is
//! what it adds to that of all of them.

use iotax_stats::design::Design;
use iotax_stats::sample::{mean, variance};

use crate::facts::{TrialFacts, positive};
use crate::metrics::{Better, Metric};

impl Metric {
    /// The figures of one arm's trials, `None` where one has none. What a host spends is too coarse
    /// in a slice by itself; of speeds a contrast of several arms is better off with what each
    /// slice shows.
    fn of_each(self, trials: &[&TrialFacts]) -> Vec<Option<f64>> {
        if self.is_speed() {
            trials.iter().map(|trial| self.of(trial)).collect()
        } else {
            self.of_all(trials)
        }
    }

    /// The same as parts of what all slices come to together.
    ///
    /// A ratio of what was counted in a slice is coarse, and may be of nothing; so each slice gets
    /// the ratio of all together, moved by what it adds to it (the first order of Taylor's series).
    /// The mean of their logarithms is that of the ratio, and their spread tells how well it is
    /// known.
    fn of_all(self, trials: &[&TrialFacts]) -> Vec<Option<f64>> {
        let is_coarse = |trial: &&TrialFacts| trial.is_slice;
        let Some(parts) = self.parts().filter(|_| trials.iter().any(is_coarse)) else {
            return trials.iter().map(|trial| self.of(trial)).collect();
        };
        let slices = trials;
        let known: Vec<[f64; 2]> = slices.iter().filter_map(|slice| parts(slice)).collect();
        let [part, whole] = [0, 1].map(|at| known.iter().map(|parts| parts[at]).sum::<f64>());
        let (all, mean) = (part / whole, whole / known.len() as f64);
        let moved = |[part, whole]: [f64; 2]| all * ((part - all * whole) / (all * mean)).exp();
        slices.iter().map(|slice| parts(slice).map(moved).and_then(positive)).collect()
    }

    /// The figures of two arms, pair by pair; `None` where one of the two has none.
    ///
    /// Where a slice is far above all others, all others are far below the ratio of all together,
    /// and agree so well on it that chance passes for a difference. So the pairs are spread at least
    /// as far as they would be if the arms were equal ([`spread_if_equal`]).
    pub(crate) fn of_pairs(self, pairs: &[[&TrialFacts; 2]]) -> Vec<Option<[f64; 2]>> {
        let of_side =
            |side: usize| self.of_all(&pairs.iter().map(|pair| pair[side]).collect::<Vec<_>>());
        let each = of_side(0).into_iter().zip(of_side(1)).map(|(a, b)| Some([a?, b?]));
        let each: Vec<Option<[f64; 2]>> = each.collect();
        let are_slices = pairs.iter().flatten().any(|trial| trial.is_slice);
        let Some(parts) = self.parts().filter(|_| are_slices) else { return each };
        let are_parts = pairs.iter().flatten().any(|trial| trial.is_part);
        // All arms replay the same part of a recording: its I/Os are given, and its time varies.
        let given_last = |[part, whole]: [f64; 2]| match self.better() {
            Better::Higher if are_parts => [whole, part],
            _ => [part, whole],
        };
        let of_one = |trial: &TrialFacts| parts(trial).map(given_last);
        let of_both = |pair: &[&TrialFacts; 2]| Some([of_one(pair[0])?, of_one(pair[1])?]);
        let known: Vec<[[f64; 2]; 2]> = pairs.iter().filter_map(of_both).collect();
        let as_equal = spread_if_equal(&known, are_parts);
        let log_ratio = |[a, b]: &[f64; 2]| (b / a).ln();
        let logs: Vec<f64> = each.iter().flatten().map(log_ratio).collect();
        let (middle, spread) = (mean(&logs), variance(&logs).sqrt());
        if as_equal.is_nan() || as_equal <= spread {
            return each;
        }
        let spread_out = |[a, b]: [f64; 2]| {
            let log_ratio = middle + as_equal / spread * ((b / a).ln() - middle);
            Some([a, positive(a * log_ratio.exp())?])
        };
        each.into_iter().map(|figures| figures.and_then(spread_out)).collect()
    }

    /// Whether the figure of each of these is what it adds to that of all of them.
    pub(crate) fn is_of_all<'a>(self, mut trials: impl Iterator<Item = &'a TrialFacts>) -> bool {
        self.parts().is_some() && trials.any(|trial| trial.is_slice)
    }

    /// Figures of `blocks` blocks, one for each arm; `trial`: by block and arm. Where the figure of
    /// a slice is what it adds to that of all of them, blocks after the latest look have none.
    pub(crate) fn by_block<'a>(
        self,
        blocks: usize,
        arms: usize,
        trial: impl Fn(usize, usize) -> Option<&'a TrialFacts>,
    ) -> Vec<Vec<Option<f64>>> {
        let of_arm = |arm: usize| {
            let trials: Vec<Option<&TrialFacts>> =
                (0..blocks).map(|block| trial(block, arm)).collect();
            let all = trials.iter().flatten().copied();
            let is_of_all = !self.is_speed() && self.is_of_all(all);
            let looked = if is_of_all { looked_at(blocks) } else { blocks };
            let known: Vec<&TrialFacts> = trials[..looked].iter().flatten().copied().collect();
            let mut figures = self.of_each(&known).into_iter();
            let figure = |trial: &Option<_>| trial.and_then(|_| figures.next().flatten());
            trials.iter().map(figure).collect()
        };
        let by_arm: Vec<Vec<Option<f64>>> = (0..arms).map(of_arm).collect();
        (0..blocks).map(|block| by_arm.iter().map(|arm| arm[block]).collect()).collect()
    }
}

/// The standard deviation of the logarithms of two arms' ratios, pair by pair, if what each slice adds
/// is taken against the ratio of both arms together, as if they were equal. The t of that is the one of
/// plain differences, which no slice far above all others makes large.
///
/// Slices are alike, but parts of a recording have sizes: one that is twice as large differs twice as
/// much, which is no chance.
fn spread_if_equal(pairs: &[[[f64; 2]; 2]], have_sizes: bool) -> f64 {
    let sum = |side: usize, at: usize| pairs.iter().map(|pair| pair[side][at]).sum::<f64>();
    let [base, with] = [0, 1].map(|side| sum(side, 0) / sum(side, 1));
    let common = (sum(0, 0) + sum(1, 0)) / (sum(0, 1) + sum(1, 1));
    let means = [0, 1].map(|side| sum(side, 1) / pairs.len() as f64);
    let to_logs = if base == with { 1.0 } else { (with / base).ln() * common / (with - base) };
    let adds = |[part, whole]: [f64; 2], mean: f64| (part - common * whole) / (common * mean);
    let difference = |[a, b]: &[[f64; 2]; 2]| to_logs * (adds(*b, means[1]) - adds(*a, means[0]));
    let size = |[a, b]: &[[f64; 2]; 2]| {
        if have_sizes { (a[1] + b[1]) / (means[0] + means[1]) } else { 1.0 }
    };
    let expected = mean(&pairs.iter().map(difference).collect::<Vec<f64>>());
    let left = pairs.iter().map(|pair| difference(pair) - expected * size(pair));
    variance(&left.collect::<Vec<f64>>()).sqrt()
}

/// The number of pairs at the latest look. Later pairs must not change the figures of earlier ones:
/// one of them may make all others look alike.
pub(crate) fn looked_at(pairs: usize) -> usize {
    Design::of_slices(usize::MAX).look_at_or_before(pairs).unwrap_or(pairs)
}

#[cfg(test)]
mod tests {
    use iotax_experiment::Subject;

    use super::*;
    use crate::block_differences::BlockDifferences;
    use crate::conclude::conclude;
    use crate::method::Method;
    use crate::stretch;

    /// Slices of 100 ms of two arms in turn, by how many I/Os each completes.
    fn slices(count: u32, ios: impl Fn(u32) -> u64) -> Vec<TrialFacts> {
        let spec = stretch::tests::spec();
        let length = iotax_record::TrialLength::Planned;
        let slice = |slot| stretch::tests::trial(&spec, slot, ios(slot), 100_000_000, length);
        (0..count).map(slice).collect()
    }

    #[test]
    fn a_slice_far_above_all_others_makes_no_difference_sure() {
        let slices = slices(40, |slot| if slot == 7 { 100_000 } else { 100 });
        let pairs: Vec<[&TrialFacts; 2]> = slices.chunks(2).map(|two| [&two[0], &two[1]]).collect();
        let logs: Vec<f64> = Metric::Throughput
            .of_pairs(&pairs)
            .iter()
            .map(|pair| pair.map(|[a, b]| (b / a).ln()).unwrap())
            .collect();
        let t = mean(&logs) / (variance(&logs) / 20.0).sqrt();
        assert!((mean(&logs) - (101_900.0_f64 / 2_000.0).ln()).abs() < 1e-9);
        assert!((t - 1.0).abs() < 1e-3, "{t}, as of plain differences");
    }

    /// Parts of a recording that both arms replay: of 100 to 400 I/Os, in milliseconds.
    fn parts(count: u32, ms: impl Fn(u32, u64) -> u64) -> Vec<TrialFacts> {
        let spec = stretch::tests::spec();
        let part = |slot| {
            let ios = 100 * (1 + u64::from(slot / 2 % 4));
            let ns = ms(slot, ios) * 1_000_000;
            let mut part =
                stretch::tests::trial(&spec, slot, ios, ns, iotax_record::TrialLength::Planned);
            part.is_part = true;
            part
        };
        (0..count).map(part).collect()
    }

    fn t_of(parts: &[TrialFacts]) -> f64 {
        let pairs: Vec<[&TrialFacts; 2]> = parts.chunks(2).map(|two| [&two[0], &two[1]]).collect();
        let figures = Metric::Throughput.of_pairs(&pairs);
        let logs: Vec<f64> = figures.iter().flatten().map(|[a, b]| (b / a).ln()).collect();
        mean(&logs) / (variance(&logs) / logs.len() as f64).sqrt()
    }

    #[test]
    fn parts_of_different_sizes_do_not_blur_an_effect_that_is_the_same_in_all() {
        // Two and a half times as long, more or less.
        let parts = parts(40, |slot, ios| match slot % 2 {
            0 => ios * 4,
            _ => ios * (9 + u64::from(slot / 2 % 3)),
        });
        assert!(t_of(&parts) < -20.0, "{}", t_of(&parts));
    }

    #[test]
    fn a_part_that_took_far_longer_than_all_others_makes_no_difference_sure() {
        let parts = parts(40, |slot, ios| if slot == 7 { ios * 1000 } else { ios });
        assert!(t_of(&parts).abs() < 1.2, "{}", t_of(&parts));
    }

    #[test]
    fn what_came_since_the_latest_look_moves_nothing_before_it() {
        // The 23rd pair is far above all others.
        let ios = |slot| if slot == 45 { 100_000 } else { 100 + u64::from(slot % 3) };
        let slices = slices(46, ios);
        let concluded = |pairs: usize| {
            let two = slices.chunks(2).take(pairs).map(|two| [&two[0], &two[1]]);
            let mut row = BlockDifferences::new(Subject::Arm("b".into()), Metric::Throughput);
            row.fill(&(0..).zip(two).collect::<Vec<_>>());
            conclude(&Method::new(&stretch::tests::spec()), vec![row]).remove(0).comparison
        };
        assert_eq!(concluded(23), concluded(20));
    }
}
