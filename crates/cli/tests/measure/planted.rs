//! 200 gates over a planted regression of 20 %: how many fail, and how many pass without a word;
//! and 50 over equal arms.

use std::collections::BTreeMap;

use crate::planted_gates::{Kind, Verdict, gate};

/// Of each kind.
const GATES: u64 = 50;

#[test]
fn no_gate_of_200_over_a_planted_regression_passes_silently() {
    let mut counts: BTreeMap<(Kind, Verdict), u32> = BTreeMap::new();
    let mut silent = Vec::new();
    for kind in Kind::PLANTED.into_iter().chain([Kind::Healthy]) {
        for number in 0..GATES {
            let (verdict, said) = gate(kind, number);
            *counts.entry((kind, verdict)).or_default() += 1;
            if verdict == Verdict::Passed && kind != Kind::Healthy {
                silent.push(format!("{kind:?} {number}: {said}"));
            }
        }
    }
    for ((kind, verdict), count) in &counts {
        eprintln!("{kind:?}: {verdict}: {count} of {GATES}");
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}
