//! From equal throughput and the answer of each arm to its depth to the word `masked`.

use iotax_experiment::Subject;
use iotax_stats::verdict::Verdict;

use crate::analysis::{ArmDepths, Cap, Comparison, DepthResponse, Estimate};
use crate::conclude::Conclusion;
use crate::masked::DepthCheck;
use crate::masked::depths::{Level, interval};
use crate::metrics::{Metric, Trait};

/// Share of the cap from which on an arm sits on it.
const ON_CAP: f64 = 0.95;

/// Whether a cap may be behind the comparison.
pub(super) fn candidates(comparison: &Comparison) -> bool {
    // An interaction compares differences: a cap hides the layers themselves first.
    comparison.metric.has(Trait::Capped) && !comparison.subject.is_interaction()
}

/// Whether a cap may be why the arm is not slower: it is equal, or its interval leaves no `room`
/// for a tax that breaks a rule.
pub(super) fn may_be_masked(conclusion: &Conclusion, room: f64) -> bool {
    let comparison = &conclusion.comparison;
    let hi = conclusion.bounds.map(|bounds| bounds.cost.hi).or(comparison.hi);
    let is_open = comparison.verdict == Verdict::Undecided && hi.is_some_and(|hi| hi < room);
    candidates(comparison) && (comparison.verdict == Verdict::Equivalent || is_open)
}

impl DepthCheck<'_> {
    /// Turns `equivalent` into `masked` where every arm of the comparison sits on a plateau that
    /// this machine did not set. `arms`: how each answers to its depth.
    pub(crate) fn mask(&self, conclusions: &mut [Conclusion], arms: &[ArmDepths]) {
        let on_plateau =
            |arm: &usize| arms.get(*arm).is_some_and(|arm| arm.response == DepthResponse::Plateau);
        for conclusion in conclusions {
            let involved = involved(&conclusion.comparison, self.names);
            // Whatever throughput says: a cap sets the median.
            let c = &conclusion.comparison;
            let is_open = matches!(c.verdict, Verdict::Equivalent | Verdict::Undecided);
            if (may_be_masked(conclusion, self.method.margin) || c.metric == Metric::P50 && is_open)
                && !involved.is_empty()
                && involved.iter().all(on_plateau)
                && let Some(cap) = cap(&involved, self.levels)
            {
                conclusion.comparison.mask(cap);
            }
        }
    }
}

/// With one I/O in flight an arm may still reach the cap: equal again, for the same reason.
pub(crate) fn even_one_at_a_time(comparisons: &mut [Comparison], cap: &Cap) {
    for comparison in comparisons.iter_mut().filter(|c| candidates(c)) {
        let reaches = |iops: Option<f64>| iops.is_some_and(|iops| iops >= ON_CAP * cap.iops.value);
        if comparison.verdict == Verdict::Equivalent
            && reaches(comparison.base)
            && reaches(comparison.with)
        {
            comparison.mask(*cap);
        }
    }
    hide_typical(comparisons.iter_mut());
}

/// In a closed loop a cap sets the median, too: as many I/Os are in flight, and no more complete.
/// So where throughput is masked, a median that shows no difference is, too; where a depth check
/// showed that throughput is another one by now, so may be the median.
pub(crate) fn hide_typical<'a>(comparisons: impl Iterator<Item = &'a mut Comparison>) {
    let mut all: Vec<&mut Comparison> = comparisons.collect();
    let is_hidden = |c: &Comparison| {
        let is_another = c.change.is_some_and(|change| change.in_depth_check);
        candidates(c) && (c.verdict == Verdict::Masked || is_another)
    };
    let hidden: Vec<(Subject, Option<Cap>)> =
        all.iter().filter(|c| is_hidden(c)).map(|c| (c.subject.clone(), c.cap)).collect();
    for typical in all.iter_mut().filter(|c| c.metric.is_typical()) {
        match hidden.iter().find(|(subject, _)| *subject == typical.subject) {
            Some((_, Some(cap))) if !typical.verdict.is_signed() => typical.mask(*cap),
            Some((_, None)) => typical.become_another(),
            _ => {}
        }
    }
}

