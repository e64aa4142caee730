//! Which arm carries which layers, and the contrasts that this allows.

use iotax_stats::factorial::{Factorial, Screening};

/// Weights, one per arm of the experiment in its order.
pub(crate) type Weights = Vec<f64>;

/// The contrasts of a peel.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    /// Names from bottom to top.
    pub layers: Vec<String>,
    /// One per layer.
    pub first_in: Vec<Weights>,
    /// One per layer.
    pub last_in: Vec<Weights>,
    /// One per layer: the Shapley value where every subset is an arm, else the mean of first-in
    /// and last-in, which equals it if layers interact in pairs only.
    pub average: Vec<Weights>,
    /// Whether every subset of layers is an arm.
    pub is_full: bool,
    /// Pairs of layers with their interaction; none in a screening design.
    pub interactions: Vec<Pair>,
    pub total: Weights,
    /// Arm with no layer, arm with all of them.
    pub bare: usize,
    pub full: usize,
    /// Per layer, the arm that lacks only this one.
    pub without: Vec<usize>,
}

/// Two layers, and the arms that tell whether they interact on the bare stack.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub layers: [usize; 2],
    pub weights: Weights,
    /// Arms with the first, with the second, with both.
    pub arms: [usize; 3],
}

impl Layout {
    /// `None` if the arms are neither all subsets nor a screening design.
    pub(crate) fn new(layers: &[String], masks: &[u32]) -> Option<Self> {
        let count = layers.len();
        if count >= 32 {
            return None;
        }
        let arm_of = |mask: u64| masks.iter().position(|m| u64::from(*m) == mask);
        let full_mask = (1_u64 << count) - 1;
        let arms = Arms { masks, arm_of: &arm_of };
        let without = |i: usize| arm_of(full_mask ^ (1 << i));
        let blank = Self {
            layers: layers.to_vec(),
            bare: arm_of(0)?,
            full: arm_of(full_mask)?,
            without: (0..count).map(without).collect::<Option<_>>()?,
            ..Self::default()
        };
        let factorial = Factorial::new(count).filter(|f| masks.len() >= f.arms());
        let subsets: Vec<u64> = (0..=full_mask).take(masks.len()).collect();
        match factorial.filter(|_| subsets.iter().all(|m| arm_of(*m).is_some())) {
            Some(factorial) => blank.of_factorial(factorial, &arms, &subsets),
            None => blank.of_screening(&Screening::new(count)?, &arms),
        }
    }

    fn of_factorial(self, design: Factorial, arms: &Arms<'_>, order: &[u64]) -> Option<Self> {
        let layers = 0..design.layers();
        let each = |weights: &dyn Fn(usize) -> Vec<f64>| {
            layers.clone().map(|i| arms.spread(&weights(i), order)).collect::<Option<Vec<_>>>()
        };
        let pairs = layers.clone().flat_map(|j| (0..j).map(move |i| [i, j]));
        let pair = |[i, j]: [usize; 2]| {
            let (a, b) = (1 << i, 1 << j);
            Some(Pair {
                layers: [i, j],
                weights: arms.spread(&design.interaction(i, j), order)?,
                arms: [(arms.arm_of)(a)?, (arms.arm_of)(b)?, (arms.arm_of)(a | b)?],
            })
        };
        Some(Self {
            first_in: each(&|i| design.first_in(i))?,
            last_in: each(&|i| design.last_in(i))?,
            average: each(&|i| design.shapley(i))?,
            interactions: pairs.map(pair).collect::<Option<_>>()?,
            total: arms.spread(&design.total(), order)?,
            is_full: true,
            ..self
        })
    }

    fn of_screening(self, design: &Screening, arms: &Arms<'_>) -> Option<Self> {
        let order = design.masks();
        let layers = (order.len().checked_sub(2)?) / 2;
        let each = |weights: &dyn Fn(usize) -> Vec<f64>| {
            (0..layers).map(|i| arms.spread(&weights(i), order)).collect::<Option<Vec<_>>>()
        };
        let (first_in, last_in) = (each(&|i| design.first_in(i))?, each(&|i| design.last_in(i))?);
        let mean = |(a, b): (&Weights, &Weights)| -> Weights {
            a.iter().zip(b).map(|(a, b)| f64::midpoint(*a, *b)).collect()
        };
        let average = first_in.iter().zip(&last_in).map(mean).collect();
        let total = arms.spread(&design.total(), order)?;
        Some(Self { first_in, last_in, average, total, ..self })
    }
}

struct Arms<'a> {
    masks: &'a [u32],
    arm_of: &'a dyn Fn(u64) -> Option<usize>,
}

impl Arms<'_> {
    /// Weights given per mask of `order`, put in the order of the experiment's arms.
    fn spread(&self, weights: &[f64], order: &[u64]) -> Option<Weights> {
        let mut spread = vec![0.0; self.masks.len()];
        for (weight, mask) in weights.iter().zip(order) {
            if *weight != 0.0 {
                spread[(self.arm_of)(*mask)?] = *weight;
            }
        }
        Some(spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("l{i}")).collect()
    }

    #[test]
    fn all_subsets_in_any_order_give_shapley_values_and_interactions() {
        let layout = Layout::new(&names(2), &[0, 3, 2, 1]).unwrap();
        assert!(layout.is_full);
        assert_eq!(layout.average[0], [-0.5, 0.5, -0.5, 0.5]);
        assert_eq!(layout.interactions[0].weights, [1.0, 1.0, -1.0, -1.0]);
        assert_eq!(layout.interactions[0].arms, [3, 2, 1]);
        assert_eq!((layout.bare, layout.full, layout.without), (0, 1, vec![2, 3]));
    }

    #[test]
    fn many_layers_are_screened() {
        let masks = [0, 31, 1, 2, 4, 8, 16, 30, 29, 27, 23, 15];
        let layout = Layout::new(&names(5), &masks).unwrap();
        assert!(!layout.is_full && layout.interactions.is_empty());
        assert_eq!(layout.first_in[1].iter().filter(|w| **w != 0.0).count(), 2);
        assert_eq!((layout.first_in[1][3], layout.first_in[1][0]), (1.0, -1.0));
        assert_eq!(layout.average[0][..3], [-0.5, 0.5, 0.5]);
        assert_eq!(layout.without, [7, 8, 9, 10, 11]);
    }

    #[test]
    fn arms_that_are_no_design_are_refused() {
        assert!(Layout::new(&names(2), &[0, 1, 3]).is_none());
        assert!(Layout::new(&names(5), &[0, 31]).is_none());
        assert!(Layout::new(&[], &[0]).is_none());
    }
}
