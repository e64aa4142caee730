//! What most slices agree on, where rare ones keep the primary metric undecided.

use iotax_experiment::{Stop, StopMode};
use iotax_stats::sequential::StopReason;
use iotax_stats::verdict::Verdict;

use crate::analysis::Comparison;
use crate::conclude::Conclusion;
use crate::metrics::Role;

/// The run waits for the primary metric if it needs at most this multiple of the blocks run so far:
/// where most slices differ, and where they are alike.
const WAITED_FOR: [u32; 2] = [3, 10];

fn stands_in(conclusion: &Conclusion) -> bool {
    conclusion.comparison.metric.role() == Role::StandsIn
}

/// Whether what stands in for the primary metric has what the mode asks for, and the primary one
/// probably takes much longer. `metrics`: the conclusions on one subject, the primary metric first.
/// That most slices are alike ends a quick run alone: what the rare ones do may be what was asked.
pub(crate) fn has_the_last_word(metrics: &[Conclusion], stop: &Stop) -> bool {
    let Some(primary) = metrics.first().map(|conclusion| &conclusion.comparison) else {
        return false;
    };
    let is_far = |times: u32| {
        primary.blocks_needed.is_none_or(|needed| needed > times.saturating_mul(primary.blocks))
    };
    let [to_differ, to_be_alike] = WAITED_FOR;
    let is_enough = |c: &Conclusion| {
        let is_signed = c.comparison.verdict.is_signed();
        let is_alike = c.comparison.verdict.is_decided() && stop.mode == StopMode::Quick;
        c.decision.stop == Some(StopReason::GoalReached)
            && (is_signed && is_far(to_differ) || is_alike && is_far(to_be_alike))
    };
    primary.verdict == Verdict::Undecided && metrics.iter().any(|c| stands_in(c) && is_enough(c))
}

/// Leaves out what stands in for a primary metric and says nothing else than that.
pub(crate) fn leave_out_what_agrees(conclusions: &mut Vec<Conclusion>, margin: f64) {
    let says_more: Vec<bool> = conclusions
        .iter()
        .map(|conclusion| {
            let c = &conclusion.comparison;
            let mut all = conclusions.iter().map(|other| &other.comparison);
            let primary = all.find(|other| other.subject == c.subject);
            !stands_in(conclusion) || primary.is_some_and(|primary| differ(primary, c, margin))
        })
        .collect();
    let mut says_more = says_more.into_iter();
    conclusions.retain(|_| says_more.next() == Some(true));
}

/// Whether most slices say something else than all of them: another word, or another size for sure.
fn differ(all: &Comparison, most: &Comparison, margin: f64) -> bool {
    let ends = |c: &Comparison| c.lo.zip(c.hi);
    let is_apart = |((lo, hi), (least, greatest)): ((f64, f64), (f64, f64))| {
        (lo - greatest).max(least - hi) > margin
    };
    most.verdict.is_decided()
        && (most.verdict != all.verdict || ends(all).zip(ends(most)).is_some_and(is_apart))
}

#[cfg(test)]
mod tests {
    use iotax_experiment::Subject;
    use iotax_stats::sequential::Decision;

    use super::*;
    use crate::metrics::Metric;

    fn of(metric: Metric, verdict: Verdict, [lo, hi]: [f64; 2]) -> Conclusion {
        let comparison = Comparison {
            verdict,
            tax: Some(f64::midpoint(lo, hi)),
            lo: Some(lo),
            hi: Some(hi),
            blocks: 100,
            ..Comparison::new(Subject::Arm("b".into()), metric)
        };
        let stop = verdict.is_decided().then_some(StopReason::GoalReached);
        let decision = Decision::without_size(100, verdict, stop);
        Conclusion { decision, ..Conclusion::example(comparison) }
    }

    #[test]
    fn most_slices_end_a_run_whose_rare_ones_would_take_much_longer() {
        let ends = |mode, most, needed| {
            let mut all = of(Metric::Throughput, Verdict::Undecided, [-0.2, 0.4]);
            all.comparison.blocks_needed = needed;
            let both = [all, of(Metric::TrimmedThroughput, most, [0.08, 0.12])];
            has_the_last_word(&both, &Stop { mode, ..Stop::default() })
        };
        let (quick, usual) = (StopMode::Quick, StopMode::Default);
        assert!(ends(usual, Verdict::Slower, None) && ends(usual, Verdict::Slower, Some(301)));
        assert!(!ends(usual, Verdict::Slower, Some(300)), "it is waited for");
        assert!(!ends(quick, Verdict::Undecided, None));
        assert!(ends(quick, Verdict::Equivalent, None) && !ends(usual, Verdict::Equivalent, None));
        assert!(!ends(quick, Verdict::Equivalent, Some(1000)));
        assert!(ends(quick, Verdict::Equivalent, Some(1001)));
        assert!(!has_the_last_word(&[], &Stop::default()));
    }

    #[test]
    fn what_says_the_same_is_left_out() {
        let left = |all: Conclusion, most: Conclusion| {
            let mut both = vec![all, most];
            leave_out_what_agrees(&mut both, 0.05);
            both.len()
        };
        let all = |verdict, ends| of(Metric::Throughput, verdict, ends);
        let most = |verdict, ends| of(Metric::TrimmedThroughput, verdict, ends);
        let slower = || most(Verdict::Slower, [0.08, 0.12]);
        assert_eq!(left(all(Verdict::Undecided, [-0.2, 0.4]), slower()), 2);
        assert_eq!(left(all(Verdict::Slower, [0.07, 0.15]), slower()), 1);
        assert_eq!(left(all(Verdict::Slower, [0.2, 0.3]), slower()), 2, "rare ones carry the rest");
        assert_eq!(
            left(all(Verdict::Undecided, [-0.2, 0.4]), most(Verdict::Undecided, [-0.1, 0.1])),
            1
        );
    }
}
