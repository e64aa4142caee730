//! Trials that gave nothing: they failed, or are results that completed nothing. Why they are
//! missing may well have to do with how fast they would have been, so those that are left are no
//! sample of all.
//!
//! A verdict stands if it would stand with every missing trial counted as one in which its side did
//! nothing: the mean rate of an arm that lost a share `m` of its trials is then lower by that
//! share. That bounds the harm from below alone, so beyond [`MOST`] no verdict stands.

use iotax_stats::rci::Interval;
use iotax_stats::sequential::StopReason;
use iotax_stats::verdict::Verdict;

use crate::analysis::{Missing, TrialOutcome};
use crate::conclude::Conclusion;
use crate::facts::TrialFacts;
use crate::metrics::Better;

/// Share of an arm's trials beyond which those that are left say nothing of all.
pub(crate) const MOST: f64 = 0.2;

impl Missing {
    /// Of one arm beside none.
    pub(crate) fn of_arm<'a>(trials: impl Iterator<Item = &'a TrialFacts>) -> Option<Self> {
        let [arm, of_arm] = counted(trials);
        let missing = Self { arm, of_arm, base: 0, of_base: 0, decides: false };
        (arm > 0).then_some(missing)
    }

    /// Shares of the trials of the arm and of its baseline.
    fn shares(&self) -> [f64; 2] {
        let share = |missing: u32, of: u32| f64::from(missing) / f64::from(of.max(1));
        [share(self.arm, self.of_arm), share(self.base, self.of_base)]
    }

    /// Whether those that are left cannot stand for all.
    pub(crate) fn are_too_many(&self) -> bool {
        self.shares().into_iter().any(|share| share > MOST)
    }

    /// How much lower a mean rate of the arm is with its missing trials in it, as a logarithm.
    pub(crate) fn log_loss(&self) -> f64 {
        -(-self.shares()[0]).ln_1p()
    }

    /// A cost, if either side had done nothing in its missing trials.
    pub(crate) fn widen(&self, cost: Interval, better: Better) -> Interval {
        let [arm, base] = self.shares();
        let (slow, fast) = match better {
            Better::Higher => (1.0 - cost.hi, 1.0 - cost.lo),
            Better::Lower => (1.0 / (1.0 + cost.hi), 1.0 / (1.0 + cost.lo)),
        };
        let of_speed = |speed: f64| match better {
            Better::Higher => 1.0 - speed,
            Better::Lower => 1.0 / speed - 1.0,
        };
        let (hi, lo) = (of_speed(slow * (1.0 - arm)), of_speed(fast / (1.0 - base)));
        Interval { mean: cost.mean, lo, hi }
    }
}

/// How many trials of an arm are missing, and how many there are with them.
fn counted<'a>(trials: impl Iterator<Item = &'a TrialFacts>) -> [u32; 2] {
    // What held the load generator up has nothing to do with how fast an arm is.
    let counts = |trial: &&TrialFacts| {
        !matches!(trial.outcome, TrialOutcome::Interrupted | TrialOutcome::Paused)
    };
    trials
        .filter(counts)
        .fold([0, 0], |[missing, of], trial| [missing + u32::from(!trial.usable), of + 1])
}

/// Says of each conclusion what is missing, and takes back what does not stand.
pub(crate) fn withhold(
    conclusions: &mut [Conclusion],
    trials: &[TrialFacts],
    names: &[String],
    margin: f64,
) {
    let of_arm = |arm: usize| counted(trials.iter().filter(|trial| trial.arm == Some(arm)));
    let each: Vec<[u32; 2]> = (0..names.len()).map(of_arm).collect();
    if each.iter().all(|[missing, _]| *missing == 0) {
        return;
    }
    let at = |name: &str| names.iter().position(|own| own == name);
    // Of a layer, or of several others, the arm that lost the most.
    let worst = |except: Option<usize>| {
        let others = each.iter().enumerate().filter(|(arm, _)| Some(*arm) != except);
        let share = |[missing, of]: &[u32; 2]| f64::from(*missing) / f64::from((*of).max(1));
        others.map(|(_, of)| *of).max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or_default()
    };
    for conclusion in conclusions {
        let own = conclusion.comparison.subject.arm().and_then(at);
        let base = match &conclusion.comparison.against {
            Some(against) => against.arm().and_then(at),
            None => own.map(|_| 0),
        };
        let [arm, of_arm] = own.map_or_else(|| worst(None), |arm| each[arm]);
        let [base, of_base] = base.map_or_else(|| worst(own), |base| each[base]);
        if arm + base > 0 {
            conclusion.miss(Missing { arm, of_arm, base, of_base, decides: false }, margin);
        }
    }
}

impl Conclusion {
    fn miss(&mut self, missing: Missing, margin: f64) {
        let comparison = &mut self.comparison;
        let cost = self.decision.cost.filter(|_| comparison.lo.is_some());
        let widened = cost.map(|cost| missing.widen(cost, comparison.metric.better()));
        let stands = widened.is_none_or(|cost| Verdict::of(&cost, margin) == comparison.verdict);
        let decides = match comparison.verdict {
            Verdict::Undecided => missing.are_too_many(),
            word => word.is_decided() && (missing.are_too_many() || !stands),
        };
        comparison.missing = Some(Missing { decides, ..missing });
        if decides {
            comparison.verdict = Verdict::Undecided;
            comparison.sign = None;
            comparison.holds_after_holm = false;
            // More trials may be had, and make those that are missing few.
            self.decision.stop = self.decision.stop.filter(|stop| *stop != StopReason::GoalReached);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(arm: u32, base: u32) -> Missing {
        Missing { arm, of_arm: 20, base, of_base: 20, decides: false }
    }

    #[test]
    fn what_is_missing_counts_as_nothing_done() {
        let cost = Interval { mean: 0.0, lo: -0.01, hi: 0.01 };
        let wide = missing(1, 1).widen(cost, Better::Higher);
        assert!((wide.hi - (1.0 - 0.99 * 0.95)).abs() < 1e-12, "{wide:?}");
        assert!((wide.lo - (1.0 - 1.01 / 0.95)).abs() < 1e-12, "{wide:?}");
        // The same speeds as times.
        let times = Interval { mean: 0.0, lo: 1.0 / 1.01 - 1.0, hi: 1.0 / 0.99 - 1.0 };
        let wide_times = missing(1, 1).widen(times, Better::Lower);
        assert!((1.0 / (1.0 + wide_times.hi) - 0.99 * 0.95).abs() < 1e-12, "{wide_times:?}");
        assert!((1.0 / (1.0 + wide_times.lo) - 1.01 / 0.95).abs() < 1e-12, "{wide_times:?}");
        let same = missing(0, 0).widen(cost, Better::Higher);
        assert!((same.lo - cost.lo).abs() + (same.hi - cost.hi).abs() < 1e-12, "{same:?}");
        assert!((missing(1, 0).log_loss() + 0.95_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn more_than_a_fifth_are_too_many_on_either_side() {
        assert!(!missing(4, 4).are_too_many());
        assert!(missing(5, 0).are_too_many() && missing(0, 5).are_too_many());
    }
}
