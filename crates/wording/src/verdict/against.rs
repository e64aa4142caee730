//! What a sentence says of one arm, or level, against another.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use iotax_analyze::{Analysis, Comparison, Missing, Verdict};
use iotax_quantity::{capital, count, list};

use super::comparison::{self, primary_of_each, size, subject};
use super::phases::AnalyzedPhase;
use super::{caps, stalls};
use crate::effect::EffectWords as _;
use crate::name::{self, printable};
use crate::{format, sentence, units};

/// `slow is 23 % slower [21, 25] than base in throughput.` `baseline` can be printed.
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
    let Some(size) = size(comparison) else {
        let trials = |arm: &str| analysis.arms.iter().any(|a| a.name == arm && a.trials > 0);
        let arm = comparison.subject.arm().unwrap_or_default();
        let lost =
            comparison.missing.map(|missing| format!(": {}", lost(&missing, &name, baseline)));
        let lost = lost.unwrap_or_default();
        return if trials(&baseline_of(comparison, analysis)) && trials(arm) {
            format!("{name}: too few complete blocks to compare it with {baseline}{lost}.")
        } else {
            format!("{name}: nothing usable to compare with {baseline}{lost}.")
        };
    };
    match comparison.verdict {
        Verdict::Slower | Verdict::Faster => {
            format!("{name} is {} in {metric}{}.", than(comparison, baseline), since(comparison))
        }
        Verdict::Equivalent => format!(
            "{name} and {baseline} are equivalent: {metric} differs by less than {} ({size}).",
            format::percent(margin)
        ),
        Verdict::Undecided => {
            format!("{name} against {baseline} is undecided: {size}.")
        }
        Verdict::Masked => format!(
            "{name} against {baseline} is masked: both sit on the same cap{}, so throughput cannot \
             show what {name} costs.",
            capped(comparison)
        ),
        Verdict::EffectChanged => changed(comparison, baseline),
        Verdict::NoInformation => format!("{name} against {baseline}: no information."),
        Verdict::NotIndependent => format!(
            "{name} against {baseline}: no verdict, because the blocks depend on each other."
        ),
        Verdict::InsufficientTailSamples => format!(
            "{name} against {baseline}: no verdict on {metric}, because too few {}s lie that far out.",
            units::unit_of_work(analysis)
        ),
        Verdict::Overloaded => format!(
            "{name} against {baseline}: no verdict on {metric}, because the offered rate was not \
             reached."
        ),
    }
}

/// `23 % slower [21, 25] than base`
fn than(comparison: &Comparison, baseline: &str) -> String {
    format!("{} than {baseline}", comparison::effect(comparison))
}

/// `b against a is undecided: 6 of 9 trials of b gave nothing, and those that are left may be the easy
/// ones; they alone show 20 % faster [18, 22] in throughput.`
fn without_the_missing(comparison: &Comparison, baseline: &str, missing: &Missing) -> String {
    let name = subject(comparison);
    let lost = lost(missing, &name, baseline);
    let shown =
        size(comparison).map_or_else(String::new, |size| format!("; they alone show {size}"));
    format!(
        "{name} against {baseline} is undecided: {lost}, and those that are left may be the easy \
         ones{shown}."
    )
}

/// `6 of 9 trials of b gave nothing`
fn lost(missing: &Missing, name: &str, baseline: &str) -> String {
    let of = |missing: u32, of: u32, name: &str| {
        (missing > 0).then(|| format!("{missing} of {} of {name}", count(of, "trial")))
    };
    let Missing { arm, of_arm, base, of_base, .. } = *missing;
    let sides = [of(arm, of_arm, name), of(base, of_base, baseline)];
    format!("{} gave nothing", sides.into_iter().flatten().collect::<Vec<_>>().join(" and "))
}

