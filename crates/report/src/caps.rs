//! Tables about caps that arms share, queue depths that jobs found, and preparation of the arms.

use iotax_analyze::{Analysis, ArmPrecondition};
use iotax_experiment::{Design, Workload};
use iotax_quantity::{grouped, span, whole};
use iotax_record::ExperimentHead;
use iotax_wording::format::{ABSENT, or_absent, percent};
use iotax_wording::job::latency_target;
use iotax_wording::verdict::caps::response;
use iotax_wording::{format, trial};

use crate::document::Table;
use crate::tables;

/// Each arm at each depth.
fn depths(analysis: &Analysis) -> Option<Table> {
    let levels = analysis.depths.iter().flat_map(|arm| {
        let own = move |(at, level)| (Some(arm).filter(|_| at == 0), level);
        arm.levels.iter().enumerate().map(own)
    });
    Table::of(levels)
        .word("arm", |(arm, _)| arm.map_or("", |arm| &arm.arm))
        .figure("in flight", |(_, level)| level.in_flight.to_string())
        .figure("rate", |(_, level)| format::iops(level.iops))
        .figure("mean latency", |(_, level)| format::time(level.mean_latency_ns))
        .word("result", |(arm, _)| arm.map_or("", |arm| response(arm.response)))
        .table
        .filled()
}

/// A table with its title for each load below the cap.
fn below_cap(analysis: &Analysis, design: &Design) -> Vec<(String, Table)> {
    let prefix = format!("{} ", analysis.workload);
    let titled = |(_, load): &(ExperimentHead, Analysis)| {
        let name = load.workload.strip_prefix(&prefix).unwrap_or(&load.workload);
        let title = format!("Tax ({name})");
        Some((title, tables::comparisons(load, design)?))
    };
    analysis.below_cap.iter().filter_map(titled).collect()
}

/// All tables about caps and preparation, with their titles.
pub(crate) fn all(analysis: &Analysis, design: &Design) -> Vec<(String, Table)> {
    let depths = depths(analysis).map(|table| ("Depth check".to_owned(), table));
    let drained = drained(analysis).map(|table| ("Burst credits drained".to_owned(), table));
    let preconditioned = preconditioned(analysis);
    let beforehand = preconditioned.into_iter().chain(drained);
    below_cap(analysis, design).into_iter().chain(depths).chain(beforehand).collect()
}

/// Each arm while its burst credits were spent.
fn drained(analysis: &Analysis) -> Option<Table> {
    Table::of(&analysis.drained)
        .word("arm", |drain| &drain.arm)
        .figure("duration", |drain| span(whole(drain.seconds)))
        .figure("burst rate", |drain| or_absent(drain.burst_iops.map(format::iops)))
        .figure("sustained rate", |drain| or_absent(drain.rate_iops.map(format::iops)))
        .figure("credits (I/Os)", |drain| or_absent(drain.spent_ios.map(|ios| grouped(whole(ios)))))
        .word("regime", |drain| drain.regime.map_or(ABSENT, trial::regime))
        .table
        .filled()
}

/// One row for each arm and job that searched for its queue depth.
pub(crate) fn found_depths(workload: &Workload, analysis: &Analysis) -> Option<Table> {
    let target_of = |name: &str| {
        workload.jobs.iter().find(|job| job.name == name).and_then(|job| job.latency_target)
    };
    let rows =
        analysis.arms.iter().flat_map(|arm| arm.found_depths.iter().map(move |of| (arm, of)));
    let table = Table::of(rows)
        .word("arm", |(arm, _)| &arm.name)
        .word("job", |(_, of)| &of.job)
        .word("depth per thread", |(_, of)| match (of.least, of.most) {
            (least, most) if least == most => most.to_string(),
            (least, most) => format!("{least} to {most}"),
        })
        .word("latency target", |(_, of)| {
            target_of(&of.job).map_or_else(String::new, latency_target)
        })
        .table;
    table.filled()
}

/// The preconditioning of each arm, with a title.
fn preconditioned(analysis: &Analysis) -> Option<(String, Table)> {
    let figure = |arm: &ArmPrecondition, value: Option<&f64>| {
        or_absent(value.map(|value| shown(arm, *value)))
    };
    let table = Table::of(&analysis.preconditioned)
        .word("arm", |arm| &arm.arm)
        .figure("written", |arm| iotax_quantity::size(arm.written_bytes))
        .figure("rounds", |arm| arm.rounds.len().to_string())
        .figure("first round", |arm| figure(arm, arm.rounds.first()))
        .figure("last round", |arm| figure(arm, arm.rounds.last()))
        .figure("range", |arm| or_absent(arm.window.map(|window| percent(window.range))))
        .figure("slope", |arm| or_absent(arm.window.map(|window| percent(window.slope))))
        .word("steady", |arm| match arm.steady {
            Some(true) => "yes",
            Some(false) => "NO",
            None => ABSENT,
        })
        .table;
    Some(("Preconditioning".to_owned(), table.filled()?))
}

/// A round's figure.
fn shown(arm: &ArmPrecondition, value: f64) -> String {
    arm.metric
        .map_or_else(|| format::three_digits(value), |metric| format::figure(metric.unit(), value))
}
