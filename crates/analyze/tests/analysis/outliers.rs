//! Many arms: which of them are slower than such arms are.

use iotax_analyze::Outliers;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::support::Bed;

/// Healthy arms differ by 2 %, trials of one by 5 %.
fn fleet(arms: usize, slow: &[usize], seed: u64) -> Option<Outliers> {
    let names: Vec<String> = (0..arms).map(|arm| format!("node-{arm}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut bed = Bed::compare(&names).seed(seed);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed + 1000);
    let rates: Vec<f64> = (0..arms)
        .map(|arm| {
            let z: f64 = StandardNormal.sample(&mut rng);
            1000.0 * (0.02 * z).exp() * if slow.contains(&arm) { 0.75 } else { 1.0 }
        })
        .collect();
    let trials = bed.blocks(8, &rates, 0.05);
    bed.analyze(&trials).analysis.outliers
}

fn named(found: &Outliers) -> Vec<&str> {
    let mut names: Vec<&str> = found.slow.iter().map(|slow| slow.arm.as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
fn two_slow_arms_of_fifty_are_named_and_nobody_else() {
    let found = fleet(50, &[11, 42], 1).unwrap();
    assert_eq!(named(&found), ["node-11", "node-42"]);
    let slow = &found.slow[0];
    assert!(0.15 < slow.shrunken && slow.shrunken < slow.tax && slow.tax < 0.32, "{slow:?}");
    assert!((found.median / 1000.0 - 1.0).abs() < 0.02, "{found:?}");
    assert_eq!((found.arms, found.left_out.len()), (50, 0));
    let others: Vec<&str> = found.others.iter().map(|other| other.arm.as_str()).collect();
    assert_eq!(others.len(), 48);
    assert!(!others.contains(&"node-11") && others.contains(&"node-12"));
    assert!(found.others.iter().all(|other| other.tax.abs() < 0.15), "{:?}", found.others);
    let worse = found.others.iter().filter(|other| other.tax > 0.0).count();
    assert!((15..=30).contains(&worse), "the median arm has arms on both sides: {worse}");
}

#[test]
fn few_arms_are_no_population() {
    assert_eq!(fleet(19, &[3], 1), None);
}

/// Of 20 fleets without a slow arm, at most one may name somebody.
#[test]
fn nobody_is_named_among_equals() {
    let named = (0..20).filter(|seed| !fleet(50, &[], *seed).unwrap().slow.is_empty());
    let named = named.count();
    assert!(named <= 1, "{named} of 20");
}
