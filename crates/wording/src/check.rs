//! The first look at a disk: what it does, and what it is fit for.

use iotax_analyze::{Analysis, ArmSummary, Judgment, QuantilePoint, latency_at};
use iotax_caps::DepthStep;
use iotax_diagnose::{Certainty, Finding};
use iotax_experiment::rule::{Condition, Figure, RuleOutcome, Side};
use iotax_quantity::{count, iops_limit, list, mib_per_s_limit, percent, set_time, whole};

use crate::format::{self, or_absent};
use crate::search::{SearchResult, quantity};
use crate::{cap, cause, limit, rule, search};

/// Heading of the overview.
pub const OVERVIEW: &str = "This disk at a glance";
/// Titles of the parts, behind their numbers.
pub const PARTS: [&str; 3] = ["Caps", "Applications", "What is under it"];

/// A row of the overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRow {
    pub what: String,
    pub figure: String,
    pub meaning: String,
    /// Of a threshold.
    pub outcome: Option<RuleOutcome>,
}

impl CheckRow {
    fn of(what: impl Into<String>, figure: String, meaning: impl Into<String>) -> Self {
        Self { what: what.into(), figure, meaning: meaning.into(), outcome: None }
    }
}

/// What the disk is fit for, its caps, and its known problems.
pub fn sentences<'a>(
    caps: SearchResult<'_>,
    fitness: impl Iterator<Item = &'a Analysis>,
    findings: &[Finding],
) -> Vec<String> {
    let judged: Vec<&Analysis> = fitness.collect();
    let mut of_caps = search::sentences(caps).into_iter();
    let first = fit(&judged).into_iter().chain(of_caps.next());
    first.chain([problems(findings)]).chain(of_caps).collect()
}

/// `Fit for etcd and Kafka.`
fn fit(phases: &[&Analysis]) -> Option<String> {
    let of = |outcome: RuleOutcome| -> Vec<&str> {
        let is_it = |phase: &&&Analysis| phase.requirements.iter().any(|j| j.outcome == outcome);
        phases.iter().filter(is_it).map(|phase| phase.workload.as_str()).collect()
    };
    let said = [
        (RuleOutcome::Fail, "Unfit for", ""),
        (RuleOutcome::Pass, "Fit for", ""),
        (
            RuleOutcome::Undecided,
            "Undecided for",
            " (`iotax run fitness` takes longer and may reach a verdict)",
        ),
    ];
    let said: Vec<String> = said
        .into_iter()
        .map(|(outcome, said, what)| (said, of(outcome), what))
        .filter(|(_, names, _)| !names.is_empty())
        .map(|(said, names, what)| format!("{said} {}{what}.", list(&names)))
        .collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// `1 known problem: a throttle limits this disk (vda). 7 possible problems not tested.`
fn problems(findings: &[Finding]) -> String {
    let is_open = |finding: &&Finding| finding.certainty == Certainty::ToBeTested;
    let open = findings.iter().filter(is_open).count();
    let sure: Vec<&Finding> =
        cause::in_order(findings).into_iter().filter(|one| !is_open(one)).collect();
    let open = match open {
        0 => String::new(),
        open => format!(" {} not tested.", count(open as u64, "possible problem")),
    };
    if sure.is_empty() {
        return format!("No known problem was found in the storage stack.{open}");
    }
    let named: Vec<String> = sure
        .iter()
        .map(|one| format!("{} ({})", cause::title(one.cause), cause::components(&one.about)))
        .collect();
    format!("{}: {}.{open}", count(sure.len() as u64, "known problem"), named.join("; "))
}

/// Latency, caps beside known limits, and applications.
pub fn rows<'a>(
    caps: SearchResult<'_>,
    fitness: impl Iterator<Item = &'a Analysis>,
) -> Vec<CheckRow> {
    let mut rows = of_caps(caps);
    rows.extend(fitness.flat_map(of_phase));
    rows
}

