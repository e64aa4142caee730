//! What results of other tools leave open.

use std::collections::BTreeSet;

use iotax_experiment::Origin;
use iotax_stats::sample::count;
use iotax_stats::tail::samples_needed;
use iotax_stats::verdict::Verdict;

use super::caps::subjects;
use crate::analysis::{NoAnswer, OpenQuestion};
use crate::conclude::Conclusion;
use crate::evidence::Evidence;
use crate::facts::TrialFacts;
use crate::results::is_held_to_a_rate;

pub(super) fn open(evidence: &Evidence<'_>) -> Vec<OpenQuestion> {
    let mut questions: Vec<OpenQuestion> =
        evidence.conclusions.iter().filter_map(|c| without_answer(evidence, c)).collect();
    questions.extend(masked(evidence));
    questions.extend(tail(evidence));
    questions.extend(without_latencies(evidence));
    let origin = &evidence.experiment.spec.workload().origin;
    let are_ours = matches!(origin, Some(Origin::Results { are_ours: true, .. }));
    questions.push(OpenQuestion::NotChecked { are_ours });
    questions
}

fn without_answer(evidence: &Evidence<'_>, conclusion: &Conclusion) -> Option<OpenQuestion> {
    let comparison = &conclusion.comparison;
    let why = match comparison.verdict {
        Verdict::InsufficientTailSamples => NoAnswer::TailSamples { needed: samples_needed(0.99) },
        verdict if verdict.is_decided() => return None,
        _ if comparison.missing.is_some_and(|missing| missing.decides) => NoAnswer::Lost,
        _ => few(evidence, conclusion),
    };
    let (metric, of) = (comparison.metric, vec![comparison.subject.clone()]);
    Some(OpenQuestion::NoAnswer { metric, of, why })
}

/// So many results of the baseline and of the arm are too few.
fn few(evidence: &Evidence<'_>, conclusion: &Conclusion) -> NoAnswer {
    let comparison = &conclusion.comparison;
    let named = |name: &str| evidence.names.iter().position(|own| own == name);
    let results = |arm: usize| {
        let blocks = evidence.usable(arm).map(|trial| trial.block);
        count(blocks.collect::<BTreeSet<_>>().len())
    };
    let arm = comparison.subject.arm().and_then(named).unwrap_or(0);
    let own = comparison.against.as_ref().and_then(|of| named(of.arm()?)).unwrap_or(0);
    let (results, withheld) = ([results(own), results(arm)], conclusion.withheld);
    match comparison.lo.zip(comparison.hi) {
        None => NoAnswer::FewResults { base: evidence.names[own].clone(), results },
        Some((lo, hi)) => NoAnswer::WideResults { results, range: [lo, hi], withheld },
    }
}

fn masked(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    let of = subjects(evidence, Verdict::Equivalent);
    (!of.is_empty()).then_some(OpenQuestion::MaskedResults { of })
}

fn tail(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    let workload = evidence.experiment.spec.workload();
    let compares = !evidence.conclusions.is_empty() && !workload.moves_bytes();
    let is_at_a_rate = is_held_to_a_rate(workload);
    compares.then_some(OpenQuestion::TailsOfResults { is_at_a_rate })
}

/// Runs whose latencies are not known, or only their mean.
fn without_latencies(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    if evidence.experiment.spec.workload().moves_bytes() {
        return None;
    }
    let lacks = |trial: &TrialFacts| trial.primary().is_some_and(|job| job.p99_latency_ns == 0);
    let arms: Vec<String> = (0..evidence.names.len())
        .filter(|arm| evidence.usable(*arm).any(lacks))
        .map(|arm| evidence.names[arm].clone())
        .collect();
    (!arms.is_empty()).then_some(OpenQuestion::NoPercentiles { arms })
}
