//! The trimmed mean of a sample, which a few outliers do not affect.
//!
//! Its t interval is that of Tukey and others (Sankhya A 25, 1963, p. 331; for two samples: Yuen,
//! Biometrika 61, 1974): the spread is that of the winsorized sample. Differences of two equal arms
//! are symmetric around 0, and remain so after trimming. The trimmed mean then estimates the same
//! value as the mean, but with fewer samples.

use crate::rci::{MIN_BLOCKS, Summary};
use crate::sample::{all_finite, mean, variance};

/// Number of values that are trimmed at each end: a fifth.
fn left_out(n: usize) -> usize {
    n / 5
}

/// The winsorized values: trimmed values are replaced by the nearest remaining ones, in order.
pub(crate) fn winsorized(d: &[f64]) -> Vec<f64> {
    match *middle(d).as_slice() {
        [] => Vec::new(),
        [only] => vec![only; d.len()],
        [least, .., most] => d.iter().map(|value| value.clamp(least, most)).collect(),
    }
}

/// The mean without a fifth of the values at each end; 0 for an empty slice.
pub fn trimmed_mean(d: &[f64]) -> f64 {
    mean(&middle(d))
}

/// The remaining values, in ascending order.
fn middle(d: &[f64]) -> Vec<f64> {
    let mut sorted = d.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let cut = left_out(d.len());
    sorted[cut..d.len() - cut].to_vec()
}

impl Summary {
    /// The trimmed mean with its standard error; `None` as for the plain mean.
    pub fn trimmed(d: &[f64]) -> Option<Self> {
        if d.len() < MIN_BLOCKS || !all_finite(d) {
            return None;
        }
        let counted = d.len() - 2 * left_out(d.len());
        let mean = trimmed_mean(d);
        let rounding = f64::EPSILON * mean.abs().max(1.0);
        let ratio = (d.len() * (d.len() - 1)) as f64 / (counted * (counted - 1)) as f64;
        let sd = (variance(&winsorized(d)) * ratio).sqrt().max(rounding);
        let freedom = counted - 1;
        (mean.is_finite() && sd.is_finite()).then_some(Self { blocks: d.len(), mean, sd, freedom })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_sample_by_hand() {
        // One of 5 is left out at either end; winsorized: 2, 2, 3, 4, 4, with the squares 4.
        let summary = Summary::trimmed(&[3.0, 1.0, 4.0, 2.0, 1000.0]).unwrap();
        assert_eq!((summary.mean, summary.blocks, summary.freedom), (3.0, 5, 2));
        // Yuen's standard error: the root of the squares over h (h - 1), of h = 3.
        assert!((summary.standard_error() - (4.0_f64 / 6.0).sqrt()).abs() < 1e-12);
        assert_eq!(winsorized(&[3.0, 1.0, 4.0, 2.0, 1000.0]), [3.0, 2.0, 4.0, 2.0, 4.0]);
    }

    #[test]
    fn few_or_undefined_values_have_none() {
        assert_eq!(Summary::trimmed(&[0.1, 0.2]), None);
        assert_eq!(Summary::trimmed(&[0.1, f64::NAN, 0.2, 0.3]), None);
        assert!(winsorized(&[]).is_empty());
        assert_eq!((trimmed_mean(&[]), trimmed_mean(&[7.0])), (0.0, 7.0));
        let alike = Summary::trimmed(&[0.3; 20]).unwrap();
        assert!(alike.sd > 0.0 && alike.sd < 1e-14);
    }

    proptest! {
        #[test]
        fn a_fifth_of_the_values_may_be_anything(
            middle in prop::collection::vec(-1.0..1.0_f64, 18..60),
            far in prop::collection::vec(2.0..1e12_f64, 4),
        ) {
            let with = |scale: f64| -> Summary {
                let far = far.iter().map(|value| scale * value);
                Summary::trimmed(&middle.iter().copied().chain(far).collect::<Vec<_>>()).unwrap()
            };
            prop_assert_eq!(with(1.0), with(1e100));
        }

        #[test]
        fn it_moves_and_scales_with_the_data(
            d in prop::collection::vec(-1.0..1.0_f64, 10..60), shift in -2.0..2.0_f64, scale in 0.1..10.0_f64,
        ) {
            let moved: Vec<f64> = d.iter().map(|value| scale * value + shift).collect();
            let (plain, moved) = (Summary::trimmed(&d).unwrap(), Summary::trimmed(&moved).unwrap());
            prop_assert!((moved.mean - (scale * plain.mean + shift)).abs() < 1e-9);
            prop_assert!((moved.sd - scale * plain.sd).abs() < 1e-9);
        }
    }
}
