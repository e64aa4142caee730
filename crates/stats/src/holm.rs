//! Several arms against one baseline: Holm's step-down procedure.
//!
//! Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J. Statist. 6
//! (1979). With sequential p-values, it controls the family-wise error at every stopping
//! time. Arms may be dropped as soon as they are resolved; a dropped arm keeps its p-value
//! and its place in the family.

/// Holm-adjusted p-values, in the order of `p`: arm `k` differs at family level `alpha`
/// exactly when its adjusted value is at most `alpha`. A NaN counts as 1.
pub fn adjusted(p: &[f64]) -> Vec<f64> {
    let p: Vec<f64> = p.iter().map(|&v| if v.is_nan() { 1.0 } else { v }).collect();
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, k) in ascending(&p).into_iter().enumerate() {
        largest = largest.max(p[k] * (p.len() - rank) as f64).min(1.0);
        adjusted[k] = largest;
    }
    adjusted
}

/// Indices rejected at family level `alpha`, most significant first.
pub fn rejected(p: &[f64], alpha: f64) -> Vec<usize> {
    let adjusted = adjusted(p);
    ascending(p).into_iter().filter(|&k| adjusted[k] <= alpha).collect()
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Closed testing with Bonferroni: `k` is rejected if every subset that holds it has
    /// some p at most alpha / size. Exponential, and the definition Holm shortens.
    fn closed_testing(p: &[f64], alpha: f64) -> Vec<usize> {
        let significant = |subset: u32| {
            let members = || (0..p.len()).filter(move |k| subset >> k & 1 == 1);
            members().any(|k| p[k] * f64::from(subset.count_ones()) <= alpha)
        };
        (0..p.len())
            .filter(|k| (1_u32..1 << p.len()).filter(|s| s >> k & 1 == 1).all(significant))
            .collect()
    }

    #[test]
    fn a_missing_p_value_is_no_evidence_and_an_empty_family_has_no_members() {
        assert_eq!(adjusted(&[f64::NAN, 0.01]), [1.0, 0.02]);
        assert_eq!(rejected(&[f64::NAN, 0.01], 0.05), [1]);
        assert!(adjusted(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn agrees_with_closed_testing(
            p in prop::collection::vec(prop_oneof![0.0..0.06_f64, 0.0..1.0_f64], 1..7),
            alpha in 0.01..0.2_f64,
        ) {
            let mut fast = rejected(&p, alpha);
            fast.sort_unstable();
            prop_assert_eq!(fast, closed_testing(&p, alpha));
        }

        #[test]
        fn adjusted_values_keep_the_order_and_never_shrink(p in prop::collection::vec(0.0..1.0_f64, 1..9)) {
            let adjusted = adjusted(&p);
            for (i, a) in p.iter().enumerate() {
                prop_assert!(adjusted[i] >= *a && adjusted[i] <= 1.0);
                for (j, b) in p.iter().enumerate() {
                    prop_assert!(a >= b || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }
}
