//! Detects a ceiling that short windows of a load reach repeatedly.
//!
//! A limiter passes the same amount in every window. Disturbances (another program on the CPU, a
//! neighbour) only lower a window's rate. So the limiter's rate is the highest level that repeats,
//! not the mean, which every disturbance lowers. Without a limiter, the rates of a device scatter,
//! and their highest values do not repeat.

use crate::sample::{all_finite, mean, variance};
use crate::student::critical_t;

/// Maximum distance from the ceiling of a window that counts as on it.
pub const REPEATS: f64 = 0.005;
/// Minimum number of windows on the ceiling if all windows are on it.
const FEWEST: usize = 3;
/// Minimum number of windows on the ceiling if others are below it.
const FEWEST_OF_SOME: usize = 5;
/// Minimum share of all windows on the ceiling.
const SHARE: f64 = 0.3;
/// One window in this many may be above the ceiling, because a limiter briefly passes more after a
/// pause.
const ONE_ABOVE_IN: usize = 8;
/// Uncertainty of a rate due to the edges of windows.
const EDGES: f64 = 0.001;

/// The highest repeated level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// The level, in the unit of the rates.
    pub level: f64,
    /// Lower end of its 95 % interval.
    pub lo: f64,
    /// Upper end of its 95 % interval.
    pub hi: f64,
    /// Number of windows on it.
    pub on_it: usize,
}

/// The ceiling of window rates, in any order. `grain` is the share of a window's rate that a single
/// event contributes. `None` if no level repeats, or the highest values do not.
///
/// In simulated series of 8 to 16 windows, the ceiling is found in 99 % of series if 30 % of the
/// windows are disturbed, and in 98 % if 44 % are. Gaussian rates without a limiter also show a
/// ceiling: in four of five series if they scatter by 1 %, in one of ten at 3 %, in one of fifty at
/// 5 %. So a ceiling alone does not prove a limiter.
pub fn ceiling(rates: &[f64], grain: f64) -> Option<Ceiling> {
    let n = rates.len();
    if n < FEWEST || !all_finite(rates) || rates.iter().any(|rate| *rate <= 0.0) {
        return None;
    }
    let mut sorted = rates.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let band = 1.0 - 2.0 * REPEATS.max(grain);
    let on = |top: usize| sorted[top..].partition_point(|rate| *rate >= sorted[top] * band);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below n")]
    let share = (SHARE * n as f64).ceil() as usize;
    let is_enough =
        |on_it: usize| on_it >= FEWEST && (on_it == n || on_it >= FEWEST_OF_SOME.max(share));
    let top = (0..=n / ONE_ABOVE_IN).find(|top| *top < n && is_enough(on(*top)))?;
    Some(of(&sorted[top..top + on(top)], grain))
}

fn of(on_it: &[f64], grain: f64) -> Ceiling {
    let logs: Vec<f64> = on_it.iter().map(|rate| rate.ln()).collect();
    let (level, n) = (mean(&logs), logs.len());
    let error = (variance(&logs) / n as f64).sqrt();
    let half = (critical_t(0.05, n - 1) * error).max(grain / (n as f64).sqrt()).max(EDGES);
    Ceiling { level: level.exp(), lo: (level - half).exp(), hi: (level + half).exp(), on_it: n }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_disturbed_does_not_move_a_ceiling() {
        let rates = [61.0, 60.98, 61.01, 21.3, 61.0, 60.99, 54.0];
        let found = ceiling(&rates, 0.0).unwrap();
        assert!((found.level / 61.0 - 1.0).abs() < 1e-3 && found.on_it == 5, "{found:?}");
        assert!(found.lo < 61.0 && found.hi > 61.0 && found.hi / found.lo < 1.01, "{found:?}");
    }

    #[test]
    fn a_moment_of_more_is_above_the_ceiling_and_not_on_it() {
        let rates = [1016.0, 1000.0, 1001.0, 999.0, 1000.0, 999.5, 1000.5, 700.0];
        let found = ceiling(&rates, 0.0).unwrap();
        assert!((found.level / 1000.0 - 1.0).abs() < 1e-3, "{found:?}");
        assert_eq!(ceiling(&[1016.0, 1000.0, 1001.0, 999.0, 1000.0], 0.0), None);
    }

    #[test]
    fn few_events_in_a_window_widen_what_counts_as_the_same() {
        let rates = [60.0, 61.0, 62.0];
        assert_eq!(ceiling(&rates, 0.0), None);
        let found = ceiling(&rates, 1.0 / 60.0).unwrap();
        assert!(found.lo < 60.5 && found.hi > 61.5, "{found:?}");
    }

    #[test]
    fn nothing_that_scatters_has_a_ceiling() {
        assert_eq!(ceiling(&[], 0.0), None);
        assert_eq!(ceiling(&[1.0, 1.0], 0.0), None);
        assert_eq!(ceiling(&[0.0; 9], 0.0), None);
        assert_eq!(ceiling(&[f64::NAN; 9], 0.0), None);
        assert_eq!(ceiling(&[100.0, 104.0, 97.0, 110.0, 101.0, 93.0, 106.0, 99.0], 0.0), None);
    }

    #[test]
    fn an_interval_is_that_of_the_windows_or_of_the_event_at_their_edges() {
        let rates = [1000.0, 1002.0, 999.0, 1001.0, 1000.5];
        let is = |grain: f64, level: f64, lo: f64, hi: f64| {
            let found = ceiling(&rates, grain).unwrap();
            let off = [found.level - level, found.lo - lo, found.hi - hi];
            assert!(off.iter().all(|off| off.abs() < 1e-4), "{found:?}");
        };
        is(0.0, 1_000.499_500, 999.112_240, 1_001.888_687);
        is(0.02, 1_000.499_500, 991.590_662, 1_009.488_379);
    }

    #[test]
    fn a_ceiling_has_enough_windows_on_it_and_few_above() {
        let of = |parts: &[&[f64]]| ceiling(&parts.concat(), 0.0).is_some();
        assert!(of(&[&[1000.0; 3]]) && !of(&[&[1000.0; 4], &[700.0; 3]]));
        assert!(of(&[&[1000.0; 5], &[700.0, 500.0, 300.0]]));
        let scattered: Vec<f64> = (0..24).map(|at| 300.0 + 20.0 * f64::from(at)).collect();
        assert!(!of(&[&[1000.0; 6], &scattered]) && of(&[&[1000.0; 11], &scattered]));
        assert!(of(&[&[1100.0], &[1000.0; 7]]) && !of(&[&[1100.0, 1050.0], &[1000.0; 7]]));
        assert!(!of(&[&[f64::INFINITY; 9]]));
    }

    proptest! {
        #[test]
        fn a_ceiling_is_found_below_which_less_than_half_is_lost(
            level in 10.0..1e6_f64,
            lost in prop::collection::vec(0.1..0.8_f64, 0..7),
            kept in prop::collection::vec(-0.003..0.003_f64, 8..16),
        ) {
            let rates: Vec<f64> = lost.iter().copied().chain(kept.iter().map(|off| 1.0 + off))
                .map(|share| share * level).collect();
            let found = ceiling(&rates, 0.0).unwrap();
            prop_assert!((found.level / level - 1.0).abs() < 0.003, "{found:?}");
        }
    }
}
