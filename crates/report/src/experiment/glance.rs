//! What the first screen of a terminal shows of an experiment, and no other format.

use iotax_analyze::{Analysis, ArmSummary, Comparison, LayerCost};
use iotax_experiment::{Design, Subject};
use iotax_record::ExperimentHead;
use iotax_wording::doubt::Notice;
use iotax_wording::format::{self, or_absent};
use iotax_wording::verdict::comparison::{effect_and_verdict, primary_of_each, row_name};
use iotax_wording::verdict::{leading_causes, stands_for, verdict};
use iotax_wording::{bandwidth, name, units};

use crate::document::{Cell, Head, Item, Rank, Section, Table};
use crate::tables::{known_time, quantile};
use crate::text::SENTENCES;
use crate::words;

/// Warnings at most.
const WARNINGS: usize = 2;

/// The table that shows the answer, the cause, and what puts the answer in doubt.
pub(super) fn sections<'a>(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    notices: impl Iterator<Item = &'a Notice>,
) -> Vec<Section> {
    let table = match experiment.spec.design {
        Design::Peel { .. } => layers(analysis),
        Design::Single | Design::Compare | Design::Fleet => arms(analysis),
    };
    let table = Section::of(Item::Table(table)).on_screen(Rank::Answer);
    let told: Vec<String> = verdict(experiment, analysis).into_iter().take(SENTENCES).collect();
    let mut causes = leading_causes(experiment, analysis).into_iter();
    let cause = causes.find(|cause| !told.contains(cause)).map(Item::Paragraph);
    let cause = cause.map(|cause| Section::of(cause).on_screen(Rank::Cause));
    let warnings = notices.take(WARNINGS).map(|one| Section::of(Item::Warning(one.clone())));
    let warnings = warnings.map(|section| section.on_screen(Rank::Doubt));
    [table].into_iter().chain(cause).chain(warnings).collect()
}

/// What each arm did, and its verdict.
fn arms(analysis: &Analysis) -> Table {
    let is_led = units::is_led_by_syncs(analysis);
    let curve = move |arm: &ArmSummary| match arm.leading_sync() {
        Some(sync) if is_led => sync.latency.clone(),
        _ => arm.latency.clone(),
    };
    let at =
        move |arm: &ArmSummary, q: f64| Some(quantile(&curve(arm), q)).filter(|c| !c.is_absent());
    let (p50, p99) = if is_led { ("sync p50", "sync p99") } else { ("p50", "p99") };
    let is_compared = !analysis.comparisons.is_empty();
    Table::of(&analysis.arms)
        .word("arm", |arm| &arm.name)
        .figure("rate", |arm| or_absent((arm.trials > 0).then(|| units::rate(arm))))
        .column(Head::figure(bandwidth::MEASURED.word()), |arm| {
            units::bandwidth(arm).map(bandwidth::measured)
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

/// Of an arm against the baseline: what its verdict rests on, unless that is throughput, is named.
fn found(analysis: &Analysis, arm: &ArmSummary) -> Cell {
    let mut primary = primary_of_each(analysis).into_iter();
    let Some(primary) = primary.find(|one| one.subject.arm() == Some(&arm.name)) else {
        return "baseline".into();
    };
    let stands = stands_for(primary, analysis);
    let mut text = effect_and_verdict(stands);
    if stands.metric != primary.metric {
        text = format!("{text}, {}", name::metric(stands.metric));
    }
    Cell::toned(text, words::verdict_tone(stands.verdict))
}

/// What each layer costs.
fn layers(analysis: &Analysis) -> Table {
    let costs = analysis.attribution.iter().flat_map(|found| &found.layers);
    let costs: Vec<&LayerCost> = costs.collect();
    let cost = |one: &Comparison| {
        let is_of = |cost: &&&LayerCost| one.subject == Subject::Layer(cost.layer.clone());
        let of = costs.iter().find(is_of)?;
        of.shapley_ns.map(format::time_interval)
    };
    let what = format!("time per {}", units::unit_of_work(analysis));
    Table::of(primary_of_each(analysis))
        .word("layer", row_name)
        .column(Head::figure(&what), cost)
        .word("throughput", |one| {
            Cell::toned(effect_and_verdict(one), words::verdict_tone(one.verdict))
        })
        .table
}
