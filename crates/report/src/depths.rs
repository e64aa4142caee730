//! Queue depths that jobs found themselves.

use iotax_analyze::Analysis;
use iotax_experiment::Workload;
use iotax_wording::job::latency_target;

use crate::document::Table;

/// One row for each arm and job that looked for its depth.
pub(crate) fn table(workload: &Workload, analysis: &Analysis) -> Option<Table> {
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
        .word("for a latency of", |(_, of)| {
            target_of(&of.job).map_or_else(String::new, latency_target)
        })
        .table;
    table.filled()
}
