//! The verdict in plain sentences, the same in every format.

use iotax_analyze::{Analysis, ArmSummary, Comparison, Rates, SyncSummary, Verdict};
use iotax_diagnose::{Diagnosis, changed_arms, of_arms, reasons};
use iotax_experiment::documented::Documented;
use iotax_experiment::{Design, Subject, Workload};
use iotax_quantity::{capital, count, percent};
use iotax_record::ExperimentHead;

use self::against::{baseline_of, capped};
use self::comparison::{primary_of_each, size, subject};
use self::typical::Beside;
use crate::cause::diagnoses;
use crate::effect::EffectWords as _;
use crate::name::{self, printable};
use crate::{bandwidth, cause, format, limit, rule, slow_mode, units};

pub mod against;
pub mod caps;
pub mod comparison;
mod fitness;
mod fleet;
pub mod headline;
mod matrix;
mod network;
pub mod nodes;
pub mod outliers;
pub mod phases;
mod preconditioning;
mod stalls;
mod typical;

/// With more arms than this, they are counted instead of described one by one.
const MAX_SENTENCES: usize = 4;

/// The verdict. The first sentence can be read alone; the others add to it.
pub fn verdict(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<String> {
    let mut sentences = match experiment.spec.design {
        Design::Single => single(analysis),
        Design::Compare => compare(analysis, experiment.spec.workload()),
        Design::Fleet => fleet::sentences(analysis, experiment.spec.workload()),
        Design::Peel { .. } => peel(analysis, experiment.spec.workload()),
    };
    // The user's own rules and thresholds come first.
    let answers = rule::sentences(&rule::rulings(analysis))
        .into_iter()
        .chain(fitness::sentences(experiment, analysis));
    sentences.splice(0..0, answers);
    sentences.extend(cpu(analysis));
    sentences.extend(preconditioning::sentences(analysis));
    sentences.extend(caps::sentences(experiment, analysis));
    sentences.extend(analysis.documented.iter().map(documented));
    sentences.extend(slow_few(analysis));
    sentences.extend(leading_causes(experiment, analysis));
    sentences.extend(interrupted(analysis));
    sentences
}

/// A sentence if the user stopped the run.
pub fn interrupted(analysis: &Analysis) -> Option<String> {
    let blocks = count(analysis.ending.blocks, "complete block");
    let is_interrupted = analysis.ending.interrupted;
    is_interrupted.then(|| format!("Interrupted after {blocks}; these are the results so far."))
}

/// `Likely cause: ...` for a run with one arm. With several arms, only what explains their
/// difference: `encrypted: the second luks (added by iotax) ...`; the rest is listed below.
pub fn leading_causes(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<String> {
    if analysis.arms.len() == 1 {
        let all = of_arms(experiment, analysis);
        // `slow_few` already says that a few I/Os take most of the time.
        let is_new = |of: &&Diagnosis| of.suspects.first().is_none_or(|s| s.cause != "slow-few");
        let sentences = all.iter().filter(is_new).filter_map(cause::leading);
        return sentences.map(|sentence| capital(&sentence)).collect();
    }
    let changed = changed_arms(experiment, analysis);
    let apart = diagnoses::merged(reasons(experiment, analysis).apart, analysis);
    changed.iter().map(cause::changed).chain(apart.iter().map(cause::reason)).collect()
}

/// The comparison that gives the verdict on an arm or layer: the median or most slices if they are
/// decided and the primary metric is not.
pub fn stands_for<'a>(primary: &'a Comparison, analysis: &'a Analysis) -> &'a Comparison {
    let typical = typical::of(primary, analysis.comparisons.iter());
    typical
        .filter(|one| one.verdict.is_decided() && !primary.verdict.is_decided())
        .unwrap_or(primary)
}

/// Where the time goes if a few I/Os take much of it. Neither mean nor rate shows this.
fn slow_few(analysis: &Analysis) -> Vec<String> {
    let of_arm = |arm: &ArmSummary| {
        let mode = arm.slow_mode?;
        let of = if analysis.arms.len() > 1 { format!("{}: ", arm.name) } else { String::new() };
        let percentiles = slow_mode::percentiles(&mode, &arm.latency);
        Some(printable(&format!("{of}{} ({percentiles}).", slow_mode::slow_mode(&mode))))
    };
    analysis.arms.iter().filter_map(of_arm).take(MAX_SENTENCES).collect()
}

/// `plain: bandwidth: exactly at the VM cached limit of Standard_DS1_v2.`
fn documented(row: &Documented) -> String {
    let quantity = if row.is_bytes() { "bandwidth" } else { "IOPS" };
    let (of, standing) = (limit::targets(row), limit::standing(row));
    printable(&format!("{of}: {quantity}: {standing}"))
}

fn single(analysis: &Analysis) -> Vec<String> {
    let Some(arm) = analysis.arms.first() else {
        return vec!["Nothing was measured.".to_owned()];
    };
    if arm.trials == 0 {
        return vec![format!("{}: no trial gave a usable measurement.", printable(&arm.name))];
    }
    if let Some(sentences) = targets(&analysis.workload, arm) {
        return sentences;
    }
    if let Some(figures) = arm.network.as_ref() {
        return vec![format!(
            "{} on {}: {}.",
            printable(&analysis.workload),
            printable(&arm.target),
            network::sentence(arm, figures),
        )];
    }
    let bandwidth = units::bandwidth(arm).map(bandwidth::measured_rate);
    let bandwidth = bandwidth.map(|rate| format!(", {rate}")).unwrap_or_default();
    // Another tool's result may not have it.
    let latency = if arm.mean_latency_ns > 0.0 {
        format!(", mean latency {}", format::time(arm.mean_latency_ns))
    } else {
        String::new()
    };
    let job = if arm.other_jobs.is_empty() {
        String::new()
    } else {
        format!(", job {}", printable(&analysis.primary))
    };
    let sync = arm.leading_sync().map(sync).unwrap_or_default();
    // In a job led by its syncs this would be the latency of writes to the page cache.
    let latency = if sync.is_empty() { latency } else { String::new() };
    vec![format!(
        "{} on {}{job}: {sync}{}{bandwidth}{latency}.",
        printable(&analysis.workload),
        printable(&arm.target),
        units::rate(arm),
    )]
}

/// `two-drives on 2 targets at the same time: 900 IOPS, 3.5 MiB/s in total.`, then each target.
fn targets(workload: &str, arm: &ArmSummary) -> Option<Vec<String>> {
    let together = arm.together?;
    let in_words = |rates: Rates| {
        format!("{}, {}", format::iops(rates.iops), bandwidth::measured_rate(rates.bytes_per_s))
    };
    let each = arm
        .targets
        .iter()
        .map(|target| format!("{}: {}", printable(&target.name), in_words(target.rates)));
    Some(vec![
        format!(
            "{} on {} targets at the same time: {} in total.",
            printable(workload),
            arm.targets.len(),
            in_words(together)
        ),
        format!("{}.", each.collect::<Vec<_>>().join("; ")),
    ])
}

/// `a sync takes 175 us, p99 210 us; `
fn sync(sync: &SyncSummary) -> String {
    let mean = format::time(sync.mean_ns);
    let p99 = sync.quantile_ns(0.99).map(|ns| format!(", p99 {}", format::time(ns as f64)));
    format!("a sync takes {mean}{}; ", p99.unwrap_or_default())
}

fn compare(analysis: &Analysis, workload: &Workload) -> Vec<String> {
    if let Some(effects) = &analysis.matrix {
        return matrix::sentences(effects, analysis, workload);
    }
    let primary = primary_of_each(analysis);
    if primary.is_empty() {
        return vec!["Nothing could be compared.".to_owned()];
    }
    if primary.len() > MAX_SENTENCES {
        let outside = analysis.outliers.iter();
        let outside =
            outside.flat_map(|found| outliers::sentences(found, outliers::Member::of(analysis)));
        let has_own = primary.iter().any(|c| c.against.is_some());
        let baseline = if has_own { "their baselines" } else { &analysis.baseline };
        return outside.chain([tally(&primary, baseline)]).collect();
    }
    let mut primary = primary;
    primary.sort_by(|a, b| comparison::by_size(a, b));
    let baseline = |c: &Comparison| printable(&baseline_of(c, analysis));
    let sentences = primary.iter().map(|c| {
        let typical = typical::of(c, analysis.comparisons.iter());
        typical::sentence(c, typical, &baseline(c), analysis, workload)
    });
    sentences.chain(compared_by(analysis)).collect()
}

/// With jobs on several targets: which job the comparison covers.
fn compared_by(analysis: &Analysis) -> Option<String> {
    let has_targets = analysis.arms.iter().any(|arm| !arm.targets.is_empty());
    let job = printable(&analysis.primary);
    has_targets.then(|| {
        format!(
            "This comparison covers only job {job}; for the other jobs, see the section \"By \
             target\"."
        )
    })
}

/// A difference in the CPU time per I/O where throughput shows none, because a slow or noisy disk
/// hides it.
fn cpu(analysis: &Analysis) -> Option<String> {
    let found = |c: &Comparison| matches!(c.verdict, Verdict::Slower | Verdict::Faster);
    let hidden = |c: &&Comparison| {
        let same = |p: &&Comparison| p.subject == c.subject;
        let typical = typical::of(c, analysis.comparisons.iter());
        let primary = primary_of_each(analysis).into_iter().find(same);
        primary.is_some_and(|primary| !found(primary)) && !typical.is_some_and(found)
    };
    let name = |c: &Comparison| {
        if c.subject == Subject::Total { "the full stack".to_owned() } else { subject(c) }
    };
    let clauses: Vec<String> = analysis
        .comparisons
        .iter()
        .filter(|c| !c.metric.is_speed() && found(c) && !c.subject.is_interaction())
        .filter(hidden)
        .filter_map(|c| Some(format!("{} uses {}", name(c), size(c)?)))
        .collect();
    (!clauses.is_empty()).then(|| format!("CPU time shows a difference: {}.", clauses.join("; ")))
}

/// `3 of 6 arms are slower than base (slowest: x, 40 % slower [38, 42] in
/// throughput), 2 equivalent.`
fn tally(primary: &[&Comparison], baseline: &str) -> String {
    let with = |word: Verdict| primary.iter().filter(move |c| c.verdict == word);
    let slower = with(Verdict::Slower).count();
    let worst = with(Verdict::Slower)
        .max_by(|a, b| a.tax.unwrap_or(0.0).total_cmp(&b.tax.unwrap_or(0.0)))
        .and_then(|c| Some(format!(" (slowest: {}, {})", subject(c), size(c)?)))
        .unwrap_or_default();
    let mut text = format!(
        "{slower} of {} {} slower than {}{worst}",
        count(primary.len() as u64, "arm"),
        if slower == 1 { "is" } else { "are" },
        printable(baseline),
    );
    let concluded = with(Verdict::Faster).count() + with(Verdict::Equivalent).count() + slower;
    for verdict in [Verdict::Faster, Verdict::Equivalent] {
        let n = with(verdict).count();
        if n > 0 {
            text.push_str(&format!(", {n} {}", name::verdict(verdict)));
        }
    }
    if concluded < primary.len() {
        text.push_str(&format!(", {} without a verdict", primary.len() - concluded));
    }
    text.push('.');
    text
}

fn peel(analysis: &Analysis, workload: &Workload) -> Vec<String> {
    let primary = primary_of_each(analysis);
    let mut sentences = Vec::new();
    if let Some(total) = primary.iter().find(|c| c.subject == Subject::Total) {
        let on = [" with all layers than without", " with all layers as without"];
        let typical = typical::of(total, analysis.comparisons.iter());
        let beside = typical::with(total, typical, workload, on.map(str::to_owned));
        sentences.push(beside.in_place_of(whole_stack(total, analysis.margin)));
    }
    let layers: Vec<_> =
        primary.iter().filter(|c| matches!(c.subject, Subject::Layer(_))).collect();
    if !layers.is_empty() {
        let each: Vec<_> = layers.iter().map(|c| layer_clause(c, analysis, workload)).collect();
        sentences.push(format!("By layer: {}.", each.join("; ")));
    }
    sentences.extend(primary.iter().filter_map(|comparison| together(comparison)));
    if sentences.is_empty() {
        sentences.push("No layer could be compared.".to_owned());
    }
    sentences
}

fn whole_stack(total: &Comparison, margin: f64) -> String {
    if let Some(found) = &total.stalls {
        return stalls::sentence("The full stack", "the bare stack", total.verdict, found);
    }
    match (total.verdict, size(total)) {
        (Verdict::Slower, Some(size)) => format!("The layers together make the stack {size}."),
        (Verdict::Faster, Some(size)) => {
            format!("Suspicious: the full stack is {size} than the bare stack.")
        }
        (Verdict::Equivalent, Some(size)) => {
            format!("The layers together cost less than {} ({size}).", percent(margin))
        }
        (Verdict::Masked, Some(_)) => format!(
            "Masked: the stack reaches the same cap{} with and without its layers, so throughput \
             cannot show what they cost.",
            capped(total)
        ),
        (Verdict::EffectChanged, _) => {
            let effect = comparison::effect(total);
            format!("The cost of all layers together changed during the run: {effect}.")
        }
        (Verdict::Undecided, Some(size)) => {
            format!("The cost of all layers together is undecided: {size}.")
        }
        (verdict, Some(size)) => {
            let why = rule::withheld(verdict);
            format!("No verdict on the cost of all layers together: {why} ({size}).")
        }
        (_, None) => "The cost of all layers together could not be measured.".to_owned(),
    }
}

/// `aes 12 % slower [10, 14]`, `aes 5.0x slower [4.2, 6.0]`, `aes 2.5x slower [1.2x faster, 7.5x
/// slower] (undecided)`.
fn layer_clause(comparison: &Comparison, analysis: &Analysis, workload: &Workload) -> String {
    let (name, word) = (subject(comparison), name::verdict(comparison.verdict));
    let typical = typical::of(comparison, analysis.comparisons.iter());
    let nothing = [String::new(), String::new()];
    if let Beside::Instead(sentence) = typical::with(comparison, typical, workload, nothing) {
        let clause = sentence.trim_end_matches('.').replacen("; ", ", but ", 1);
        let clause = clause.replacen("The", "the", 1).replacen("Most", "most", 1);
        return format!("{name}: {clause}");
    }
    if comparison.verdict == Verdict::EffectChanged {
        return format!("{name} {} ({word})", comparison::effect(comparison));
    }
    let known = comparison.lo.and_then(|_| comparison.effect());
    let Some(effect) = known else { return format!("{name} could not be measured") };
    let beside = if comparison.verdict.is_signed() { String::new() } else { format!(" ({word})") };
    format!("{name} {}{beside}", effect.in_words())
}

/// A pair that costs more, or less, together than apart.
fn together(pair: &Comparison) -> Option<String> {
    let Subject::Interaction([a, b]) = &pair.subject else { return None };
    let name = printable(&format!("{a} and {b}"));
    let amount = match pair.verdict {
        Verdict::Slower => "more",
        Verdict::Faster => "less",
        Verdict::Equivalent
        | Verdict::Undecided
        | Verdict::Masked
        | Verdict::EffectChanged
        | Verdict::NoInformation
        | Verdict::NotIndependent
        | Verdict::InsufficientTailSamples
        | Verdict::Overloaded => return None,
    };
    Some(format!("{name} cost {amount} together than apart."))
}
