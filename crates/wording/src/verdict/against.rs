//! Sentences that compare one arm, or level, with another.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use iotax_analyze::{Analysis, Comparison, Missing, Verdict};
use iotax_diagnose::changed_arms;
use iotax_quantity::{capital, count, list};

use super::comparison::{self, primary_of_each, size, subject};
use super::phases::AnalyzedPhase;
use super::{caps, stalls};
use crate::effect::EffectWords as _;
use crate::name::{self, printable};
use crate::{cause, format, rule, sentence, units};

/// `slow is 23 % slower [21, 25] than base in throughput.` `baseline` is safe to print.
pub fn against(comparison: &Comparison, baseline: &str, analysis: &Analysis) -> String {
    let margin = analysis.margin;
    let name = subject(comparison);
    let metric = name::metric(comparison.metric);
    if let Some(found) = &comparison.stalls {
        return stalls::sentence(&name, baseline, comparison.verdict, found);
    }
    if comparison.verdict == Verdict::EffectChanged {
        return changed(comparison, baseline);
    }
    let has_size = comparison.lo.is_some();
    if let Some(missing) = comparison.missing.filter(|missing| missing.decides && has_size) {
        return without_the_missing(comparison, baseline, &missing);
    }
    if let (Some(_), None) = (comparison.tax, comparison.lo) {
        return without_interval(comparison, baseline, analysis);
    }
    if size(comparison).is_none() {
        let trials = |arm: &str| analysis.arms.iter().any(|a| a.name == arm && a.trials > 0);
        let arm = comparison.subject.arm().unwrap_or_default();
        let lost =
            comparison.missing.map(|missing| format!(" ({})", lost(&missing, &name, baseline)));
        let lost = lost.unwrap_or_default();
        let has_trials = trials(&baseline_of(comparison, analysis)) && trials(arm);
        let why = if has_trials { "too few complete blocks" } else { "no usable trials" };
        return format!("{name} could not be compared with {baseline}: {why}{lost}.");
    }
    match comparison.verdict {
        Verdict::Slower | Verdict::Faster => {
            format!("{name} is {} in {metric}{}.", than(comparison, baseline), since(comparison))
        }
        Verdict::Equivalent => format!(
            "{name} and {baseline} are equivalent: {metric} differs by less than {} ({}).",
            format::percent(margin),
            comparison::effect(comparison)
        ),
        Verdict::Undecided => {
            format!("Undecided: {name} measured {} in {metric}.", than(comparison, baseline))
        }
        Verdict::Masked => format!(
            "Masked: {name} and {baseline} both reach the same cap{}, so throughput cannot show \
             what {name} costs.",
            capped(comparison)
        ),
        Verdict::EffectChanged => changed(comparison, baseline),
        Verdict::InsufficientTailSamples => format!(
            "No verdict on the {metric} of {name} and {baseline}: too few {}s for this percentile.",
            units::unit_of_work(analysis)
        ),
        Verdict::NoInformation | Verdict::NotIndependent | Verdict::Overloaded => format!(
            "No verdict on the {metric} of {name} and {baseline}: {}.",
            rule::withheld(comparison.verdict)
        ),
    }
}

/// `23 % slower [21, 25] than base`
fn than(comparison: &Comparison, baseline: &str) -> String {
    format!("{} than {baseline}", comparison::effect(comparison))
}

/// `Undecided: 6 of 9 trials of b gave no result, and the others may be the easy ones. These show b
/// 20 % faster [18, 22] than a in throughput.`
fn without_the_missing(comparison: &Comparison, baseline: &str, missing: &Missing) -> String {
    let name = subject(comparison);
    let lost = lost(missing, &name, baseline);
    let metric = name::metric(comparison.metric);
    let than = than(comparison, baseline);
    format!(
        "Undecided: {lost}, and the remaining trials may be the fast ones. The remaining trials \
         show that {name} is {than} in {metric}."
    )
}

/// `6 of 9 trials of b gave no result`
fn lost(missing: &Missing, name: &str, baseline: &str) -> String {
    let of = |missing: u32, of: u32, name: &str| {
        (missing > 0).then(|| format!("{missing} of {} of {name}", count(of, "trial")))
    };
    let Missing { arm, of_arm, base, of_base, .. } = *missing;
    let sides = [of(arm, of_arm, name), of(base, of_base, baseline)];
    format!("{} gave no result", sides.into_iter().flatten().collect::<Vec<_>>().join(" and "))
}

/// `The effect of slow (compared with base) on throughput changed after block 7, from 40 % slower
/// [38, 42] to 5 % slower [3, 7].`
fn changed(comparison: &Comparison, baseline: &str) -> String {
    let metric = name::metric(comparison.metric);
    let name = subject(comparison);
    let what = format!("The effect of {name} (compared with {baseline}) on {metric} changed");
    match &comparison.change {
        Some(change) if change.in_depth_check => format!(
            "{what} after the comparison, from {} in the comparison ({}) to {} in the later depth \
             check at the same depth.",
            comparison::part(comparison, change.before),
            count(change.blocks[0], "block"),
            comparison::part(comparison, change.since)
        ),
        Some(change) => format!(
            "{what} after block {}, from {} to {}.",
            change.after_block,
            comparison::part(comparison, change.before),
            comparison::part(comparison, change.since)
        ),
        None => format!("{what} during the run."),
    }
}

