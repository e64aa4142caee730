//! Arms that sit on a limit that is known.

use iotax_catalog::Direction;
use iotax_documented::{Documented, QUANTITIES, named};
use iotax_spec::{Job, Spec};

use crate::analysis::ArmSummary;

/// The arms whose throughput is that of a documented limit, sustained or burst.
pub(crate) fn arms(spec: &Spec, arms: &[ArmSummary]) -> Vec<Documented> {
    // An unknown name is refused before anything is measured.
    let named = named(&spec.cloud, spec.arms.len()).unwrap_or_default();
    let direction = spec.workload.primary_job().map_or(Direction::Both, direction);
    let rows = arms.iter().enumerate().flat_map(|(at, arm)| {
        let limits = named.limits(at, direction);
        let measured = [arm.iops, arm.bytes_per_s];
        QUANTITIES.into_iter().zip(measured).filter_map(move |(quantity, measured)| {
            let limits = limits.iter().filter_map(|limit| quantity.documented(limit)).collect();
            Documented::of(&arm.name, quantity, measured, limits)
        })
    });
    // Nothing says that an arm below all of them is capped.
    rows.filter(|row| row.binds.is_some()).collect()
}

fn direction(job: &Job) -> Direction {
    match (job.reads(), job.writes()) {
        (true, false) => Direction::Read,
        (false, true) => Direction::Write,
        _ => Direction::Both,
    }
}
