//! Decides whether preconditioning has reached steady state.

use crate::sample::{all_finite, mean};

/// Number of rounds in the measurement window.
pub const WINDOW_ROUNDS: usize = 5;
/// Maximum difference between the highest and the lowest round, as a share of the mean.
pub const MOST_RANGE: f64 = 0.20;
/// Maximum rise or fall of the fitted line, as a share of the mean.
pub const MOST_EXCURSION: f64 = 0.10;

/// Statistics of the last five rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// `max - min`, as a share of their mean.
    pub range: f64,
    /// Rise of the least-squares line from the first to the last round, as a share of the mean;
    /// negative if it falls.
    pub excursion: f64,
}

impl Window {
    /// `rounds`: one positive mean per round of the workload, oldest first. `None` for fewer than
    /// five rounds, a mean that is not positive, or values that are not finite.
    pub fn of(rounds: &[f64]) -> Option<Self> {
        let window = rounds.last_chunk::<WINDOW_ROUNDS>()?;
        let average = mean(window);
        if !all_finite(window) || average <= 0.0 {
            return None;
        }
        let highest = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = window.iter().copied().fold(f64::INFINITY, f64::min);
        // Least-squares slope over t = -2..=2, where sum t^2 = 10.
        let slope = (0..).zip(window).map(|(t, v)| f64::from(t - 2) * v).sum::<f64>() / 10.0;
        Some(Self { range: (highest - lowest) / average, excursion: slope * 4.0 / average })
    }

    /// Whether they are steady: [`MOST_RANGE`], [`MOST_EXCURSION`].
    pub fn is_steady(&self) -> bool {
        self.range <= MOST_RANGE && self.excursion.abs() <= MOST_EXCURSION
    }
}

/// Whether the last five rounds are steady: `max - min` at most 20 % of their mean, and the
/// excursion of their least-squares line, `|slope| * 4`, at most 10 % of it (SNIA Solid State
/// Storage Performance Test Specification, "steady state").
///
/// A burst is steady and passes this test; see [`super::regime`].
pub fn is_steady(rounds: &[f64]) -> bool {
    Window::of(rounds).is_some_and(|window| window.is_steady())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_five_rounds_count() {
        assert!(is_steady(&[500.0, 100.0, 101.0, 99.0, 100.0, 102.0]));
        assert!(!is_steady(&[100.0, 100.0, 100.0, 100.0]));
    }

    #[test]
    fn range_and_slope_are_each_limited() {
        assert!(!is_steady(&[100.0, 88.0, 110.0, 100.0, 100.0]), "range 22 %");
        assert!(!is_steady(&[94.0, 97.0, 100.0, 103.0, 106.0]), "line excursion 12 %");
        assert!(is_steady(&[96.0, 98.0, 100.0, 102.0, 104.0]), "line excursion 8 %");
        assert!(!is_steady(&[0.0; 5]));
        assert!(!is_steady(&[100.0, 100.0, f64::NAN, 100.0, 100.0]));
        assert_eq!([Window::of(&[f64::NAN; 5]), Window::of(&[0.0; 5])], [None; 2]);
    }
}
