//! The targets of a trial that has several: a row each, and one for all of them.

use iotax_analyze::{Analysis, ArmSummary, Rates, TargetSummary};
use iotax_spec::KnownLimit;

use crate::document::{Cell, Table};
use crate::format::{self, ABSENT};
use crate::{bandwidth, tables, words};

/// Jobs that have room in a row by name.
const NAMED_JOBS: usize = 2;

/// What each target did, and what limits it; `None` where arms have one each.
pub(crate) fn table(analysis: &Analysis) -> Option<Table> {
    let arms = || analysis.arms.iter().filter(|arm| !arm.targets.is_empty());
    let all = || arms().flat_map(|arm| &arm.targets);
    let has_device = all().any(|target| target.device.is_some());
    let has_limits = all().any(|target| !target.limits.is_empty());
    let mut names = vec!["arm", "target", "jobs"];
    names.extend(has_device.then_some("lies on"));
    names.extend(has_limits.then_some("known limits"));
    let mut table = Table::new(&names, &tables::RATES);
    for arm in arms() {
        for target in &arm.targets {
            let words = [target.device.as_deref().unwrap_or(ABSENT), &limits(&target.limits)];
            let words = words.into_iter().zip([has_device, has_limits]);
            let mut row =
                vec![Cell::new(&arm.name), Cell::new(&target.name), Cell::new(jobs(&target.jobs))];
            row.extend(words.filter(|(_, is_shown)| *is_shown).map(|(word, _)| Cell::new(word)));
            row.extend(figures(target.rates));
            row.extend(latencies(target).map(|ns| Cell::new(tables::known_time(ns))));
            table.rows.push(row);
        }
        if let Some(together) = arm.together {
            let mut row = vec![Cell::new(&arm.name), Cell::new("together")];
            row.resize_with(names.len(), || Cell::new(""));
            row.extend(figures(together));
            row.resize_with(names.len() + tables::RATES.len(), || Cell::new(ABSENT));
            table.rows.push(row);
        }
    }
    (!table.rows.is_empty()).then(|| table.without_names_of(analysis.arms.len()))
}

/// `two-drives on 2 targets at the same time: 900 IOPS, 3.5 MiB/s together.`, and each of them.
pub(crate) fn sentences(workload: &str, arm: &ArmSummary) -> Option<Vec<String>> {
    let together = arm.together?;
    let said = |rates: Rates| {
        format!("{}, {}", format::iops(rates.iops), bandwidth::measured_rate(rates.bytes_per_s))
    };
    let each = arm
        .targets
        .iter()
        .map(|target| format!("{}: {}", words::printable(&target.name), said(target.rates)));
    Some(vec![
        format!(
            "{} on {} targets at the same time: {} together.",
            words::printable(workload),
            arm.targets.len(),
            said(together)
        ),
        format!("{}.", each.collect::<Vec<_>>().join("; ")),
    ])
}

fn figures(rates: Rates) -> [Cell; 2] {
    [Cell::new(format::iops(rates.iops)), Cell::new(bandwidth::measured(rates.bytes_per_s))]
}

fn latencies(target: &TargetSummary) -> [f64; 3] {
    [target.mean_latency_ns, target.p99_latency_ns as f64, target.p999_latency_ns as f64]
}

fn jobs(names: &[String]) -> String {
    if names.len() > NAMED_JOBS { format!("{} jobs", names.len()) } else { names.join(", ") }
}

/// `500 IOPS, 32 MB/s (throttle)`
fn limits(limits: &[KnownLimit]) -> String {
    let limit = |limit: &KnownLimit| {
        let iops = limit.iops.map(format::iops);
        let bytes = limit.bw_bytes.map(bandwidth::measured_rate);
        let rates: Vec<String> = iops.into_iter().chain(bytes).collect();
        format!("{} ({} {})", rates.join(", "), limit.scope, limit.of)
    };
    match limits {
        [] => ABSENT.to_owned(),
        limits => limits.iter().map(limit).collect::<Vec<_>>().join("; "),
    }
}
