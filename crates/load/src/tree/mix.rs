//! What comes next, by weight.

use iotax_experiment::{Operation, Tree};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::slots::Slots;
use crate::engine::below;

/// Draws operations.
pub(super) struct Mix {
    /// Weights added up, in the order of [`Operation::ALL`].
    sums: [u32; 6],
    rng: Xoshiro256PlusPlus,
}

impl Mix {
    /// By the weights of `tree`.
    pub(super) fn new(tree: &Tree, seed: u64) -> Self {
        let mut sum = 0_u32;
        let sums = Operation::ALL.map(|operation| {
            sum = sum.saturating_add(tree.weight(operation));
            sum
        });
        Self { sums, rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The next operation that is possible: where no name is free, a file is deleted instead of
    /// created, and where no file is there, one is created first. With creations as frequent as
    /// deletions that is rare; what was really done is what is counted.
    pub(super) fn next(&mut self, slots: &Slots) -> Operation {
        let drawn = below(self.rng.next_u64(), u64::from(self.sums[5].max(1)));
        let index = self.sums.iter().filter(|sum| u64::from(**sum) <= drawn).count();
        match Operation::ALL[index.min(5)] {
            Operation::Create | Operation::Rename if slots.free() == 0 => Operation::Delete,
            Operation::Stat | Operation::Open | Operation::Rename | Operation::Delete
                if slots.there() == 0 =>
            {
                Operation::Create
            }
            possible => possible,
        }
    }

    /// A random number for whom an operation meets.
    pub(super) fn random(&mut self) -> u64 {
        self.rng.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::OperationShare;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn operations_come_in_their_proportions(
            weights in prop::array::uniform6(0..50u32), seed in any::<u64>()
        ) {
            prop_assume!(weights.iter().sum::<u32>() > 0);
            let operations = Operation::ALL
                .iter()
                .zip(weights)
                .map(|(&operation, weight)| OperationShare { operation, weight })
                .collect();
            let tree = Tree { operations, ..Tree::default() };
            let (mut mix, slots) = (Mix::new(&tree, seed), Slots::new(10, 5));
            let mut counts = [0_u32; 6];
            for _ in 0..20_000 {
                let drawn = mix.next(&slots);
                counts[Operation::ALL.iter().position(|known| *known == drawn).unwrap()] += 1;
            }
            let sum: u32 = weights.iter().sum();
            for (count, weight) in counts.iter().zip(weights) {
                // Six standard deviations of a share of 20,000 draws are 2.1 points at most.
                let share = f64::from(*count) / 20_000.0;
                prop_assert!((share - f64::from(weight) / f64::from(sum)).abs() < 0.022);
            }
        }
    }

    #[test]
    fn what_cannot_be_done_is_replaced() {
        let shares = [(Operation::Create, 1), (Operation::Delete, 1)];
        let operations =
            shares.map(|(operation, weight)| OperationShare { operation, weight }).into();
        let mut mix = Mix::new(&Tree { operations, ..Tree::default() }, 1);
        for _ in 0..100 {
            assert_eq!(mix.next(&Slots::new(4, 4)), Operation::Delete);
            assert_eq!(mix.next(&Slots::new(4, 0)), Operation::Create);
        }
    }
}
