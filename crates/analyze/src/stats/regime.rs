//! Did a credit burst end in the middle of the run.
//!
//! A burst is itself steady, so no steady-state criterion sees it. What gives it away is a
//! downward step that *all* arms share. The monitor fits, to the log throughput of the trials
//! in time order, `y = arm mean + g [slot >= tau]` for every `tau`; because each arm keeps its
//! own mean, it uses no information about which arm is faster, and dropping blocks on its
//! word does not bias the comparison.
//!
//! A shift among the last blocks leaves few, and may be a hiccup. Nothing is concluded from them:
//! looks that the dropped blocks may have used are not used again, and what was measured before a
//! shift is of a regime that does not last. More blocks tell which it was: `tests/late_shift.rs`.

/// Smallest common ratio that counts as a change of regime.
pub const MIN_RATIO: f64 = 1.25;
/// Times `ln n` is the gain that a step must bring in the Bayesian information criterion
/// (its size, its place, and room for one more).
const PENALTY: f64 = 3.0;

/// One trial, in the order the trials were run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slot {
    /// Block the trial belongs to; never falls from one slot to the next.
    pub block: usize,
    /// Arm, a small number (the monitor keeps one cell for each up to the largest).
    pub arm: usize,
    /// Natural logarithm of the trial's mean throughput.
    pub log_throughput: f64,
}

/// A downward shift shared by all arms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Index of the first trial at the lower level.
    pub slot: usize,
    /// Level before divided by level after.
    pub ratio: f64,
    /// `n ln(RSS_0 / RSS_1)`.
    pub gain: f64,
    /// First block to keep: everything up to and including the block of `slot` is dropped,
    /// since the credit may have run out in the middle of that trial or block.
    pub first_kept_block: usize,
}

/// Finds the least-squares shift and reports it if it is downward, at least [`MIN_RATIO`],
/// and gains at least `3 ln n`. O(trials + arms).
///
/// `None` also when there are too few trials to place a shift (fewer than 4) or any
/// throughput is not finite.
///
/// By the Frisch-Waugh theorem the arm means are removed from both sides first. What remains
/// is a regression on one column, whose inner products change by one term from one `tau` to
/// the next: with `a_k` of the `n_k` trials of arm `k` at or after `tau`,
/// `<step, y> = sum of the residuals from tau on` and
/// `<step, step> = sum_k a_k (1 - a_k / n_k)`.
pub fn common_shift(slots: &[Slot]) -> Option<Shift> {
    let n = slots.len();
    if n < 4 || slots.iter().any(|s| !s.log_throughput.is_finite()) {
        return None;
    }
    let (count, residuals) = remove_arm_means(slots);
    let unshifted: f64 = residuals.iter().map(|r| r * r).sum();
    let mut remaining = count.clone();
    let mut step_squared = 0.0;
    let mut step_dot_y = 0.0;
    let mut best = (0.0, 0, 0.0);
    for (slot, trial) in slots.iter().enumerate().take(n - 1) {
        // `step_*` describe tau = slot: two trials before it at least, two from it on.
        if slot >= 2 && step_squared > 1e-9 {
            let explained = step_dot_y * step_dot_y / step_squared;
            if explained > best.0 {
                best = (explained, slot, step_dot_y / step_squared);
            }
        }
        let (a, n_k) = (remaining[trial.arm], count[trial.arm]);
        step_squared += (a - 1.0) * (1.0 - (a - 1.0) / n_k) - a * (1.0 - a / n_k);
        step_dot_y -= residuals[slot];
        remaining[trial.arm] = a - 1.0;
    }
    let (explained, slot, shift) = best;
    // Noise-free input leaves rounding only: no evidence of anything.
    if unshifted <= 1e-12 {
        return None;
    }
    let gain = n as f64 * (unshifted / (unshifted - explained).max(1e-12)).ln();
    let supported = gain >= PENALTY * (n as f64).ln() && shift < -MIN_RATIO.ln();
    supported.then(|| Shift {
        slot,
        ratio: (-shift).exp(),
        gain,
        first_kept_block: slots[slot].block + 1,
    })
}

