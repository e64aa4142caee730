//! The constants of [`super::design`]: p* such that P(min over looks of p <= p*) = alpha.
//!
//! The constants come from Monte Carlo runs: the 40-block grid and the alpha .05 row of every
//! maximum from the validated reference (1-2 million runs, checked by `tests/golden.rs`), the
//! rest from the ignored test in `tests/calibration.rs` (20 million). Where both exist the
//! reference's level agrees to 2 % and is mostly the lower one, that is on the safe side.

/// Overall levels of the calibration grid.
pub(crate) const ALPHAS: [f64; 13] = [
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

/// One calibrated schedule.
pub(crate) struct Calibration {
    /// Last look of the schedule.
    pub max_blocks: usize,
    /// p* for the overall level at the same index.
    pub p_star: [f64; 13],
}

/// Ascending by the last look.
pub(crate) static CALIBRATIONS: [Calibration; 5] = [
    Calibration {
        max_blocks: 10,
        p_star: [
            0.000_196_96,
            0.000_514_68,
            0.001_069_6,
            0.001_356_3,
            0.001_845_7,
            0.002_247_2,
            0.002_861_9,
            0.003_909_1,
            0.006_097_9,
            0.013_183_674_389_033_284,
            0.029_373,
            0.047_463,
            0.067_18,
        ],
    },
    Calibration {
        max_blocks: 20,
        p_star: [
            0.000_135_45,
            0.000_356_79,
            0.000_747_06,
            0.000_949_87,
            0.001_295_5,
            0.001_577_2,
            0.002_014_5,
            0.002_759_6,
            0.004_314_4,
            0.009_361_981_093_001_433,
            0.021_066,
            0.034_294,
            0.048_869,
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
            8.6601e-5,
            0.000_228_54,
            0.000_478_76,
            0.000_608_93,
            0.000_830_47,
            0.001_012_7,
            0.001_290_7,
            0.001_769_1,
            0.002_774_9,
            0.006_005_631_405_689_151,
            0.013_604,
            0.022_212,
            0.031_789,
        ],
    },
    Calibration {
        max_blocks: 160,
        p_star: [
            7.3892e-5,
            0.000_194_37,
            0.000_407_41,
            0.000_517_86,
            0.000_706_17,
            0.000_861_68,
            0.001_098_9,
            0.001_505_6,
            0.002_361_3,
            0.005_140_241_633_416_502,
            0.011_564,
            0.018_874,
            0.027_031,
        ],
    },
];
