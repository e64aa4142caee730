//! Mean and spread of a sample, in two passes. Differences of large, nearly equal numbers are
//! common here, for which the one-pass formula is inaccurate.

/// Arithmetic mean; 0 for an empty slice.
pub fn mean(x: &[f64]) -> f64 {
    if x.is_empty() { 0.0 } else { x.iter().sum::<f64>() / x.len() as f64 }
}

/// Sum of squared deviations from the mean.
pub(crate) fn sum_of_squares(x: &[f64]) -> f64 {
    let m = mean(x);
    x.iter().map(|v| (v - m) * (v - m)).sum()
}

/// Unbiased sample variance; 0 for fewer than two values.
pub fn variance(x: &[f64]) -> f64 {
    if x.len() < 2 { 0.0 } else { sum_of_squares(x) / (x.len() - 1) as f64 }
}

/// Whether every value is a finite number.
pub fn all_finite(x: &[f64]) -> bool {
    x.iter().all(|v| v.is_finite())
}

/// The median; NaN for an empty slice.
pub fn median(x: &[f64]) -> f64 {
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Converts a count to the type used in results, and saturates.
pub fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_found_around_a_mean_that_is_large_beside_it() {
        for shift in [0.0, 1e7 / 3.0, 1e8 / 7.0] {
            let found = variance(&[0.1, 0.2, 0.3, 0.4, 0.6].map(|x| x + shift));
            assert!((found / 0.037 - 1.0).abs() < 1e-6, "{shift}: {found}");
        }
    }

    #[test]
    fn the_middle_of_values() {
        assert!(median(&[]).is_nan());
        assert_eq!([median(&[3.0]), median(&[4.0, 1.0, 3.0])], [3.0; 2]);
        assert_eq!([median(&[4.0, 2.0]), median(&[9.0, 1.0, 4.0, 2.0])], [3.0; 2]);
    }

    #[test]
    fn more_than_fit_are_as_many_as_fit() {
        assert_eq!([count(0), count(7), count(usize::MAX)], [0, 7, u32::MAX]);
    }
}
