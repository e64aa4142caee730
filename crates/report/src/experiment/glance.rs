//! An experiment on one screen of a terminal.

use iotax_analyze::{Analysis, ArmSummary, Comparison, Estimate};
use iotax_experiment::{Design, Subject};
use iotax_record::ExperimentHead;
use iotax_wording::doubt::Notice;
use iotax_wording::format::{self, or_absent};
use iotax_wording::verdict::comparison::{effect_and_verdict, primary_of_each, row_name};
use iotax_wording::verdict::{interrupted, leading_causes, stands_for, verdict};
use iotax_wording::{bandwidth, name, units};

use crate::document::{Cell, Head, Item, Rank, Section, Table};
use crate::tables::{known_time, quantile};
use crate::text::SENTENCES;
use crate::words;

/// Maximum number of warnings.
const WARNINGS: usize = 2;

/// The table with the answer, the cause, and warnings.
pub(super) fn of(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    notices: &[Notice],
) -> Vec<(Rank, Section)> {
    let table = match experiment.spec.design {
        Design::Peel { .. } => layers(analysis),
        Design::Single | Design::Compare | Design::Fleet => arms(analysis, &analysis.arms),
    };
    // The first sentences are already on the screen.
    let told: Vec<String> = verdict(experiment, analysis).into_iter().take(SENTENCES).collect();
    let is_new = |sentence: &String| !told.contains(sentence);
    let paragraph = |rank| move |text| (rank, Section::of(Item::Paragraph(text)));
    let interrupted = interrupted(analysis).filter(is_new).map(paragraph(Rank::Answer));
    let cause = leading_causes(experiment, analysis).into_iter().find(is_new);
    let (context, mut doubts): (Vec<_>, Vec<_>) = notices.iter().partition(|one| one.is_context());
    doubts.sort_by_key(|notice| notice.weight);
    let warnings = doubts.into_iter().take(WARNINGS).cloned().map(Item::Warning);
    let context = context.into_iter().map(|notice| words::sentence(&notice.in_short()));
    let table = (Rank::Answer, Section::of(Item::Table(table)));
    [table]
        .into_iter()
        .chain(interrupted)
        .chain(cause.map(paragraph(Rank::Cause)))
        .chain(warnings.map(|warning| (Rank::Doubt, Section::of(warning))))
        .chain(context.map(paragraph(Rank::Detail)))
        .collect()
}

/// The figures of these arms, and their verdicts.
pub(super) fn arms<'a>(
    analysis: &Analysis,
    shown: impl IntoIterator<Item = &'a ArmSummary>,
) -> Table {
    let is_led = units::is_led_by_syncs(analysis);
    let curve = move |arm: &ArmSummary| match arm.leading_sync() {
        Some(sync) if is_led => sync.latency.clone(),
        _ => arm.latency.clone(),
    };
    let at =
        move |arm: &ArmSummary, q: f64| Some(quantile(&curve(arm), q)).filter(|c| !c.is_absent());
    let (p50, p99) = if is_led { ("sync p50", "sync p99") } else { ("p50", "p99") };
    let is_compared = analysis.comparisons.iter().any(|one| one.subject.arm().is_some());
    Table::of(shown)
        .word("arm", |arm| &arm.name)
        .figure("rate", |arm| or_absent((arm.trials > 0).then(|| units::rate(arm))))
        .column(Head::figure(bandwidth::MEASURED.word()), |arm| {
            units::bandwidth(arm).filter(|_| arm.trials > 0).map(bandwidth::measured)
        })
        .column(Head::figure(p50), |arm| at(arm, 0.5))
        .column(Head::figure(p99), |arm| at(arm, 0.99))
        .column(Head::figure("CPU/IO"), |arm| {
            (!is_compared && arm.cpu_ns_per_io > 0.0).then(|| known_time(arm.cpu_ns_per_io))
        })
        .column(Head::word("verdict"), |arm| is_compared.then(|| found(analysis, arm)))
        .table
        .without_names_of(analysis.arms.len())
}

/// The verdict of an arm against the baseline.
fn found(analysis: &Analysis, arm: &ArmSummary) -> Cell {
    let mut primary = primary_of_each(analysis).into_iter();
    let primary = primary.find(|one| one.subject.arm() == Some(&arm.name));
    primary.map_or_else(|| "baseline".into(), |primary| verdict_on(primary, analysis))
}

/// Names the metric of the verdict, unless it is the primary metric.
fn verdict_on(primary: &Comparison, analysis: &Analysis) -> Cell {
    let stands = stands_for(primary, analysis);
    let mut text = effect_and_verdict(stands);
    if stands.metric != primary.metric {
        text = format!("{text}, {}", name::metric(stands.metric));
    }
    Cell::toned(text, words::verdict_tone(stands.verdict))
}

/// What each layer costs.
fn layers(analysis: &Analysis) -> Table {
    let primary = primary_of_each(analysis);
    let metric = primary.first().map_or("", |one| name::metric(one.metric));
    let time = format!("time per {}", units::unit_of_work(analysis));
    Table::of(primary)
        .word("layer", row_name)
        .column(Head::figure(&time), |one| cost(analysis, &one.subject).map(format::time_interval))
        .word(metric, |one| verdict_on(one, analysis))
        .table
}

/// Time per I/O of a layer, of the total, or of what two layers cost together beyond their sum.
fn cost(analysis: &Analysis, of: &Subject) -> Option<Estimate> {
    let found = analysis.attribution.as_ref()?;
    match of {
        Subject::Layer(layer) => found.layers.iter().find(|one| one.layer == *layer)?.shapley_ns,
        Subject::Interaction(pair) => {
            found.interactions.iter().find(|one| one.layers == *pair)?.cost_ns
        }
        Subject::Total => found.total_ns,
        Subject::Arm(_) | Subject::Level(_) => None,
    }
}
