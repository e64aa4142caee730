//! What could not be concluded, and why.

mod caps;
mod results;

use iotax_experiment::Design;
use iotax_record::End;
use iotax_stats::sample::count;
use iotax_stats::tail::{rule_of_three, samples_needed};
use iotax_stats::verdict::Verdict;

use crate::analysis::{Comparison, NoAnswer, OpenQuestion, is_within_reach};
use crate::attribution::Peel;
use crate::checks;
use crate::conclude::Conclusion;
use crate::evidence::Evidence;

/// The open questions of an experiment.
pub(crate) fn open(
    evidence: &Evidence<'_>,
    peel: Option<&Peel<'_>>,
    end: Option<&End>,
) -> Vec<OpenQuestion> {
    let mut questions = Vec::new();
    if end.is_none() {
        questions.push(OpenQuestion::NoEnd);
    }
    questions.extend(end.and_then(|end| not_as_run(evidence, end)));
    if evidence.is_of_results() {
        questions.extend(results::open(evidence));
        return questions;
    }
    questions.extend(without_answer(evidence));
    questions.extend(imprecise(evidence));
    questions.extend(peel.and_then(|peel| order(evidence, peel)));
    questions.extend(not_a_design(evidence, peel));
    questions.extend(too_many_blocks(evidence));
    questions.extend(caps::open(evidence));
    questions.extend(checks::bound_by_design(evidence));
    questions.extend(cpu_of_the_machine(evidence));
    questions.extend(definition_of_latency(evidence));
    questions.extend(tail(evidence));
    questions.extend(stalls(evidence));
    questions
}

/// Whose CPU time it is.
fn cpu_of_the_machine(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    let in_system = (0..evidence.names.len()).any(|arm| evidence.is_in_system(arm));
    in_system.then_some(OpenQuestion::CpuOfMachine)
}

/// A record that was cut or edited after the run.
fn not_as_run(evidence: &Evidence<'_>, end: &End) -> Option<OpenQuestion> {
    let (run, held) = (end.trials?, count(evidence.trials.len()) + evidence.left_out);
    (run != held).then_some(OpenQuestion::Cut { held, run })
}

/// Comparisons that ended without a verdict, those of one metric and reason together.
fn without_answer(evidence: &Evidence<'_>) -> Vec<OpenQuestion> {
    // `caps` asks about what a cap hides.
    let is_open = |c: &&Conclusion| {
        !c.comparison.verdict.is_decided() && c.comparison.verdict != Verdict::Masked
    };
    // Where the primary metric is open, too, one question is enough.
    let repeats = |c: &Conclusion| {
        let same = |p: &&Conclusion| p.comparison.subject == c.comparison.subject;
        c.comparison.metric.is_typical() && evidence.primary().filter(same).any(|p| is_open(&p))
    };
    let mut groups: Vec<Vec<&Conclusion>> = Vec::new();
    for conclusion in evidence.conclusions.iter().filter(|c| is_open(c) && !repeats(c)) {
        let key = |c: &Conclusion| (c.comparison.metric, c.comparison.verdict);
        match groups.iter_mut().find(|group| key(group[0]) == key(conclusion)) {
            Some(group) => group.push(conclusion),
            None => groups.push(vec![conclusion]),
        }
    }
    let question = |group: &Vec<&Conclusion>| OpenQuestion::NoAnswer {
        metric: group[0].comparison.metric,
        of: group.iter().map(|c| c.comparison.subject.clone()).collect(),
        why: reason(group),
    };
    groups.iter().map(question).collect()
}

