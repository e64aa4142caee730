//! Arms that sit on a limit that is known.

use iotax_catalog::Direction;
use iotax_documented::{Documented, QUANTITIES, named};
use iotax_spec::{Job, KnownLimit, Spec};

use crate::analysis::{ArmSummary, TargetSummary};
use crate::targets::THROTTLE;

/// The arms whose throughput is that of a documented limit, sustained or burst.
pub(crate) fn arms(spec: &Spec, arms: &[ArmSummary]) -> Vec<Documented> {
    // An unknown name is refused before anything is measured.
    let named = named(&spec.cloud, spec.arms.len()).unwrap_or_default();
    let direction = spec.workload.primary_job().map_or(Direction::Both, direction);
    let rows = arms.iter().enumerate().flat_map(|(at, arm)| {
        // Disks are named for arms, and an arm with several targets is none.
        let is_one = arm.targets.is_empty();
        let limits = if is_one { named.limits(at, direction) } else { Vec::new() };
        let measured = [arm.iops, arm.bytes_per_s];
        QUANTITIES.into_iter().zip(measured).filter_map(move |(quantity, measured)| {
            let limits = limits.iter().filter_map(|limit| quantity.documented(limit)).collect();
            Documented::of(&arm.name, quantity, measured, limits)
        })
    });
    let of_targets = arms.iter().filter(|arm| !arm.targets.is_empty()).flat_map(targets);
    // Nothing says that an arm below all of them is capped.
    rows.chain(of_targets).filter(|row| row.binds.is_some()).collect()
}

/// Each of several targets beside what is known of it, and those that share a limit beside that.
fn targets(arm: &ArmSummary) -> Vec<Documented> {
    let row = |name: &str, rates: [f64; 2], limits: &[&KnownLimit]| {
        let rows = QUANTITIES.into_iter().zip(rates).filter_map(|(quantity, measured)| {
            let limits = limits.iter().filter_map(|limit| quantity.read_here(limit)).collect();
            Documented::of(name, quantity, measured, limits)
        });
        rows.collect::<Vec<_>>()
    };
    let rates = |target: &TargetSummary| [target.rates.iops, target.rates.bytes_per_s];
    let each = arm.targets.iter().flat_map(|target| {
        let limits: Vec<_> =
            target.limits.iter().filter(|limit| sharers(arm, target, limit).len() < 2).collect();
        row(&target.name, rates(target), &limits)
    });
    let limits =
        arm.targets.iter().flat_map(|target| target.limits.iter().map(move |l| (target, l)));
    let together = limits.flat_map(|(target, limit)| {
        let sharers = sharers(arm, target, limit);
        // Once, with the first of those that share it.
        if sharers.len() < 2 || !std::ptr::eq(sharers[0], target) {
            return Vec::new();
        }
        let names: Vec<&str> = sharers.iter().map(|target| target.name.as_str()).collect();
        let sum = sharers
            .iter()
            .map(|target| rates(target))
            .fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
        row(&format!("{} together", names.join(" and ")), sum, &[limit])
    });
    each.chain(together).collect()
}

/// The targets that share a limit of one of them: a throttle of one group, a control group on one
/// device.
fn sharers<'a>(
    arm: &'a ArmSummary,
    of: &TargetSummary,
    limit: &KnownLimit,
) -> Vec<&'a TargetSummary> {
    let is_it = |other: &KnownLimit| (&other.scope, &other.of) == (&limit.scope, &limit.of);
    let is_near = |other: &TargetSummary| limit.scope == THROTTLE || other.device == of.device;
    let targets = arm.targets.iter();
    targets.filter(|other| is_near(other) && other.limits.iter().any(is_it)).collect()
}

fn direction(job: &Job) -> Direction {
    match (job.reads(), job.writes()) {
        (true, false) => Direction::Read,
        (false, true) => Direction::Write,
        _ => Direction::Both,
    }
}