fn of_caps(search: SearchResult<'_>) -> Vec<CheckRow> {
    let (found, unit) = (&search.caps.targets, search.unit());
    let mut rows = Vec::new();
    for target in found {
        let alone = target.ladder.first();
        let loaded = target.useful_depth.and_then(|depth| {
            target.ladder.iter().find(|step| step.queue_depth == depth && depth > 1)
        });
        rows.extend(alone.into_iter().chain(loaded).map(latency));
        for (quantity, found) in quantity::caps(target, unit) {
            let [cap, lo, hi] = [found.cap, found.lo, found.hi].map(|per_s| quantity.figure(per_s));
            let figure = format!("{cap} [{lo}, {hi}]");
            let set_by = format!("cause: {}", cap::kind(found.kind));
            rows.push(CheckRow::of(format!("{} cap", quantity.unit()), figure, set_by));
        }
        for unreached in &target.unreached {
            let quantity = quantity::named(&unreached.quantity, unit);
            let figure = format!("at least {}", quantity.figure(unreached.at_least));
            let why = cap::obstacle_in_short(&unreached.obstacle);
            rows.push(CheckRow::of(format!("{} cap", quantity.unit()), figure, why));
        }
        for unsteady in &target.unsteady {
            let quantity = quantity::named(&unsteady.quantity, unit);
            let [lo, hi] = [unsteady.lo, unsteady.hi].map(|per_s| quantity.figure(per_s));
            rows.push(CheckRow::of(quantity.unit(), format!("{lo} to {hi}"), "unsteady"));
        }
    }
    for row in &search.caps.documented {
        let quantity = quantity::named(&row.quantity, unit);
        if let Some(binding) = row.binding() {
            let share = row.measured.map(|measured| percent(measured / binding.per_s));
            let share =
                share.map_or_else(String::new, |share| format!("measured: {share} of the limit"));
            rows.push(CheckRow::of(limit::name(binding), quantity.rate(binding.per_s), share));
        }
    }
    rows
}

fn latency(step: &DepthStep) -> CheckRow {
    let time = format::time(step.mean_latency_ns);
    CheckRow::of("4 KiB read", time, format!("mean, {} in flight", step.queue_depth))
}

/// Its threshold, or what its primary job waits for.
fn of_phase(phase: &Analysis) -> Vec<CheckRow> {
    let name = &phase.workload;
    if !phase.requirements.is_empty() {
        return phase.requirements.iter().map(|judgment| judged(name, judgment)).collect();
    }
    let Some(arm) = phase.arms.first() else { return Vec::new() };
    let (what, mean_ns, curve) = waits(arm);
    let p99 = latency_at(curve, 0.99).map(|ns| format!(", p99 {}", format::time(ns as f64)));
    let figure = format!("{}{}", format::time(mean_ns), p99.unwrap_or_default());
    vec![CheckRow::of(format!("{name} {what}"), figure, "no published limit")]
}

fn waits(arm: &ArmSummary) -> (&'static str, f64, &[QuantilePoint]) {
    match arm.leading_sync() {
        Some(sync) => ("sync", sync.mean_ns, &sync.latency),
        None => ("I/O", arm.mean_latency_ns, &arm.latency),
    }
}

fn judged(name: &str, judgment: &Judgment) -> CheckRow {
    let outcome = match judgment.outcome {
        RuleOutcome::Pass => "fit",
        RuleOutcome::Fail => "unfit",
        RuleOutcome::Undecided => "undecided",
    };
    let row = match &judgment.rule.condition {
        Condition::Figure { figure, side, limit, .. } => {
            let most = match side {
                Side::Above => "max",
                Side::Below => "min",
            };
            let found = judgment.found.map(|found| rule::interval(figure, found));
            let meaning = format!("{outcome} ({most} {})", threshold(figure, *limit));
            CheckRow::of(format!("{name} {}", figure.name()), or_absent(found), meaning)
        }
        // No workload requires this.
        Condition::SlowerBy(_) | Condition::BelowDocumented(_) => {
            CheckRow::of(name, or_absent(None), outcome)
        }
    };
    CheckRow { outcome: Some(judgment.outcome), ..row }
}

fn threshold(figure: &Figure, limit: f64) -> String {
    match figure {
        Figure::Iops => iops_limit(limit),
        Figure::Bandwidth => mib_per_s_limit(limit),
        Figure::Time(..) => set_time(whole(limit)),
    }
}