impl Comparison {
    fn mask(&mut self, cap: Cap) {
        self.verdict = Verdict::Masked;
        self.sign = None;
        self.holds_after_holm = false;
        self.cap = Some(cap);
    }
}

/// The arms that a comparison rests on: the baseline and the arm, the bare and the full stack, or,
/// for a layer of a peel, all of them.
pub(crate) fn involved(comparison: &Comparison, names: &[String]) -> Vec<usize> {
    let last = names.len().saturating_sub(1);
    match &comparison.subject {
        Subject::Arm(arm) => {
            let arm = names.iter().position(|name| name == arm);
            arm.map_or_else(|| (0..names.len()).collect(), |arm| vec![0, arm])
        }
        Subject::Total => vec![0, last],
        Subject::Layer(_) | Subject::Interaction(_) | Subject::Level(_) => {
            (0..names.len()).collect()
        }
    }
}

/// The level at the depth of the comparison: the geometric mean over the trials of these arms.
fn cap(arms: &[usize], levels: &[Vec<Level>]) -> Option<Cap> {
    let own = || {
        let of_arms = arms.iter().filter_map(|arm| levels.get(*arm)).flatten();
        of_arms.filter(|level| level.is_own).flat_map(|level| &level.trials)
    };
    let iops = interval(&own().map(|trial| trial.1.ln()).collect::<Vec<_>>())?;
    let bytes = interval(&own().map(|trial| trial.2.ln()).collect::<Vec<_>>())?;
    let iops = Estimate { value: iops.mean.exp(), lo: iops.lo.exp(), hi: iops.hi.exp() };
    Some(Cap { iops, bytes_per_s: bytes.mean.exp() })
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Spec, Stop, Target, Workload};

    use super::*;
    use crate::analysis::EffectChange;
    use crate::blocks::Blocks;
    use crate::method::Method;

    fn comparison(verdict: Verdict) -> Comparison {
        Comparison::example(verdict, Subject::Arm("b".to_owned()))
    }

    /// The verdict on `comparison` where the arms `a`, `b` and `c` answer to their depths so.
    fn judged(comparison: Comparison, responses: [DepthResponse; 3]) -> Comparison {
        let names = ["a", "b", "c"].map(str::to_owned);
        let trials = (0..4).map(|block| (block, 4000.0, 16_384_000.0, 2e6)).collect();
        let level = Level { in_flight: 8, is_own: true, trials, busy: None };
        let levels = [vec![level.clone()], vec![level.clone()], vec![level]];
        let arm =
            |response| ArmDepths { arm: String::new(), response, busy: None, levels: Vec::new() };
        let target = Target::parse("mem(size=1M)").unwrap();
        let stop = Stop { margin: 0.05, ..Stop::default() };
        let workload = Workload::preset("randread-4k").unwrap();
        let spec = Spec::single(workload, Arm::new("a", target), stop, 1).unwrap();
        let mut conclusion = Conclusion::example(comparison);
        let check = DepthCheck {
            names: &names,
            method: &Method::new(&spec),
            blocks: &Blocks::new(&[], names.len(), |_| true),
            levels: &levels,
            room: 0.05,
        };
        check.mask(std::slice::from_mut(&mut conclusion), &responses.map(arm));
        conclusion.comparison
    }

    use DepthResponse::{LocalBottleneck, Plateau, Scales};

    #[test]
    fn equal_arms_that_both_sit_on_a_plateau_are_masked() {
        let found = judged(comparison(Verdict::Equivalent), [Plateau, Plateau, Scales]);
        assert_eq!((found.verdict, found.sign), (Verdict::Masked, None));
        assert!(!found.holds_after_holm, "nothing holds without a verdict");
        assert_eq!(found.cap.map(|cap| cap.iops.value.round()), Some(4000.0));
        assert_eq!(found.cap.map(|cap| cap.bytes_per_s.round()), Some(16_384_000.0));
    }

    #[test]
    fn one_arm_below_a_cap_or_on_a_busy_cpu_masks_nothing() {
        for other in [Scales, LocalBottleneck, DepthResponse::Unclear, DepthResponse::NotReached] {
            let equal = comparison(Verdict::Equivalent);
            let found = judged(equal, [Plateau, other, Plateau]);
            assert_eq!((found.verdict, found.cap), (Verdict::Equivalent, None), "{other:?}");
        }
    }

    #[test]
    fn arms_on_different_caps_differ_and_are_not_masked() {
        for verdict in [Verdict::Slower, Verdict::Faster, Verdict::Undecided] {
            let wide = Comparison { hi: Some(0.1), ..comparison(verdict) };
            let found = judged(wide, [Plateau; 3]);
            assert_eq!((found.verdict, found.cap), (verdict, None));
        }
        // No room for a tax of the margin: the cap may be why.
        let kept = comparison(Verdict::Undecided);
        assert_eq!(judged(kept, [Plateau; 3]).verdict, Verdict::Masked);
    }

    #[test]
    fn a_layer_rests_on_all_arms_of_a_peel_and_the_total_on_two() {
        let of = |subject| Comparison::example(Verdict::Equivalent, subject);
        let layer = |name: &str| Subject::Layer(name.to_owned());
        let pair = Subject::Interaction(["aes", "queue"].map(str::to_owned));
        let responses = [Plateau, Scales, Plateau];
        assert_eq!(judged(of(Subject::Total), responses).verdict, Verdict::Masked);
        assert_eq!(judged(of(layer("aes")), responses).verdict, Verdict::Equivalent);
        assert_eq!(judged(of(layer("total")), responses).verdict, Verdict::Equivalent);
        assert_eq!(judged(of(layer("aes x queue")), [Plateau; 3]).verdict, Verdict::Masked);
        assert_eq!(judged(of(pair), [Plateau; 3]).verdict, Verdict::Equivalent);
    }

    #[test]
    fn where_throughput_is_masked_an_equal_median_is_too() {
        let hidden = |rate: Comparison, verdict| {
            let typical = Comparison { metric: Metric::P50, ..comparison(verdict) };
            let mut both = [rate, typical];
            hide_typical(both.iter_mut());
            both[1].verdict
        };
        let iops = Estimate { value: 4000.0, lo: 3990.0, hi: 4010.0 };
        let cap = Some(Cap { iops, bytes_per_s: 1.6e7 });
        let masked = || Comparison { cap, ..comparison(Verdict::Masked) };
        assert_eq!(hidden(masked(), Verdict::Equivalent), Verdict::Masked);
        assert_eq!(hidden(masked(), Verdict::Undecided), Verdict::Masked);
        // What was found was found in spite of the cap.
        assert_eq!(hidden(masked(), Verdict::Slower), Verdict::Slower);
        assert_eq!(
            hidden(comparison(Verdict::Equivalent), Verdict::Equivalent),
            Verdict::Equivalent
        );
        let other = Comparison { subject: Subject::Total, ..masked() };
        assert_eq!(hidden(other, Verdict::Equivalent), Verdict::Equivalent);
        let change = EffectChange {
            after_block: 4,
            blocks: [4, 4],
            before: None,
            since: None,
            in_depth_check: true,
        };
        let another = || Comparison { change: Some(change), ..comparison(Verdict::EffectChanged) };
        assert_eq!(hidden(another(), Verdict::Slower), Verdict::EffectChanged);
        assert_eq!(hidden(another(), Verdict::Undecided), Verdict::EffectChanged);
    }

    #[test]
    fn an_arm_that_reaches_the_cap_with_one_io_in_flight_is_masked_again() {
        let iops = Estimate { value: 4000.0, lo: 3990.0, hi: 4010.0 };
        let cap = Cap { iops, bytes_per_s: 16_384_000.0 };
        let mut reaches = [comparison(Verdict::Equivalent)];
        even_one_at_a_time(&mut reaches, &cap);
        assert_eq!(reaches[0].verdict, Verdict::Masked);
        let mut below = [Comparison { base: Some(2000.0), ..comparison(Verdict::Equivalent) }];
        even_one_at_a_time(&mut below, &cap);
        assert_eq!(below[0].verdict, Verdict::Equivalent);
    }
}
