//! What could not be concluded, and why, in plain sentences.

mod caps;
mod results;

use iotax_experiment::{Design, Subject};
use iotax_quantity::{capital, count, list, percent};
use iotax_record::End;
use iotax_stats::tail::{rule_of_three, samples_needed};
use iotax_stats::verdict::Verdict;

use crate::analysis::all_named;
use crate::attribution::Peel;
use crate::checks;
use crate::conclude::Conclusion;
use crate::evidence::Evidence;
use crate::method::FIRST_LOOK;

/// The open questions of an experiment.
pub(crate) fn open(
    evidence: &Evidence<'_>,
    peel: Option<&Peel<'_>>,
    end: Option<&End>,
) -> Vec<String> {
    let mut questions = Vec::new();
    if end.is_none() {
        questions.push(
            "The record has no end: the program was killed or the machine went down, and the \
             trials up to then are all there is."
                .to_owned(),
        );
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
fn cpu_of_the_machine(evidence: &Evidence<'_>) -> Option<String> {
    let in_system = (0..evidence.names.len()).any(|arm| evidence.is_in_system(arm));
    in_system.then(|| {
        "CPU time here is all that this machine used, since these layers work in kernel threads \
         and in other processes: what other programs used is in it, in all arms alike."
            .to_owned()
    })
}

/// A record that was cut or edited after the run.
fn not_as_run(evidence: &Evidence<'_>, end: &End) -> Option<String> {
    let (run, held) = (end.trials? as usize, evidence.trials.len());
    (run != held).then(|| {
        format!(
            "The record holds {held} trials, and {run} were run: it was cut or edited since, and \
             proves nothing."
        )
    })
}

/// Comparisons that ended without a verdict, one sentence for each metric and reason.
fn without_answer(evidence: &Evidence<'_>) -> Vec<String> {
    // What a cap hides is told apart: see `caps`.
    let is_open = |c: &&Conclusion| {
        !c.comparison.verdict.is_decided() && c.comparison.verdict != Verdict::Masked
    };
    let mut groups: Vec<Vec<&Conclusion>> = Vec::new();
    for conclusion in evidence.conclusions.iter().filter(is_open) {
        let key = |c: &Conclusion| (c.comparison.metric, c.comparison.verdict);
        match groups.iter_mut().find(|group| key(group[0]) == key(conclusion)) {
            Some(group) => group.push(conclusion),
            None => groups.push(vec![conclusion]),
        }
    }
    groups
        .iter()
        .map(|group| {
            let subjects: Vec<&Subject> = group.iter().map(|c| &c.comparison.subject).collect();
            let metric = group[0].comparison.metric.name();
            format!("{} of {}: {}", capital(metric), all_named(&subjects), reason(evidence, group))
        })
        .collect()
}

/// Why the comparisons of one group have no answer.
fn reason(evidence: &Evidence<'_>, group: &[&Conclusion]) -> String {
    let blocks = group.iter().map(|c| c.comparison.blocks).max().unwrap_or(0);
    match group[0].comparison.verdict {
        Verdict::Overloaded => {
            "overloaded; the offered rate was not reached, so there is no response time to compare."
                .to_owned()
        }
        Verdict::InsufficientTailSamples => format!(
            "insufficient tail samples; a p99 needs {} {} per trial.",
            samples_needed(0.99),
            group[0].comparison.metric.samples_name(evidence.experiment.spec.workload())
        ),
        Verdict::NoInformation => format!(
            "no information; neither completed anything within its window in {}. A longer window \
             (--time) may show how slow they are.",
            count(u64::from(blocks), "block")
        ),
        Verdict::Undecided if group.iter().any(|c| has_lost(c)) => results::LOST.to_owned(),
        Verdict::Undecided if group.iter().any(|c| c.comparison.stalls.is_some()) => {
            stalls_undecided(group)
        }
        Verdict::EffectChanged if group.iter().any(|c| is_seen_afterwards(c)) => {
            "effect changed; the depth check that followed shows another one at the same depth. \
             --drain measures what lasts."
                .to_owned()
        }
        Verdict::EffectChanged => {
            "effect changed; the blocks are of two kinds, and those since are too few for a verdict \
             of their own."
                .to_owned()
        }
        Verdict::NotIndependent => {
            "not independent; successive blocks depend on each other, so the interval is too \
             narrow to rest a verdict on."
                .to_owned()
        }
        _ if blocks == 0 => {
            let complete = group.iter().map(|c| c.blocks.len()).max().unwrap_or(0);
            let complete = count(complete as u64, "complete block");
            format!(
                "undecided after {complete}; the first look needs {FIRST_LOOK}, and each order of \
                 the arms twice."
            )
        }
        _ => {
            let price = checks::price(group).map_or_else(String::new, |price| format!("; {price}"));
            format!("undecided after {}{price}.", count(u64::from(blocks), "block"))
        }
    }
}

fn has_lost(conclusion: &Conclusion) -> bool {
    conclusion.comparison.missing.is_some_and(|missing| missing.decides)
}

fn is_seen_afterwards(conclusion: &Conclusion) -> bool {
    conclusion.comparison.change.is_some_and(|change| change.in_depth_check)
}

/// Stalled trials have no size: only blocks that go on like those so far can decide.
fn stalls_undecided(group: &[&Conclusion]) -> String {
    let more = group.iter().filter_map(|c| c.comparison.stalls?.more_blocks).max();
    let price = more.map_or_else(String::new, |more| {
        let blocks = count(u64::from(more), "more such block");
        format!("; {blocks} would decide")
    });
    format!("undecided; some trials completed nothing, so only signs count{price}.")
}

/// Verdicts of the primary metric whose size is known less precisely than asked for.
fn imprecise(evidence: &Evidence<'_>) -> Vec<String> {
    let primary = evidence.conclusions.first().map(|c| c.comparison.metric);
    let found = evidence.conclusions.iter().filter(|conclusion| {
        let comparison = &conclusion.comparison;
        Some(comparison.metric) == primary
            && comparison.verdict.is_decided()
            && !conclusion.is_interaction()
    });
    found
        .filter_map(|conclusion| {
            let c = &conclusion.comparison;
            let (lo, hi, blocks) = (c.lo?, c.hi?, c.blocks_needed?);
            Some(format!(
                "The effect of {} is not known better than {}; the precision asked for takes about \
                 {blocks} blocks at this noise.",
                conclusion.subject(),
                c.metric.range([lo, hi])
            ))
        })
        .collect()
}

fn order(evidence: &Evidence<'_>, peel: &Peel<'_>) -> Option<String> {
    let metric = evidence.conclusions.first()?.comparison.metric;
    let suspects = peel.suspects(evidence.method, metric);
    (!suspects.is_empty()).then(|| {
        format!(
            "What {} costs depends on which other layers are there, and this design cannot say on \
             which: its tax is a range. Peel a stack of the suspected pair alone.",
            list(&suspects)
        )
    })
}

fn not_a_design(evidence: &Evidence<'_>, peel: Option<&Peel<'_>>) -> Option<String> {
    let is_peel = matches!(evidence.experiment.spec.design, Design::Peel { .. });
    (is_peel && peel.is_none()).then(|| {
        "The arms are neither all subsets of the layers nor a screening design, so no cost can be \
         attributed to a layer."
            .to_owned()
    })
}

fn too_many_blocks(evidence: &Evidence<'_>) -> Option<String> {
    let last_look = evidence.method.design().last_look();
    let blocks = evidence.blocks.all.len();
    let compares = !evidence.conclusions.is_empty();
    (compares && blocks > last_look).then(|| {
        format!(
            "{blocks} blocks were run, and intervals are valid up to the last planned look, after \
             {last_look}: later blocks are shown but not used for verdicts."
        )
    })
}

/// What all arms' latencies count from, if that is not what an offered rate asks for.
fn definition_of_latency(evidence: &Evidence<'_>) -> Option<String> {
    let spec = &evidence.experiment.spec;
    (spec.counts_from_submission() && spec.workload().is_open_loop()).then(|| {
        "Latencies count from submission in all arms, since fio, which drives some, knows of no \
         time at which an I/O was due: what I/Os waited before they were issued is not in them. \
         To have that counted, let iotax drive all arms (without --engine fio)."
            .to_owned()
    })
}

/// In a closed loop tails are only described.
fn tail(evidence: &Evidence<'_>) -> Option<String> {
    let compares = !evidence.conclusions.is_empty();
    (compares && !evidence.experiment.spec.workload().is_open_loop()).then(|| {
        "Tails are described, not compared: in a closed loop a slower arm gets less load. For a \
         verdict on p99 offer all arms the same rate, 0.7 times the throughput of the slowest \
         (--set rate=...)."
            .to_owned()
    })
}

/// No stall in n trials bounds how often stalls may happen.
fn stalls(evidence: &Evidence<'_>) -> Option<String> {
    let of_arm =
        |arm: usize| -> Vec<bool> { evidence.usable(arm).filter_map(checks::stalled).collect() };
    let per_arm: Vec<Vec<bool>> = (0..evidence.names.len()).map(of_arm).collect();
    let fewest = per_arm.iter().filter(|t| !t.is_empty()).map(Vec::len).min()?;
    let is_free = per_arm.iter().flatten().all(|stalled| !stalled);
    (is_free && rule_of_three(fewest) < 1.0).then(|| {
        format!(
            "No stall (a second below half of its trial's mean) was seen in {} per arm: at 95 % \
             certainty at most {} of trials have one.",
            count(fewest as u64, "trial"),
            percent(rule_of_three(fewest))
        )
    })
}