/// Trials per arm, and each trial's deviation from its arm's mean.
fn remove_arm_means(slots: &[Slot]) -> (Vec<f64>, Vec<f64>) {
    let arms = slots.iter().map(|s| s.arm + 1).max().unwrap_or(0);
    let mut count = vec![0.0; arms];
    let mut mean = vec![0.0; arms];
    for slot in slots {
        count[slot.arm] += 1.0;
        mean[slot.arm] += (slot.log_throughput - mean[slot.arm]) / count[slot.arm];
    }
    let residuals = slots.iter().map(|s| s.log_throughput - mean[s.arm]).collect();
    (count, residuals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Residual sum of squares of a regression on `columns`, by Gram-Schmidt.
    fn residual_squares(y: &[f64], columns: &[Vec<f64>]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut y = y.to_vec();
        let project_out = |v: &mut Vec<f64>, b: &[f64]| {
            let c = dot(v, b);
            v.iter_mut().zip(b).for_each(|(x, b)| *x -= c * b);
        };
        for column in columns {
            let mut v = column.clone();
            for b in &basis {
                project_out(&mut v, b);
            }
            let norm = dot(&v, &v).sqrt();
            if norm > 1e-6 {
                for x in &mut v {
                    *x /= norm;
                }
                project_out(&mut y, &v);
                basis.push(v);
            }
        }
        dot(&y, &y)
    }

    /// Least residual over every tau, each fitted from scratch.
    fn oracle(slots: &[Slot]) -> (f64, f64) {
        let y: Vec<f64> = slots.iter().map(|s| s.log_throughput).collect();
        let arms = slots.iter().map(|s| s.arm).max().unwrap() + 1;
        let column = |f: &dyn Fn(usize, &Slot) -> bool| -> Vec<f64> {
            slots.iter().enumerate().map(|(i, s)| f64::from(f(i, s))).collect()
        };
        let dummies: Vec<Vec<f64>> = (0..arms).map(|k| column(&|_, s| s.arm == k)).collect();
        let shifted = (2..slots.len() - 1).map(|tau| {
            let mut columns = dummies.clone();
            columns.push(column(&|i, _| i >= tau));
            residual_squares(&y, &columns)
        });
        (residual_squares(&y, &dummies), shifted.fold(f64::INFINITY, f64::min))
    }

    fn run(arms: usize, blocks: usize, level: impl Fn(usize, usize) -> f64) -> Vec<Slot> {
        (0..arms * blocks)
            .map(|i| {
                // A different order in every block, without randomness.
                let (block, arm) = (i / arms, (i + i / arms) % arms);
                Slot { block, arm, log_throughput: level(i, arm).ln() }
            })
            .collect()
    }

    #[test]
    fn end_of_a_burst_is_found_whatever_the_arms_cost() {
        let noise = |i: usize| 1.0 + 0.01 * (i * 7 % 5) as f64;
        let slots = run(3, 8, |i, arm| {
            [100.0, 70.0, 50.0][arm] * noise(i) * if i < 10 { 2.0 } else { 1.0 }
        });
        let shift = common_shift(&slots).unwrap();
        assert_eq!((shift.slot, shift.first_kept_block), (10, 4));
        assert!((shift.ratio - 2.0).abs() < 0.1, "{shift:?}");
    }

    #[test]
    fn upward_small_or_absent_shifts_are_not_reported() {
        let noise = |i: usize| 1.0 + 0.01 * (i * 7 % 5) as f64;
        let stepped = |factor: f64| {
            let slots = run(2, 10, |i, _| noise(i) * if i < 8 { factor } else { 1.0 });
            common_shift(&slots)
        };
        assert_eq!(stepped(0.5), None);
        assert_eq!(stepped(1.15), None);
        assert_eq!(stepped(1.0), None);
        assert!(stepped(1.4).is_some());
        assert_eq!(
            common_shift(&run(2, 10, |_, arm| 1.0 + arm as f64)),
            None,
            "no noise, no shift"
        );
    }

    #[test]
    fn too_few_or_undefined_trials_are_no_evidence() {
        assert_eq!(common_shift(&[]), None);
        assert_eq!(common_shift(&run(1, 3, |i, _| 9.0 - 4.0 * i as f64)), None);
        assert_eq!(common_shift(&run(2, 5, |i, _| if i == 3 { 0.0 } else { 1.0 })), None);
    }

    proptest! {
        #[test]
        fn gain_is_that_of_the_direct_least_squares_fit(
            y in prop::collection::vec((0..4_usize, 0.0..0.3_f64), 4..40),
            at in 0..40_usize, burst in 0.3..1.0_f64,
        ) {
            let slots: Vec<Slot> = y.iter().enumerate().map(|(i, &(arm, noise))| Slot {
                block: i / 4,
                arm,
                log_throughput: noise + arm as f64 - if i >= at { burst } else { 0.0 },
            }).collect();
            let (unshifted, shifted) = oracle(&slots);
            let n = slots.len() as f64;
            let gain = n * (unshifted / shifted.max(1e-12)).ln();
            if let Some(found) = common_shift(&slots) {
                prop_assert!((found.gain - gain).abs() < 1e-6 * gain.max(1.0), "{found:?} {gain}");
            }
        }
    }
}