/// `slow against base: its effect on throughput changed after block 7: 40 % slower [38, 42] before,
/// 5 % slower [3, 7] since.`
fn changed(comparison: &Comparison, baseline: &str) -> String {
    let metric = name::metric(comparison.metric);
    let what =
        format!("{} against {baseline}: its effect on {metric} changed", subject(comparison));
    match &comparison.change {
        Some(change) if change.in_depth_check => format!(
            "{what} after the comparison: {} in its {}, {} in the depth check that followed, at the \
             same depth.",
            comparison::part(comparison, change.before),
            count(change.blocks[0], "block"),
            comparison::part(comparison, change.since)
        ),
        Some(change) => format!(
            "{what} after block {}: {} before, {} since.",
            change.after_block,
            comparison::part(comparison, change.before),
            comparison::part(comparison, change.since)
        ),
        None => format!("{what} during the run."),
    }
}

/// ` since block 8 (40 % slower [38, 42] before)`: of a verdict that rests on a part of the run.
fn since(comparison: &Comparison) -> String {
    comparison.change.as_ref().map_or_else(String::new, |change| {
        format!(
            " since block {} ({} before)",
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

/// `after: 23 % slower than before in throughput; one result each, so nothing says how much of it is
/// chance.`
fn without_interval(comparison: &Comparison, baseline: &str, analysis: &Analysis) -> String {
    let arm = comparison.subject.arm();
    let metric = name::metric(comparison.metric);
    let size = format!("{} in {metric}", than(comparison, baseline));
    let Some(arm) = arm else {
        // Of a factor: several arms, of which some has one result.
        return format!(
            "{}: {size}; one result of some, so nothing says how much of it is \
             chance.",
            subject(comparison),
        );
    };
    let few = match (results(analysis, &baseline_of(comparison, analysis)), results(analysis, arm))
    {
        (1, 1) => "one result each".to_owned(),
        (base, 1) if base > 1 => format!("one result of {}", subject(comparison)),
        _ => format!("one result of {baseline}"),
    };
    let within = comparison.within.map(|within| {
        let within = comparison.effect_of(within).in_words();
        format!("; within these two {within}, and nothing says what another run would give")
    });
    let chance = within.unwrap_or_else(|| ", so nothing says how much of it is chance".to_owned());
    format!("{}: {size}; {few}{chance}.", subject(comparison))
}

/// Saved results of an arm: the trials of one share a block.
pub fn results(analysis: &Analysis, arm: &str) -> usize {
    let usable = analysis.trials.iter().filter(|trial| trial.arm == arm && trial.iops.is_some());
    usable.map(|trial| trial.block).collect::<BTreeSet<_>>().len()
}

// What saved results of several jobs say together.

/// What is said of all jobs together: what each arm's verdicts are, and what holds for all jobs.
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
        sentences
            .push("One result each: how much of a difference is chance cannot be told.".to_owned());
    }
    let is_of_all = |note: &&String| {
        parts.iter().all(|(experiment, _)| experiment.spec.workload().notes.contains(note))
    };
    let notes = experiment.spec.workload().notes.iter().filter(is_of_all);
    sentences.extend(notes.map(|note| sentence(&capital(note))));
    sentences
}

/// `c-azure against aks: slower in read_bw, write_bw; undecided in read_iops.`
fn tally(parts: &[AnalyzedPhase], pair: &Comparison) -> Option<String> {
    let own = |part: &Analysis| -> Option<Comparison> {
        let found = primary_of_each(part).into_iter().find(|c| c.subject == pair.subject)?;
        Some(found.clone())
    };
    let found: Vec<(&str, Comparison)> =
        parts.iter().filter_map(|(_, part)| Some((part.workload.as_str(), own(part)?))).collect();
    let said: IndexSet<Verdict> = found.iter().map(|(_, comparison)| comparison.verdict).collect();
    if said.iter().eq([&Verdict::Undecided]) {
        return None; // The table says how large it is, and nothing more is known.
    }
    let clauses = said.iter().map(|verdict| {
        let of_verdict = found.iter().filter(|(_, comparison)| comparison.verdict == *verdict);
        let jobs: Vec<&str> = of_verdict.map(|(job, _)| *job).collect();
        format!("{} in {}", name::verdict(*verdict), list(&jobs))
    });
    let clauses = clauses.collect::<Vec<_>>().join("; ");
    let baseline = baseline_of(pair, &parts[0].1);
    Some(printable(&format!("{} against {baseline}: {clauses}.", subject(pair))))
}
