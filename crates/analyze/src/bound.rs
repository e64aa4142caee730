//! Arms, and targets of them, that sit on a limit that is known.

use iotax_catalog::{Direction, Limit, Scope};
use iotax_experiment::KnownLimit;
use iotax_experiment::documented::{Documented, DocumentedLimit, QUANTITIES, Quantity, named};
use iotax_record::ExperimentHead;

use crate::analysis::{ArmSummary, TargetSummary};
use crate::targets::{THROTTLE, direction};

/// The arms and targets whose throughput is that of a limit, sustained or burst.
pub(crate) fn arms(experiment: &ExperimentHead, arms: &[ArmSummary]) -> Vec<Documented> {
    let spec = &experiment.spec;
    // An unknown name is refused before anything is measured.
    let named = named(&experiment.cloud, spec.targets().count()).unwrap_or_default();
    let direction = spec.workload().primary_job().map_or(Direction::Both, direction);
    let mut rows = Vec::new();
    let mut at = 0;
    for (arm, found) in spec.arms.iter().zip(arms) {
        match arm.target.several() {
            None => {
                let limits = named.limits(at, &arm.target, direction);
                let held: Vec<Held> = limits.iter().map(Held::documented).collect();
                rows.extend(of_limits(&found.name, [found.iops, found.bytes_per_s], &held));
            }
            Some(_) => rows.extend(several(found)),
        }
        at += arm.target.each().len();
    }
    // Nothing says that an arm below all of them is capped.
    rows.retain(|row| row.binds.is_some());
    rows
}

/// Each of several targets beside what is known of it, and those that share a limit beside that.
fn several(arm: &ArmSummary) -> Vec<Documented> {
    let held = arm.targets.iter().map(|target| {
        let read_here = target.limits.iter().map(|limit| Held::read_here(limit, target));
        let documented = target.documented.iter().map(|limit| Held::of_target(limit, target));
        (target, read_here.chain(documented).collect())
    });
    let held: Vec<(&TargetSummary, Vec<Held>)> = held.collect();
    let sharers = |limit: &Held| -> Vec<&TargetSummary> {
        let has = |(_, all): &&(&TargetSummary, Vec<Held>)| all.iter().any(|l| l.key == limit.key);
        held.iter().filter(has).map(|(target, _)| *target).collect()
    };
    let rates = |target: &TargetSummary| [target.rates.iops, target.rates.bytes_per_s];
    let each = held.iter().flat_map(|(target, limits)| {
        let own = limits.iter().filter(|limit| sharers(limit).len() < 2).cloned();
        of_limits(&target.name, rates(target), &own.collect::<Vec<_>>())
    });
    let all = held.iter().flat_map(|(target, limits)| limits.iter().map(move |l| (*target, l)));
    let together = all.flat_map(|(target, limit)| {
        let sharers = sharers(limit);
        // Once, with the first of those that share it.
        if sharers.len() < 2 || !std::ptr::eq(sharers[0], target) {
            return Vec::new();
        }
        let names: Vec<&str> = sharers.iter().map(|target| target.name.as_str()).collect();
        let sum = sharers
            .iter()
            .map(|target| rates(target))
            .fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
        of_limits(&format!("{} together", names.join(" and ")), sum, std::slice::from_ref(limit))
    });
    each.chain(together).collect()
}

/// A limit, by quantity, and what other targets that it holds have in common with this one.
#[derive(Clone)]
struct Held {
    key: [String; 3],
    by_quantity: [Option<DocumentedLimit>; 2],
}

impl Held {
    fn documented(limit: &Limit) -> Self {
        Self {
            key: [limit.scope.to_string(), limit.of.clone(), limit.disk_kinds.join(",")],
            by_quantity: QUANTITIES.map(|quantity| quantity.documented(limit)),
        }
    }

    /// Targets on disks of one kind are on disks of their own; a VM has one of each of its limits.
    fn of_target(limit: &Limit, target: &TargetSummary) -> Self {
        let is_own = limit.scope == Scope::Disk && !limit.of.starts_with("all ");
        let mut held = Self::documented(limit);
        if is_own {
            held.key[2].clone_from(&target.name);
        }
        held
    }

    /// Throttles of one group are one limit; a control group has one on each device.
    fn read_here(limit: &KnownLimit, target: &TargetSummary) -> Self {
        let device = target.device.clone().filter(|_| limit.scope != THROTTLE);
        Self {
            key: [limit.scope.clone(), limit.of.clone(), device.unwrap_or_default()],
            by_quantity: QUANTITIES.map(|quantity| quantity.read_here(limit)),
        }
    }
}

fn of_limits(name: &str, measured: [f64; 2], limits: &[Held]) -> Vec<Documented> {
    let row = |(at, quantity): (usize, Quantity)| {
        let limits = limits.iter().filter_map(|limit| limit.by_quantity[at].clone());
        Documented::of(name, quantity.name, measured[at], limits.collect())
    };
    QUANTITIES.into_iter().enumerate().filter_map(row).collect()
}
