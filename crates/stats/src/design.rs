//! When the data may be looked at, and the nominal level p* of each look.
//!
//! A group-sequential design of Pocock type in significance-level form: at each look the
//! ordinary two-sided paired-t p-value is compared with one level p*, chosen so that
//! P(min over looks of p <= p*) = alpha for independent normal differences. The path of t
//! is free of mean and spread, so p* is a constant of (alpha, looks) that Monte Carlo gives;
//! the method, with the repeated confidence intervals that belong to it: Jennison &
//! Turnbull, "Group Sequential Methods with Applications to Clinical Trials", ch. 9.

use crate::calibration::{ALPHAS, CALIBRATIONS, Calibration, Levels, SLICES};

/// Numbers of complete blocks at which the data may be analysed. They are fixed in advance.
pub const LOOKS: [usize; 12] = [3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40];

/// [`LOOKS`] continued for long runs.
pub const EXTENDED_LOOKS: [usize; 18] =
    [3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160];

/// Numbers of pairs of slices at which the data may be analysed. At the first look, each order of
/// two arms has occurred four times; the last look is after about ten minutes.
pub const SLICE_LOOKS: [usize; 29] = [
    8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400, 512, 640, 800,
    1024, 1280, 1600, 2048, 2560, 3200, 4096, 5120,
];

/// A look schedule with its map between the nominal and the overall level.
///
/// Copyable; it only points at constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    looks: &'static [usize],
    p_star: &'static Levels,
}

impl Default for Design {
    /// At most 40 blocks.
    fn default() -> Self {
        Self::with_max_blocks(40)
    }
}

impl Design {
    /// The schedule whose last look is the largest one not above `max_blocks`, limited to 3..=160.
    ///
    /// Between the calibrated maxima (10, 20, 40, 80, 160) the next larger calibration is
    /// used: fewer looks than it allows for can only lower the error.
    pub fn with_max_blocks(max_blocks: usize) -> Self {
        Self::within(&EXTENDED_LOOKS, &CALIBRATIONS, max_blocks)
    }

    /// The same for pairs of slices, of which there are hundreds: 8 to 5120.
    pub fn of_slices(max_blocks: usize) -> Self {
        Self::within(&SLICE_LOOKS, &SLICES, max_blocks)
    }

    fn within(
        all: &'static [usize],
        calibrations: &'static [Calibration],
        max_blocks: usize,
    ) -> Self {
        let count = all.partition_point(|&n| n <= max_blocks).max(1);
        let looks = &all[..count];
        let covers = |calibration: &&Calibration| calibration.max_blocks >= looks[count - 1];
        let calibration = calibrations.iter().find(covers);
        Self { looks, p_star: &calibration.expect("a calibration covers the last look").p_star }
    }

    /// Whether its blocks are pairs of slices, which are enough to estimate their dependence.
    pub fn is_of_slices(&self) -> bool {
        self.looks[0] == SLICE_LOOKS[0]
    }

    /// The looks, ascending, in complete blocks.
    pub fn looks(&self) -> &'static [usize] {
        self.looks
    }

    /// The last look: no more blocks than these are ever needed by this design.
    pub fn last_look(&self) -> usize {
        self.looks[self.looks.len() - 1]
    }

    /// Whether `blocks` complete blocks are a look.
    pub fn is_look(&self, blocks: usize) -> bool {
        self.looks.binary_search(&blocks).is_ok()
    }

    /// The latest look at or before `blocks`, for a run that ended between two looks.
    pub fn look_at_or_before(&self, blocks: usize) -> Option<usize> {
        self.looks.iter().rev().find(|&&n| n <= blocks).copied()
    }

    /// The latest look before `blocks`; 0 if there is none.
    pub fn look_before(&self, blocks: usize) -> usize {
        blocks.checked_sub(1).and_then(|n| self.look_at_or_before(n)).unwrap_or(0)
    }

    /// The first look after `blocks`.
    pub fn look_after(&self, blocks: usize) -> Option<usize> {
        self.looks.iter().find(|&&n| n > blocks).copied()
    }

    /// Nominal level p* of each look for the overall level `alpha`, inside (0, 1).
    ///
    /// Log-log interpolation in the grid, or Bonferroni over the looks where that allows
    /// more (short designs) or the grid ends (alpha < .001). Both are valid bounds. Above the
    /// grid (alpha > .2), it returns the level of .2, which is conservative.
    pub fn nominal_level(&self, alpha: f64) -> f64 {
        let alpha = alpha.min(ALPHAS[ALPHAS.len() - 1]);
        let bonferroni = alpha / self.looks.len() as f64;
        if alpha < ALPHAS[0] {
            return bonferroni;
        }
        log_log_interpolate(alpha, &ALPHAS, self.p_star).max(bonferroni)
    }

    /// Sequential p-value from the smallest paired-t p-value of any look so far: valid at
    /// every stopping time, and at most `alpha` exactly when some look's p-value was at most
    /// [`Self::nominal_level`]`(alpha)`.
    ///
    /// 1 from the top of the grid on. Just below the grid's bottom Bonferroni alone would
    /// turn a smaller p-value into a larger sequential one; the bottom level holds there too,
    /// so the smaller of both is taken. A NaN yields 1.
    pub fn sequential_p(&self, smallest_p: f64) -> f64 {
        if smallest_p < self.nominal_level(1.0) {
            let calibrated = log_log_interpolate(smallest_p, self.p_star, &ALPHAS);
            calibrated.min(self.looks.len() as f64 * smallest_p)
        } else {
            1.0
        }
    }
}

