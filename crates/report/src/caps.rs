//! Caps above the arms: what was found, what it hides, and how to see that.

use iotax_analyze::Analysis;
use iotax_experiment::Design;
use iotax_quantity::{grouped, span, whole};
use iotax_record::ExperimentHead;
use iotax_wording::format::{ABSENT, or_absent};
use iotax_wording::verdict::caps::response;
use iotax_wording::{format, trial};

use crate::document::Table;
use crate::{preconditioning, tables};

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
        .figure("mean", |(_, level)| format::time(level.mean_latency_ns))
        .word("that is", |(arm, _)| arm.map_or("", |arm| response(arm.response)))
        .table
        .filled()
}

/// A table with its title for each load that shows what a cap hides.
fn below_cap(analysis: &Analysis, design: &Design) -> Vec<(String, Table)> {
    let prefix = format!("{} ", analysis.workload);
    let titled = |(_, load): &(ExperimentHead, Analysis)| {
        let name = load.workload.strip_prefix(&prefix).unwrap_or(&load.workload);
        let title = format!("What the cap hides: {name}");
        Some((title, tables::comparisons(load, design)?))
    };
    analysis.below_cap.iter().filter_map(titled).collect()
}

/// All tables about caps, and about what was done beforehand, with their titles.
pub(crate) fn all(analysis: &Analysis, design: &Design) -> Vec<(String, Table)> {
    let depths = depths(analysis).map(|table| ("At other depths".to_owned(), table));
    let drained = drained(analysis).map(|table| ("Drained beforehand".to_owned(), table));
    let preconditioned = preconditioning::table(analysis);
    let beforehand = preconditioned.into_iter().chain(drained);
    below_cap(analysis, design).into_iter().chain(depths).chain(beforehand).collect()
}

/// What each arm did while its burst credits were spent.
fn drained(analysis: &Analysis) -> Option<Table> {
    Table::of(&analysis.drained)
        .word("arm", |drain| &drain.arm)
        .figure("loaded for", |drain| span(whole(drain.seconds)))
        .figure("burst", |drain| or_absent(drain.burst_iops.map(format::iops)))
        .figure("then", |drain| or_absent(drain.rate_iops.map(format::iops)))
        .figure("credits (I/Os)", |drain| or_absent(drain.spent_ios.map(|ios| grouped(whole(ios)))))
        .word("its trials", |drain| drain.regime.map_or(ABSENT, trial::regime))
        .table
        .filled()
}
