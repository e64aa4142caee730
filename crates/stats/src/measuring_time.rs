//! How long one measurement should take.

/// Shortest time of a measurement, in seconds.
pub const MIN_SECONDS: f64 = 5.0;
/// Longest time of a measurement, in seconds.
pub const MAX_SECONDS: f64 = 60.0;

/// The time per measurement that gives the narrowest interval per second spent, in
/// seconds, inside [`MIN_SECONDS`]..=[`MAX_SECONDS`].
///
/// A measurement of `T` seconds costs `c + T` and has variance `sigma_b^2 + s^2 / T`, where `c` is
/// the time lost per measurement (switching and ramp), `s^2` the long-run variance of the 1-s
/// samples ([`super::dependence::long_run_variance`]) and `sigma_b^2` the variance between
/// measurements. The product is least at `T = sqrt(c s^2 / sigma_b^2)` (the split of repetitions
/// over levels in Kalibera & Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013).
///
/// Without any variance between measurements longer is always better, so the maximum is returned;
/// likewise when a variance is not a number.
pub fn optimal_seconds(
    overhead_seconds: f64,
    long_run_variance: f64,
    between_variance: f64,
) -> f64 {
    let seconds = (overhead_seconds * long_run_variance / between_variance).sqrt();
    if between_variance > 0.0 && !seconds.is_nan() {
        seconds.clamp(MIN_SECONDS, MAX_SECONDS)
    } else {
        MAX_SECONDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn clamped_and_defined_for_degenerate_variances() {
        assert_eq!(optimal_seconds(3.0, 0.0, 0.01), MIN_SECONDS);
        assert_eq!(optimal_seconds(3.0, 1.0, 0.0), MAX_SECONDS);
        assert_eq!(optimal_seconds(3.0, f64::NAN, 0.01), MAX_SECONDS);
        assert_eq!(optimal_seconds(3.0, 0.01, f64::NAN), MAX_SECONDS);
    }

    proptest! {
        #[test]
        fn no_other_length_buys_more(
            c in 0.5..30.0_f64, s2 in 1e-4..0.1_f64, between in 1e-4..0.1_f64, other in 5.0..60.0_f64,
        ) {
            let price = |t: f64| (between + s2 / t) * (c + t);
            prop_assert!(price(optimal_seconds(c, s2, between)) <= price(other) * (1.0 + 1e-12));
        }
    }
}