/// Piecewise linear in logarithms, constant outside the grid.
fn log_log_interpolate(x: f64, xs: &Levels, ys: &Levels) -> f64 {
    let right = xs.partition_point(|&grid| grid <= x);
    if right == 0 {
        return ys[0];
    }
    if right == xs.len() {
        return ys[right - 1];
    }
    let (x0, x1) = (xs[right - 1].ln(), xs[right].ln());
    let (y0, y1) = (ys[right - 1].ln(), ys[right].ln());
    (y0 + (y1 - y0) * (x.ln() - x0) / (x1 - x0)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn last_look_never_exceeds_the_maximum_asked_for() {
        for max in 0..200 {
            let design = Design::with_max_blocks(max);
            assert!(design.last_look() <= max.max(3));
            assert!(design.looks().len() >= EXTENDED_LOOKS.partition_point(|&n| n <= max));
        }
        assert_eq!(Design::default().looks(), LOOKS);
    }

    #[test]
    fn more_looks_cost_a_lower_nominal_level() {
        for alpha in *ALPHAS {
            let levels =
                [10, 20, 40, 80, 160].map(|m| Design::with_max_blocks(m).nominal_level(alpha));
            assert!(levels.windows(2).all(|w| w[1] < w[0]), "alpha {alpha}: {levels:?}");
            assert!(levels.iter().all(|&p| p < alpha && p > alpha / 18.0), "{levels:?}");
        }
    }

    #[test]
    fn looks_around_a_block_count() {
        let design = Design::default();
        assert_eq!(design.look_at_or_before(2), None);
        assert_eq!(design.look_at_or_before(7), Some(6));
        assert_eq!(design.look_at_or_before(90), Some(40));
        assert_eq!(design.look_after(0), Some(3));
        assert_eq!(design.look_after(8), Some(10));
        assert_eq!(design.look_after(40), None);
        assert!(design.is_look(13) && !design.is_look(14));
    }

    #[test]
    fn undefined_p_value_is_no_evidence() {
        assert_eq!(Design::default().sequential_p(f64::NAN), 1.0);
        assert_eq!(Design::default().sequential_p(1.0), 1.0);
        assert_eq!(Design::default().sequential_p(0.0), 0.0);
    }

    #[test]
    fn one_look_is_an_ordinary_test() {
        let design = Design::with_max_blocks(3);
        for alpha in [1e-5, 0.01, 0.05, 0.2] {
            assert_eq!(design.nominal_level(alpha), alpha);
        }
        assert!((design.sequential_p(0.02) - 0.02).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn sequential_p_inverts_the_nominal_level(log_alpha in -12.0..-1.7_f64, max in 3_usize..200) {
            let design = Design::with_max_blocks(max);
            let alpha = log_alpha.exp();
            let p_star = design.nominal_level(alpha);
            prop_assert!(design.sequential_p(p_star * (1.0 - 1e-9)) <= alpha);
            prop_assert!(design.sequential_p(p_star * (1.0 + 1e-9)) >= alpha * (1.0 - 1e-6));
        }

        #[test]
        fn sequential_p_never_falls_as_p_grows(a in -14.0..0.0_f64, b in -14.0..0.0_f64, max in 3_usize..200) {
            let design = Design::with_max_blocks(max);
            let (small, large) = (a.min(b).exp(), a.max(b).exp());
            prop_assert!(design.sequential_p(small) <= design.sequential_p(large));
            prop_assert!(design.sequential_p(small) >= small);
        }
    }
}
