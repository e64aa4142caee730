//! Checks whether there are enough samples for a percentile.

/// Minimum number of samples beyond a percentile for a comparison.
pub(crate) const MIN_SAMPLES_BEYOND: f64 = 100.0;

/// Whether this number of `samples` supports the quantile `q` (a fraction inside (0, 1)):
/// `N (1 - q) >= 100`, that is 10,000 for p99 and 100,000 for p99.9. If not, the verdict
/// is `insufficient tail samples`.
pub fn enough_samples(samples: u64, q: f64) -> bool {
    q > 0.0 && q < 1.0 && samples >= samples_needed(q)
}

/// The samples that the quantile `q` needs.
pub fn samples_needed(q: f64) -> u64 {
    // 1 - q carries the rounding of q (1 - .9999 falls short of 1e-4 by 1e-16): rounded to
    // whole samples first, so that the gate sits where the decimal percentile says.
    let exact = MIN_SAMPLES_BEYOND / (1.0 - q);
    let nearest = exact.round();
    let needed = if (exact / nearest - 1.0).abs() < 1e-9 { nearest } else { exact.ceil() };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let needed = needed as u64;
    needed
}

/// Upper 95 % bound on the share of observations with an event (a stall) that was seen in none of
/// `observations`: the rule of three, `3 / n`, from `(1 - p)^n = .05` (Hanley & Lippman-Hand, JAMA
/// 249, 1983). At most 1.
pub fn rule_of_three(observations: usize) -> f64 {
    (3.0 / observations as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_sits_exactly_at_a_hundred_samples_beyond() {
        for (q, needed) in
            [(0.5, 200), (0.9, 1_000), (0.99, 10_000), (0.999, 100_000), (0.9999, 1_000_000)]
        {
            assert_eq!(samples_needed(q), needed);
            assert!(enough_samples(needed, q) && !enough_samples(needed - 1, q), "q = {q}");
        }
        assert_eq!(samples_needed(0.7), 334);
    }

    #[test]
    fn the_extremes_are_never_supported() {
        for q in [0.0, 1.0, 1.5, f64::NAN] {
            assert!(!enough_samples(u64::MAX, q), "q = {q}");
        }
    }

    #[test]
    fn unseen_events_are_bounded_by_three_in_n() {
        assert_eq!(rule_of_three(0), 1.0);
        assert_eq!(rule_of_three(2), 1.0);
        for n in [10, 40, 400] {
            let exact = 1.0 - 0.05_f64.powf(1.0 / n as f64);
            assert!(rule_of_three(n) >= exact && rule_of_three(n) < exact * 1.2);
        }
    }
}
