//! The constants of [`super::design`]: p* such that P(min over looks of p <= p*) = alpha.
//!
//! The constants come from Monte Carlo runs: the 40-block grid and the alpha .05 row of every
//! maximum from the validated reference (1-2 million runs, checked by `tests/golden.rs`), the
//! rest from the ignored test in `tests/calibration.rs` (20 million). Where both exist the
//! reference's level agrees to 2 % and is usually the lower one, which is conservative.

use std::sync::LazyLock;

/// One level for each row of the table.
pub(crate) type Levels = [f64; 13];

/// One calibrated schedule.
pub(crate) struct Calibration {
    /// Last look of the schedule.
    pub max_blocks: usize,
    /// p* for the overall level at the same index.
    pub p_star: Levels,
}

/// Overall levels of the calibration grid.
pub(crate) static ALPHAS: LazyLock<Levels> = LazyLock::new(|| column(TABLE, 0));

/// Ascending by the last look.
pub(crate) static CALIBRATIONS: LazyLock<Vec<Calibration>> = LazyLock::new(|| read(TABLE));

/// The same for pairs of slices, whose looks begin later and extend further.
pub(crate) static SLICES: LazyLock<Vec<Calibration>> =
    LazyLock::new(|| read(include_str!("../data/slices.csv")));

/// One row for each overall level, one column for each last look.
const TABLE: &str = include_str!("../data/calibration.csv");

fn read(table: &str) -> Vec<Calibration> {
    let heads = table.lines().next().unwrap_or_default().split(',').enumerate().skip(1);
    let calibration = |(at, head): (usize, &str)| Calibration {
        max_blocks: head.parse().expect("a number of blocks"),
        p_star: column(table, at),
    };
    heads.map(calibration).collect()
}

fn column(table: &str, at: usize) -> Levels {
    let cells = table.lines().skip(1).filter_map(|row| row.split(',').nth(at)?.parse().ok());
    cells.collect::<Vec<f64>>().try_into().expect("each row has a level in this column")
}