/// ` starting at block 8 (40 % slower [38, 42] before)`, if only the later part has a verdict.
fn since(comparison: &Comparison) -> String {
    comparison.change.as_ref().map_or_else(String::new, |change| {
        format!(
            " starting at block {} ({} before)",
            change.after_block + 1,
            comparison::part(comparison, change.before)
        )
    })
}

/// ` (4,000 IOPS, 16 MiB/s)`
pub fn capped(comparison: &Comparison) -> String {
    comparison.cap.as_ref().map_or_else(String::new, |cap| format!(" ({})", caps::cap(cap)))
}

/// What the arm is compared with.
pub fn baseline_of(comparison: &Comparison, analysis: &Analysis) -> String {
    comparison.against.as_ref().map_or_else(|| analysis.baseline.clone(), name::against)
}

/// `after is 23 % slower than before in throughput, but with one result per arm, chance cannot be
/// ruled out.`
fn without_interval(comparison: &Comparison, baseline: &str, analysis: &Analysis) -> String {
    let arm = comparison.subject.arm();
    let metric = name::metric(comparison.metric);
    let size = format!("{} in {metric}", than(comparison, baseline));
    let Some(arm) = arm else {
        // A level of a matrix: at least one of its arms has one result.
        return format!(
            "{} is {size}, but some arms have only one result, so chance cannot be ruled out.",
            subject(comparison),
        );
    };
    let few = match (results(analysis, &baseline_of(comparison, analysis)), results(analysis, arm))
    {
        (1, 1) => "only one result per arm".to_owned(),
        (base, 1) if base > 1 => format!("only one result for {}", subject(comparison)),
        _ => format!("only one result for {baseline}"),
    };
    let name = subject(comparison);
    match comparison.within {
        Some(within) => {
            let within = comparison.effect_of(within).in_words();
            format!(
                "{name} is {size}. The trials of these two results show that {name} is {within}; \
                 with {few}, another run may give a different result."
            )
        }
        None => format!("{name} is {size}, but with {few}, chance cannot be ruled out."),
    }
}

/// Saved results of an arm: the trials of one share a block.
pub fn results(analysis: &Analysis, arm: &str) -> usize {
    let usable = analysis.trials.iter().filter(|trial| trial.arm == arm && trial.iops.is_some());
    usable.map(|trial| trial.block).collect::<BTreeSet<_>>().len()
}

// Saved results of several jobs together.

/// The verdicts on each arm over all jobs, and the notes that hold for all jobs.
pub fn sentences(parts: &[AnalyzedPhase]) -> Vec<String> {
    let (experiment, first) = &parts[0];
    let mut sentences: Vec<String> = Vec::new();
    if first.matrix.is_none() {
        for pair in primary_of_each(first) {
            sentences.extend(tally(parts, pair));
        }
    }
    let is_single = |(_, part): &AnalyzedPhase| {
        part.comparisons.iter().all(|comparison| comparison.lo.is_none())
    };
    if first.arms.len() > 1 && parts.iter().all(is_single) {
        sentences.push("With only one result per arm, chance cannot be ruled out.".to_owned());
    }
    let is_of_all = |note: &&String| {
        parts.iter().all(|(experiment, _)| experiment.spec.workload().notes.contains(note))
    };
    let changed =
        parts.iter().find_map(|(head, part)| changed_arms(head, part).first().map(cause::changed));
    sentences.extend(changed);
    let notes = experiment.spec.workload().notes.iter().filter(is_of_all);
    sentences.extend(notes.map(|note| sentence(&capital(note))));
    sentences
}

/// `c-azure compared with aks: slower in read_bw, write_bw; undecided in read_iops.`
fn tally(parts: &[AnalyzedPhase], pair: &Comparison) -> Option<String> {
    let own = |part: &Analysis| -> Option<Comparison> {
        let found = primary_of_each(part).into_iter().find(|c| c.subject == pair.subject)?;
        Some(found.clone())
    };
    let found: Vec<(&str, Comparison)> =
        parts.iter().filter_map(|(_, part)| Some((part.workload.as_str(), own(part)?))).collect();
    let verdicts: IndexSet<Verdict> =
        found.iter().map(|(_, comparison)| comparison.verdict).collect();
    if verdicts.iter().eq([&Verdict::Undecided]) {
        return None; // The table has all that is known.
    }
    let clauses = verdicts.iter().map(|verdict| {
        let of_verdict = found.iter().filter(|(_, comparison)| comparison.verdict == *verdict);
        let jobs: Vec<&str> = of_verdict.map(|(job, _)| *job).collect();
        format!("{} in {}", name::verdict(*verdict), list(&jobs))
    });
    let clauses = clauses.collect::<Vec<_>>().join("; ");
    let baseline = baseline_of(pair, &parts[0].1);
    Some(printable(&format!("{} compared with {baseline}: {clauses}.", subject(pair))))
}
