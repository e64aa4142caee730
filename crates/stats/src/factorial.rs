//! Computes the cost of each layer and the interactions of pairs.
//!
//! Every quantity is a linear contrast over the arms of one block, fed to the repeated
//! confidence interval like any block difference. The scale is time per I/O (queue depth /
//! throughput, by Little's law): serial layers add there, ratios do not.
//!
//! With up to 3 layers (4 on request) every subset of layers is an arm. Arm `mask` carries
//! layer `i` if bit `i` is set; contrasts are slices of 2^L weights indexed by mask. The cost
//! of a layer depends on the other layers: *first-in* is its cost on the bare stack,
//! *last-in* on the stack of all others, and the *Shapley value* its mean over every order of
//! stacking (Shapley, "A Value for n-Person Games", 1953), the only split that is symmetric
//! and adds up to the cost of the full stack.
//!
//! With more layers, [`Screening`]: bare, full, each alone and each removed.

use std::collections::BTreeSet;

/// Largest number of layers of a full factorial: 2^16 arms are beyond any use.
const MAX_LAYERS: usize = 16;

/// Weights of the full factorial of some layers, one per arm, indexed by mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factorial {
    layers: usize,
}

impl Factorial {
    /// Over `layers` layers; `None` outside 1..=16.
    pub fn new(layers: usize) -> Option<Self> {
        (1..=MAX_LAYERS).contains(&layers).then_some(Self { layers })
    }

    /// Number of layers.
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// Number of arms, 2^layers.
    pub fn arms(&self) -> usize {
        1 << self.layers
    }

    /// The arm with every layer.
    pub fn full(&self) -> usize {
        self.arms() - 1
    }

    /// Shapley value of `layer`: over all subsets `S` without it,
    /// `|S|! (L - |S| - 1)! / L!` times the cost of adding it to `S`.
    pub fn shapley(&self, layer: usize) -> Vec<f64> {
        let bit = self.bit(layer);
        let mut weights = vec![0.0; self.arms()];
        for subset in (0..self.arms()).filter(|mask| mask & bit == 0) {
            // |S|! (L - |S| - 1)! / L! = 1 / (L C(L - 1, |S|))
            let size = subset.count_ones() as usize;
            let share = 1.0 / (self.layers as f64 * binomial(self.layers - 1, size));
            weights[subset | bit] += share;
            weights[subset] -= share;
        }
        weights
    }

    /// Cost of `layer` on the bare stack.
    pub fn first_in(&self, layer: usize) -> Vec<f64> {
        self.difference(self.bit(layer), 0)
    }

    /// Cost of `layer` on top of all others.
    pub fn last_in(&self, layer: usize) -> Vec<f64> {
        self.difference(self.full(), self.full() ^ self.bit(layer))
    }

    /// Interaction of two different layers on the bare stack, `v(ij) - v(i) - v(j) + v(0)`.
    /// About 0: serial. Positive: contended CPU, or a cap counted twice. Negative: the
    /// bottleneck moved.
    pub fn interaction(&self, i: usize, j: usize) -> Vec<f64> {
        assert_ne!(i, j, "a layer does not interact with itself");
        let mut weights = vec![0.0; self.arms()];
        weights[self.bit(i) | self.bit(j)] += 1.0;
        weights[self.bit(i)] -= 1.0;
        weights[self.bit(j)] -= 1.0;
        weights[0] += 1.0;
        weights
    }

    /// Cost of the full stack.
    pub fn total(&self) -> Vec<f64> {
        self.difference(self.full(), 0)
    }

    fn difference(self, with: usize, without: usize) -> Vec<f64> {
        let mut weights = vec![0.0; self.arms()];
        weights[with] += 1.0;
        weights[without] -= 1.0;
        weights
    }

    fn bit(self, layer: usize) -> usize {
        assert!(layer < self.layers, "layer {layer} of {}", self.layers);
        1 << layer
    }
}

/// The screening design for many layers: bare, full, each alone, each removed - at most
/// 2 L + 2 arms. Contrasts are slices of weights in the order of [`Screening::masks`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screening {
    layers: usize,
    masks: Vec<u64>,
}

impl Screening {
    /// Over `layers` layers; `None` outside 1..=63. With one or two layers some of the arms
    /// coincide and are listed once.
    pub fn new(layers: usize) -> Option<Self> {
        if !(1..64).contains(&layers) {
            return None;
        }
        let full = (1_u64 << layers) - 1;
        let alone = (0..layers).map(|i| 1_u64 << i);
        let removed = (0..layers).map(|i| full ^ (1_u64 << i));
        let mut seen = BTreeSet::new();
        let masks =
            [0, full].into_iter().chain(alone).chain(removed).filter(|&m| seen.insert(m)).collect();
        Some(Self { layers, masks })
    }

    /// The arms: bit `i` set means that layer `i` is there. Bare first, then full.
    pub fn masks(&self) -> &[u64] {
        &self.masks
    }

    /// Cost of `layer` on the bare stack.
    pub fn first_in(&self, layer: usize) -> Vec<f64> {
        self.difference(self.bit(layer), 0)
    }

    /// Cost of `layer` on top of all others.
    pub fn last_in(&self, layer: usize) -> Vec<f64> {
        self.difference(self.full(), self.full() ^ self.bit(layer))
    }

    /// Cost of the full stack.
    pub fn total(&self) -> Vec<f64> {
        self.difference(self.full(), 0)
    }

    fn full(&self) -> u64 {
        (1 << self.layers) - 1
    }

    fn bit(&self, layer: usize) -> u64 {
        assert!(layer < self.layers, "layer {layer} of {}", self.layers);
        1 << layer
    }