/// Why the comparisons of one group have no answer.
fn reason(group: &[&Conclusion]) -> NoAnswer {
    let blocks = group.iter().map(|c| c.comparison.blocks).max().unwrap_or(0);
    match group[0].comparison.verdict {
        Verdict::Overloaded => NoAnswer::Overloaded,
        Verdict::InsufficientTailSamples => NoAnswer::TailSamples { needed: samples_needed(0.99) },
        Verdict::NoInformation => NoAnswer::Silent { blocks },
        Verdict::Undecided if group.iter().any(|c| has_lost(c)) => NoAnswer::Lost,
        Verdict::Undecided if group.iter().any(|c| c.comparison.stalls.is_some()) => {
            // Stalled trials have no size: only blocks that go on like those so far can decide.
            let more = group.iter().filter_map(|c| c.comparison.stalls?.more_blocks).max();
            let more = more.filter(|more| is_within_reach(*more, blocks));
            NoAnswer::OnlySigns { more }
        }
        Verdict::EffectChanged => {
            let in_depth_check = group.iter().any(|c| is_seen_afterwards(c));
            NoAnswer::Changed { in_depth_check }
        }
        Verdict::NotIndependent => NoAnswer::NotIndependent,
        _ if blocks == 0 => {
            let complete = group.iter().map(|c| c.blocks.len()).max().unwrap_or(0);
            NoAnswer::BeforeFirstLook { complete: count(complete) }
        }
        _ => NoAnswer::Noise { blocks, outlook: checks::outlook(group) },
    }
}

fn has_lost(conclusion: &Conclusion) -> bool {
    conclusion.comparison.missing.is_some_and(|missing| missing.decides)
}

fn is_seen_afterwards(conclusion: &Conclusion) -> bool {
    conclusion.comparison.change.is_some_and(|change| change.in_depth_check)
}

/// Verdicts of the primary metric whose size is known less precisely than asked for.
fn imprecise(evidence: &Evidence<'_>) -> Vec<OpenQuestion> {
    let decided = evidence.primary().filter(|c| !c.is_interaction()).map(|c| &c.comparison);
    let question = |c: &Comparison| {
        let range = [c.lo?, c.hi?];
        let blocks = Some(c.blocks_needed?).filter(|needed| is_within_reach(*needed, c.blocks));
        let of = c.subject.clone();
        Some(OpenQuestion::Imprecise { metric: c.metric, of, range, blocks })
    };
    decided.filter(|c| c.verdict.is_decided()).filter_map(question).collect()
}

fn order(evidence: &Evidence<'_>, peel: &Peel<'_>) -> Option<OpenQuestion> {
    let metric = evidence.conclusions.first()?.comparison.metric;
    let suspects = peel.suspects(evidence.method, metric);
    let layers: Vec<String> = suspects.into_iter().map(str::to_owned).collect();
    (!layers.is_empty()).then_some(OpenQuestion::DependsOnOthers { layers })
}

fn not_a_design(evidence: &Evidence<'_>, peel: Option<&Peel<'_>>) -> Option<OpenQuestion> {
    let is_peel = matches!(evidence.experiment.spec.design, Design::Peel { .. });
    (is_peel && peel.is_none()).then_some(OpenQuestion::NoDesign)
}

fn too_many_blocks(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    let last_look = evidence.method.design().last_look();
    let blocks = evidence.blocks.all.len();
    let compares = !evidence.conclusions.is_empty();
    (compares && blocks > last_look)
        .then(|| OpenQuestion::TooManyBlocks { blocks: count(blocks), last_look: count(last_look) })
}

/// What all arms' latencies count from, if that is not what an offered rate asks for.
fn definition_of_latency(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    let spec = &evidence.experiment.spec;
    (spec.counts_from_submission() && spec.workload().is_open_loop())
        .then_some(OpenQuestion::FromSubmission)
}

/// In a closed loop tails are only described. A recording has no rate that could be set.
fn tail(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    let compares = !evidence.conclusions.is_empty();
    let workload = evidence.experiment.spec.workload();
    (compares && !workload.is_open_loop() && !workload.is_recorded())
        .then_some(OpenQuestion::TailsDescribed)
}

/// No stall in n trials bounds how often stalls may happen.
fn stalls(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    let of_arm =
        |arm: usize| -> Vec<bool> { evidence.usable(arm).filter_map(checks::stalled).collect() };
    let per_arm: Vec<Vec<bool>> = (0..evidence.names.len()).map(of_arm).collect();
    let fewest = per_arm.iter().filter(|t| !t.is_empty()).map(Vec::len).min()?;
    let is_free = per_arm.iter().flatten().all(|stalled| !stalled);
    (is_free && rule_of_three(fewest) < 1.0)
        .then_some(OpenQuestion::NoStall { trials: count(fewest) })
}
