use iotax_experiment::Subject;
use iotax_stats::verdict::Verdict;

use crate::analysis::{ArmDrain, DepthResponse, OpenQuestion, Regime};
use crate::conclude::Conclusion;
use crate::evidence::Evidence;
use crate::metrics::Metric;

/// What equal throughput leaves open: whether a cap above all arms explains it, and what a layer
/// costs where one does.
pub(super) fn open(evidence: &Evidence<'_>) -> Vec<OpenQuestion> {
    let mut questions: Vec<OpenQuestion> = equal(evidence).into_iter().collect();
    let masked = subjects(evidence, Verdict::Masked);
    if !masked.is_empty() && !evidence.is_measured_below_cap {
        questions.push(OpenQuestion::Masked { of: masked });
    }
    questions.extend(regimes(evidence));
    questions
}

/// Arms whose credits may not be spent.
fn regimes(evidence: &Evidence<'_>) -> Vec<OpenQuestion> {
    let arms = |is_meant: fn(&ArmDrain) -> bool| {
        let meant = evidence.drained.iter().filter(|drain| is_meant(drain));
        meant.map(|drain| drain.arm.clone()).collect::<Vec<String>>()
    };
    let mut questions = Vec::new();
    let steady = arms(|drain| drain.rate_iops.is_none());
    if !steady.is_empty() {
        let seconds = evidence.drained.iter().map(|drain| drain.seconds).fold(0.0, f64::max);
        questions.push(OpenQuestion::NeverFell { arms: steady, seconds });
    }
    let burst = arms(|drain| drain.regime == Some(Regime::Burst));
    if !burst.is_empty() {
        questions.push(OpenQuestion::BurstAgain { arms: burst });
    }
    questions
}

/// Those whose throughput earned this word.
pub(super) fn subjects(evidence: &Evidence<'_>, verdict: Verdict) -> Vec<Subject> {
    let of_verdict = |c: &&Conclusion| {
        c.comparison.metric == Metric::Throughput && c.comparison.verdict == verdict
    };
    let conclusions = evidence.conclusions.iter().filter(|c| !c.is_interaction());
    conclusions.filter(of_verdict).map(|c| c.comparison.subject.clone()).collect()
}

/// Arms of equal throughput that are not known to be masked.
fn equal(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    let arms = |response| {
        let found = evidence.depths.iter().filter(move |arm| arm.response == response);
        found.map(|arm| arm.arm.clone()).collect::<Vec<String>>()
    };
    let scales = arms(DepthResponse::Scales);
    // Not on a cap if one side is below it; a layer of a peel has all arms on its sides.
    let is_settled = |subject: &Subject| match subject.arm() {
        Some(own) => scales.iter().any(|arm| arm == own || *arm == evidence.names[0]),
        None => !scales.is_empty(),
    };
    let mut of = subjects(evidence, Verdict::Equivalent);
    of.retain(|subject| !is_settled(subject));
    if of.is_empty() {
        return None;
    }
    let busy = arms(DepthResponse::LocalBottleneck);
    let not_reached = arms(DepthResponse::NotReached);
    Some(if evidence.depths.is_empty() {
        OpenQuestion::CapNotTested { of }
    } else if !busy.is_empty() {
        OpenQuestion::CapBehindCpu { of, busy }
    } else if !not_reached.is_empty() {
        OpenQuestion::CapOneAtATime { of, arms: not_reached }
    } else {
        OpenQuestion::CapUnclear { of }
    })
}
