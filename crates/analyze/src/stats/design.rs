//! When the data may be looked at, and the nominal level p* used at every look.
//!
//! A group-sequential design of Pocock type in significance-level form: at each look the
//! ordinary two-sided paired-t p-value is compared with one level p*, chosen so that
//! P(min over looks of p <= p*) = alpha for independent normal differences. The path of t
//! is free of mean and spread, so p* is a constant of (alpha, looks) that Monte Carlo gives;
//! the method, with the repeated confidence intervals that belong to it: Jennison &
//! Turnbull, "Group Sequential Methods with Applications to Clinical Trials", ch. 9.
//!
//! The constants come from Monte Carlo runs: the 40-block grid and the alpha .05 row of every
//! maximum from the validated reference (1-2 million runs), the rest from the ignored test
//! in `tests/calibration.rs`, which also repeats them. Their standard error is below 1 %.

/// Numbers of complete blocks at which the data may be analysed, fixed beforehand.
pub const LOOKS: [usize; 12] = [3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40];

/// [`LOOKS`] continued for long runs.
pub const EXTENDED_LOOKS: [usize; 18] =
    [3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160];

/// Overall levels of the calibration grid.
const ALPHAS: [f64; 13] = [
    0.001,
    0.0025,
    0.005,
    0.05 / 8.0,
    0.05 / 6.0,
    0.01,
    0.0125,
    0.05 / 3.0,
    0.025,
    0.05,
    0.10,
    0.15,
    0.20,
];

/// One calibrated schedule: its last look and p* for each of [`ALPHAS`].
struct Calibration {
    max_blocks: usize,
    p_star: [f64; 13],
}

static CALIBRATIONS: [Calibration; 5] = [
    Calibration {
        max_blocks: 10,
        p_star: [
            0.000_195_64,
            0.000_511_85,
            0.001_069_7,
            0.001_353_7,
            0.001_843_7,
            0.002_242_6,
            0.002_855_5,
            0.003_911_3,
            0.006_091_5,
            0.013_183_674_389_033_284,
            0.029_391,
            0.047_436,
            0.067_187,
        ],
    },
    Calibration {
        max_blocks: 20,
        p_star: [
            0.000_137_73,
            0.000_355_47,
            0.000_744_17,
            0.000_945_03,
            0.001_29,
            0.001_574_3,
            0.002_004_9,
            0.002_748,
            0.004_314_7,
            0.009_361_981_093_001_433,
            0.021_079,
            0.034_312,
            0.048_875,
        ],
    },
    Calibration {
        max_blocks: 40,
        p_star: [
            0.000_105_092_991_751_139_37,
            0.000_274_822_417_196_390_7,
            0.000_568_415_374_677_801_5,
            0.000_723_300_610_304_549_7,
            0.000_995_032_059_463_906_7,
            0.001_207_658_792_701_099,
            0.001_542_995_217_646_439_8,
            0.002_121_046_770_900_471_6,
            0.003_338_808_372_911_054_4,
            0.007_315_273_449_009_735,
            0.016_477_620_943_826_48,
            0.026_935_681_915_193_87,
            0.038_506_674_240_221_556,
        ],
    },
    Calibration {
        max_blocks: 80,
        p_star: [
            8.9987e-5,
            0.000_229_96,
            0.000_474_94,
            0.000_602_33,
            0.000_821_61,
            0.001_002_7,
            0.001_279_9,
            0.001_759_7,
            0.002_769,
            0.006_005_631_405_689_151,
            0.013_607,
            0.022_235,
            0.031_814,
        ],
    },
    Calibration {
        max_blocks: 160,
        p_star: [
            7.7223e-5,
            0.000_194_49,
            0.000_404_29,
            0.000_513,
            0.000_699_99,
            0.000_851_76,
            0.001_091_8,
            0.001_495_6,
            0.002_350_1,
            0.005_140_241_633_416_502,
            0.011_571,
            0.018_882,
            0.027_06,
        ],
    },
];

/// A look schedule with its map between the nominal and the overall level.
///
/// Copyable; it only points at constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    looks: &'static [usize],
    p_star: &'static [f64; 13],
}

impl Default for Design {
    /// At most 40 blocks.
    fn default() -> Self {
        Self::with_max_blocks(40)
    }
}

impl Design {
    /// The schedule whose last look is the largest one not above `max_blocks`, which is
    /// brought into 3..=160 first.
    ///
    /// Between the calibrated maxima (10, 20, 40, 80, 160) the next larger calibration is
    /// used: fewer looks than it allows for can only lower the error.
    pub fn with_max_blocks(max_blocks: usize) -> Self {
        let max_blocks = max_blocks.clamp(EXTENDED_LOOKS[0], 160);
        let count = EXTENDED_LOOKS.partition_point(|&n| n <= max_blocks);
        let looks = &EXTENDED_LOOKS[..count];
        let calibration = CALIBRATIONS
            .iter()
            .find(|c| c.max_blocks >= looks[count - 1])
            .expect("the last calibration covers the last look");
        Self { looks, p_star: &calibration.p_star }
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

    /// The first look after `blocks`.
    pub fn look_after(&self, blocks: usize) -> Option<usize> {
        self.looks.iter().find(|&&n| n > blocks).copied()
    }

    /// Nominal level p* of each look for the overall level `alpha`, inside (0, 1).
    ///
    /// Log-log interpolation in the grid; below it (alpha < .001) Bonferroni over the looks;
    /// above it (alpha > .2) the last grid value, which is conservative.
    pub fn nominal_level(&self, alpha: f64) -> f64 {
        if alpha < ALPHAS[0] {
            return alpha / self.looks.len() as f64;
        }
        log_log_interpolate(alpha, &ALPHAS, self.p_star)
    }

    /// Sequential p-value from the smallest paired-t p-value of any look so far: valid at
    /// every stopping time, and at most `alpha` exactly when some look's p-value was at most
    /// [`Self::nominal_level`]`(alpha)`.
    ///
    /// 1 from the top of the grid on; Bonferroni over the looks below the grid, capped at
    /// the grid's smallest level - without that cap a smaller p-value just below the grid
    /// would turn into a larger sequential one. A NaN yields 1.
    pub fn sequential_p(&self, smallest_p: f64) -> f64 {
        let [lowest, .., highest] = *self.p_star;
        if smallest_p < lowest {
            return (self.looks.len() as f64 * smallest_p).min(ALPHAS[0]);
        }
        if smallest_p < highest {
            return log_log_interpolate(smallest_p, self.p_star, &ALPHAS);
        }
        1.0
    }
}

/// Piecewise linear in logarithms, constant outside the grid.
fn log_log_interpolate(x: f64, xs: &[f64; 13], ys: &[f64; 13]) -> f64 {
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
        for alpha in ALPHAS {
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