    fn difference(&self, with: u64, without: u64) -> Vec<f64> {
        let sign = |mask: u64| f64::from(mask == with) - f64::from(mask == without);
        self.masks.iter().map(|&mask| sign(mask)).collect()
    }
}

/// The contrast of one block: `values` and `weights` in the same arm order, in the values'
/// unit. Arms with weight 0 are skipped, so that their failed measurements (NaN) do no harm.
pub fn contrast(values: &[f64], weights: &[f64]) -> f64 {
    assert_eq!(values.len(), weights.len(), "one weight per arm");
    values.iter().zip(weights).filter(|(_, w)| **w != 0.0).map(|(v, w)| v * w).sum()
}

/// The contrast of every block, in block order. Blocks in which it is not finite (a required arm
/// has no value) are left out.
pub fn contrasts<'a>(blocks: impl IntoIterator<Item = &'a [f64]>, weights: &[f64]) -> Vec<f64> {
    blocks.into_iter().map(|values| contrast(values, weights)).filter(|c| c.is_finite()).collect()
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Mean cost of adding each layer, over every order of stacking.
    fn shapley_by_orders(costs: &[f64], layers: usize) -> Vec<f64> {
        fn visit(
            rest: &mut Vec<usize>,
            mask: usize,
            costs: &[f64],
            sums: &mut [f64],
            orders: usize,
        ) {
            for i in 0..rest.len() {
                let layer = rest.remove(i);
                let with = mask | 1 << layer;
                // Each prefix is shared by (remaining)! orders.
                let shared: usize = (1..=rest.len()).product();
                sums[layer] += (costs[with] - costs[mask]) * shared as f64 / orders as f64;
                visit(rest, with, costs, sums, orders);
                rest.insert(i, layer);
            }
        }
        let mut sums = vec![0.0; layers];
        visit(&mut (0..layers).collect(), 0, costs, &mut sums, (1..=layers).product());
        sums
    }

    #[test]
    fn screening_has_two_arms_per_layer_and_two_more() {
        assert_eq!(Screening::new(5).unwrap().masks().len(), 12);
        assert_eq!(Screening::new(3).unwrap().masks(), [0, 7, 1, 2, 4, 6, 5, 3]);
        assert_eq!(Screening::new(2).unwrap().masks(), [0, 3, 1, 2]);
        assert_eq!(Screening::new(1).unwrap().masks(), [0, 1]);
        assert_eq!(Screening::new(0), None);
        assert_eq!(Screening::new(64), None);
        assert_eq!(Factorial::new(0), None);
        assert_eq!(Factorial::new(17), None);
    }

    #[test]
    fn missing_value_spoils_only_the_contrasts_that_need_it() {
        let design = Factorial::new(2).unwrap();
        assert_eq!(design.layers(), 2);
        let blocks = [[10.0, 12.0, f64::NAN, 20.0], [10.0, 13.0, 15.0, 19.0]];
        let of = |weights: Vec<f64>| contrasts(blocks.iter().map(|b| &b[..]), &weights);
        assert_eq!(of(design.total()), [10.0, 9.0]);
        assert_eq!(of(design.first_in(1)), [5.0]);
        assert_eq!(of(design.interaction(0, 1)), [1.0]);
    }

    proptest! {
        #[test]
        fn shapley_values_are_the_mean_over_all_orders_and_add_up(
            layers in 1..6_usize, costs in prop::collection::vec(0.0..100.0_f64, 32),
        ) {
            let design = Factorial::new(layers).unwrap();
            let costs = &costs[..design.arms()];
            let values: Vec<f64> =
                (0..layers).map(|i| contrast(costs, &design.shapley(i))).collect();
            for (value, by_orders) in values.iter().zip(shapley_by_orders(costs, layers)) {
                prop_assert!((value - by_orders).abs() < 1e-9);
            }
            let total = contrast(costs, &design.total());
            prop_assert!((values.iter().sum::<f64>() - total).abs() < 1e-9);
        }

        #[test]
        fn serial_layers_have_one_cost_and_no_interaction(
            layers in 2..6_usize, bare in 1.0..100.0_f64, each in prop::collection::vec(0.0..50.0_f64, 6),
        ) {
            let design = Factorial::new(layers).unwrap();
            let costs: Vec<f64> = (0..design.arms())
                .map(|mask| bare + (0..layers).filter(|i| mask >> i & 1 == 1).map(|i| each[i]).sum::<f64>())
                .collect();
            for (i, own) in each.iter().enumerate().take(layers) {
                for weights in [design.shapley(i), design.first_in(i), design.last_in(i)] {
                    prop_assert!((contrast(&costs, &weights) - own).abs() < 1e-9);
                }
            }
            prop_assert!(contrast(&costs, &design.interaction(0, 1)).abs() < 1e-9);
        }

        #[test]
        fn screening_and_full_factorial_agree_where_both_answer(
            layers in 1..6_usize, costs in prop::collection::vec(0.0..100.0_f64, 32),
        ) {
            let full = Factorial::new(layers).unwrap();
            let screen = Screening::new(layers).unwrap();
            let screened: Vec<f64> =
                screen.masks().iter().map(|&m| costs[usize::try_from(m).unwrap()]).collect();
            let costs = &costs[..full.arms()];
            prop_assert_eq!(contrast(&screened, &screen.total()), contrast(costs, &full.total()));
            for i in 0..layers {
                let both = |a: &[f64], b: &[f64]| (contrast(&screened, a) - contrast(costs, b)).abs() < 1e-9;
                prop_assert!(both(&screen.first_in(i), &full.first_in(i)));
                prop_assert!(both(&screen.last_in(i), &full.last_in(i)));
            }
        }
    }
}
