//! Trials with too few operations for a percentile of their own: a closed loop in which most
//! operations take half a millisecond, and some, in runs, twice the limit.

use iotax_stats::design::Design;
use iotax_stats::gate::{Outcome, bounds};
use iotax_stats::tail::{Exceedances, most_beyond};
use rand::RngExt as _;

use crate::simulation::{Rng, normal};

const USUAL_MS: f64 = 0.5;
const LATE_MS: f64 = 20.0;
const LIMIT_MS: f64 = 10.0;
const QUANTILE: f64 = 0.99;
const ALPHA: f64 = 0.05;
const MOST_TRIALS: usize = 40;

/// How operations come to be late.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stalls {
    /// Length of a trial, in milliseconds.
    pub trial_ms: f64,
    /// Share of the operations that are late, on average over the trials.
    pub late: f64,
    /// Late operations in a row.
    pub run: u32,
    /// Standard deviation of the logarithm of a trial's share.
    pub spread: f64,
}

impl Stalls {
    /// Whether the rule `p99 > 10ms` passes at some look of a run, and after how many trials.
    pub(crate) fn passes(&self, rng: &mut Rng) -> Option<usize> {
        let design = Design::with_max_blocks(MOST_TRIALS);
        let (mut trials, mut excesses) = (Vec::new(), Vec::new());
        // A stall may go on into the next trial.
        let mut left = 0;
        for count in 1..=MOST_TRIALS {
            let factor = (self.spread * normal(rng) - self.spread * self.spread / 2.0).exp();
            // Stalls begin only between stalls.
            let share = (self.late * factor).min(0.5);
            let begins = share / (1.0 - share) / f64::from(self.run);
            let (mut spent_ms, mut late, mut all) = (0.0, 0, 0_u64);
            while spent_ms < self.trial_ms {
                if left == 0 && rng.random::<f64>() < begins {
                    left = self.run;
                }
                spent_ms += if left > 0 { LATE_MS } else { USUAL_MS };
                late += u64::from(left > 0);
                left = left.saturating_sub(1);
                all += 1;
            }
            trials.push(Exceedances { beyond: late, operations: all });
            // The p99 of the trial.
            let is_late = late as f64 > (1.0 - QUANTILE) * all as f64;
            let p99_ms = if is_late { LATE_MS } else { USUAL_MS };
            excesses.push((p99_ms / LIMIT_MS).ln() + 0.05 * normal(rng));
            if !design.is_look(count) {
                continue;
            }
            let outcome = bounds(&excesses, design, ALPHA).map(|all| Outcome::of(&all, 0.0));
            match outcome {
                Some(Outcome::Fail) => return None,
                Some(Outcome::Pass) if most_beyond(&trials, 1, design, ALPHA) < 1.0 - QUANTILE => {
                    return Some(count);
                }
                _ => {}
            }
        }
        None
    }
}
