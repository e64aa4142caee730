//! Tables of trials with several targets: one row per target, and one for all together.

use iotax_analyze::{Analysis, Rates, TargetSummary};
use iotax_catalog::Rate;
use iotax_quantity::{iops_limit, mib_per_s_limit};
use iotax_wording::bandwidth;
use iotax_wording::format::{self, ABSENT, or_absent};

use crate::document::{Cell, Table};
use crate::tables;
use crate::tables::known_time;

/// Maximum number of job names in a row.
const NAMED_JOBS: usize = 2;

/// Figures of each target; `None` if arms have one target each.
pub(crate) fn table(analysis: &Analysis) -> Option<Table> {
    let mut table = Table::new(&["arm", "target", "jobs"], &tables::RATES);
    for arm in analysis.arms.iter().filter(|arm| arm.trials > 0) {
        for target in &arm.targets {
            let words = [&arm.name, &target.name, &jobs(&target.jobs)];
            let mut row: Vec<Cell> = words.into_iter().map(Cell::new).collect();
            row.extend(figures(target.rates));
            row.extend(latencies(target).map(|ns| Cell::new(known_time(ns))));
            table.rows.push(row);
        }
        if let Some(together) = arm.together {
            let mut row: Vec<Cell> =
                [&arm.name, "together", ""].into_iter().map(Cell::new).collect();
            row.extend(figures(together));
            row.extend([ABSENT; 3].map(Cell::new));
            table.rows.push(row);
        }
    }
    Some(table.filled()?.without_names_of(analysis.arms.len()))
}

/// Device, known limits and definition of each target.
pub(crate) fn limits(analysis: &Analysis) -> Option<Table> {
    let targets = analysis.arms.iter().flat_map(|arm| arm.targets.iter().map(move |t| (arm, t)));
    let all = || analysis.arms.iter().flat_map(|arm| &arm.targets);
    let mut rows = Table::of(targets)
        .word("arm", |(arm, _)| &arm.name)
        .word("target", |(_, target)| &target.name);
    if all().any(|target| target.device.is_some()) {
        rows = rows.word("device", |(_, target)| or_absent(target.device.clone()));
    }
    if all().any(|target| !(target.limits.is_empty() && target.documented.is_empty())) {
        rows = rows.word("known limits", |(_, target)| limits_of(target));
    }
    let table = rows.word("path or stack", |(_, target)| &target.target).table;
    Some(table.filled()?.without_names_of(analysis.arms.len()))
}

/// Whether each target has one job, so that the table of targets also covers the jobs.
pub(crate) fn have_one_job_each(analysis: &Analysis) -> bool {
    analysis.arms.iter().all(|arm| {
        !arm.targets.is_empty() && arm.targets.iter().all(|target| target.jobs.len() == 1)
    })
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

/// `500 IOPS, 32 MB/s (throttle)`: limits of this machine, then documented ones.
fn limits_of(target: &TargetSummary) -> String {
    let said = |iops: Option<f64>, bytes: Option<f64>, scope: &str, of: &str| {
        let rates = iops.map(iops_limit).into_iter().chain(bytes.map(mib_per_s_limit));
        format!("{} ({scope} {of})", rates.collect::<Vec<_>>().join(", "))
    };
    let here = target.limits.iter();
    let here = here.map(|limit| said(limit.iops, limit.bw_bytes, &limit.by.to_string(), &limit.of));
    let sustained = |rate: &Option<Rate>| rate.as_ref().map(|rate| rate.sustained);
    let documented = target.documented.iter().map(|limit| {
        let (iops, bytes) = (sustained(&limit.iops), sustained(&limit.bw_bytes));
        said(iops, bytes, &limit.scope.to_string(), &limit.of)
    });
    match here.chain(documented).collect::<Vec<_>>() {
        none if none.is_empty() => ABSENT.to_owned(),
        limits => limits.join("; "),
    }
}
