use iotax_experiment::Subject;
use iotax_quantity::list;
use iotax_stats::verdict::Verdict;

use crate::analysis::{ArmDrain, DepthResponse, all_named};
use crate::conclude::Conclusion;
use crate::evidence::Evidence;
use crate::metrics::Metric;

/// What equal throughput leaves open: whether a cap above all arms explains it, and what a layer
/// costs where one does.
pub(super) fn open(evidence: &Evidence<'_>) -> Vec<String> {
    let mut questions = Vec::new();
    let equal = subjects(evidence, Verdict::Equivalent);
    if !equal.is_empty() {
        questions.extend(equal_to(evidence, &equal));
    }
    let masked = subjects(evidence, Verdict::Masked);
    if !masked.is_empty() && !evidence.is_measured_below_cap {
        questions.push(format!(
            "What {} costs was not measured: on a cap throughput cannot show it. CPU per I/O, one \
             I/O at a time, or a rate below the cap can; --below-cap runs them.",
            all_named(&masked)
        ));
    }
    questions.extend(regimes(evidence));
    questions
}

/// Arms whose credits may not be spent.
fn regimes(evidence: &Evidence<'_>) -> Vec<String> {
    let arms = |is_meant: fn(&ArmDrain) -> bool| {
        let meant = evidence.drained.iter().filter(|drain| is_meant(drain));
        meant.map(|drain| drain.arm.as_str()).collect::<Vec<&str>>()
    };
    let mut questions = Vec::new();
    let steady = arms(|drain| drain.rate_iops.is_none());
    if !steady.is_empty() {
        let seconds = evidence.drained.iter().map(|drain| drain.seconds).fold(0.0, f64::max);
        questions.push(format!(
            "Whether {} ran on burst credits is not known: in {seconds:.0} s of draining its \
             throughput did not fall. Either there are none, or they last longer (--drain=TIME).",
            list(&steady)
        ));
    }
    let burst = arms(|drain| drain.regime.as_deref() == Some("burst"));
    if !burst.is_empty() {
        questions.push(format!(
            "{} ran on burst credits that came back after draining: what lasts is the rate after \
             the fall.",
            list(&burst)
        ));
    }
    questions
}

fn subjects<'a>(evidence: &Evidence<'a>, verdict: Verdict) -> Vec<&'a Subject> {
    let of_verdict = |c: &&Conclusion| {
        c.comparison.metric == Metric::Throughput && c.comparison.verdict == verdict
    };
    let conclusions = evidence.conclusions.iter().filter(|c| !c.is_interaction());
    conclusions.filter(of_verdict).map(|c| &c.comparison.subject).collect()
}

/// Arms of equal throughput that are not known to be masked.
fn equal_to(evidence: &Evidence<'_>, equal: &[&Subject]) -> Option<String> {
    let of = |response| {
        let found = evidence.depths.iter().filter(move |arm| arm.response == response);
        found.map(|arm| arm.arm.as_str()).collect::<Vec<&str>>()
    };
    let scales = of(DepthResponse::Scales);
    // Not on a cap if one side is below it; a layer of a peel has all arms on its sides.
    let is_settled = |subject: &Subject| match subject.arm() {
        Some(own) => scales.iter().any(|arm| *arm == own || *arm == evidence.names[0]),
        None => !scales.is_empty(),
    };
    let equal: Vec<&Subject> = equal.iter().copied().filter(|of| !is_settled(of)).collect();
    if equal.is_empty() {
        return None;
    }
    let equal = all_named(&equal);
    let busy = of(DepthResponse::LocalBottleneck);
    let not_reached = of(DepthResponse::NotReached);
    if evidence.depths.is_empty() {
        Some(format!(
            "Whether a cap (on IOPS or bandwidth) above all arms hides a tax of {equal} was not \
             tested: equal throughput shows it only below the cap. CPU per I/O, or an offered rate \
             below the throughput (--set rate=...), would."
        ))
    } else if !busy.is_empty() {
        Some(format!(
            "Equal throughput of {equal} says little: a CPU of this machine was the limit of {}, \
             not the storage. Compare CPU per I/O, or offer a rate (--set rate=...).",
            list(&busy)
        ))
    } else if !not_reached.is_empty() {
        Some(format!(
            "Whether a cap hides a tax of {equal} could not be tested: another depth changed \
             nothing for {}, whose I/Os are served one at a time.",
            list(&not_reached)
        ))
    } else {
        Some(format!(
            "Whether a cap hides a tax of {equal} remains open: half and twice the depth showed \
             neither a plateau nor the lack of one, being too noisy or stopped too early. Until \
             then equal throughput may be the cap's."
        ))
    }
}
