//! Quantile and p-value of Student's t, based on `statrs`.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The t beyond which a two-sided test at level `p` rejects, with `df` degrees of freedom.
///
/// `df` must be at least 1 and `p` inside (0, 1).
pub fn critical_t(p: f64, df: usize) -> f64 {
    debug_assert!(df >= 1 && p > 0.0 && p < 1.0);
    student(df).inverse_cdf(1.0 - p / 2.0)
}

/// Two-sided p-value of the statistic `t` with `df` degrees of freedom (at least 1).
pub(crate) fn two_sided_p(t: f64, df: usize) -> f64 {
    2.0 * student(df).sf(t.abs())
}

/// Two-sided critical value of the standard normal: the limit of [`critical_t`].
pub(crate) fn critical_z(p: f64) -> f64 {
    Normal::standard().inverse_cdf(1.0 - p / 2.0)
}

/// Critical t from the critical z by the Cornish-Fisher expansion in 1/df
/// (Abramowitz & Stegun 26.7.5, first three terms); from 100 degrees of freedom on it is
/// exact to 1e-5, and cheap enough to search over block counts.
pub(crate) fn critical_t_from_z(z: f64, df: f64) -> f64 {
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * df)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * df * df)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * df.powi(3))
}

fn student(df: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, df as f64).expect("there is at least one degree of freedom")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_and_tail_probability_are_inverse() {
        for df in [1, 2, 3, 9, 39, 159] {
            for p in [0.2, 0.05, 0.007_315, 1e-4, 1e-6] {
                let back = two_sided_p(critical_t(p, df), df);
                assert!((back / p - 1.0).abs() < 1e-9, "df {df}, p {p}: {back}");
            }
        }
    }

    #[test]
    fn each_term_of_the_expansion_counts() {
        let off = critical_t_from_z(critical_z(0.05), 30.0) - critical_t(0.05, 30);
        assert!(off.abs() < 2.5e-6, "{off}");
        assert!((critical_t_from_z(critical_z(0.05), 20.0) - 2.085_953_273_8).abs() < 1e-9);
    }

    #[test]
    fn expansion_meets_the_exact_quantile_from_a_hundred_degrees_on() {
        for p in [0.05, 0.00514, 1e-4] {
            let exact = critical_t(p, 100);
            let fast = critical_t_from_z(critical_z(p), 100.0);
            assert!((fast - exact).abs() < 1e-5, "p {p}: {fast} against {exact}");
        }
    }
}
