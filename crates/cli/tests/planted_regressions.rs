//! No gate over a planted regression passes without a word; all 200 are in `tests/measure`.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests"
)]

mod planted;
mod support;

use planted::{Kind, Verdict, gate};

#[test]
fn no_gate_over_a_regression_of_20_percent_passes_silently() {
    for kind in Kind::PLANTED {
        for number in 0..5 {
            let (verdict, said) = gate(kind, number);
            assert_ne!(verdict, Verdict::Passed, "{kind:?} {number}: {said}");
        }
    }
}

/// Else it would be no wonder that none passes.
#[test]
fn most_gates_over_equal_arms_pass() {
    let passed = (0..8).filter(|number| gate(Kind::Healthy, *number).0 == Verdict::Passed);
    assert!(passed.count() >= 4);
    assert!((0..8).all(|number| gate(Kind::Healthy, number).0 != Verdict::Failed));
}
