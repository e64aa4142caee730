use std::collections::BTreeSet;

use iotax_experiment::{Does, Layer};
use iotax_record::Environment;

use crate::analysis::{Doubt, DoubtKind, OpenQuestion};
use crate::evidence::{Evidence, Worst};
use crate::facts::TrialFacts;

/// Share of all CPU time from which on nothing is left for more I/O.
pub(super) const BUSY: f64 = 0.95;
/// Share of the busy time that other programs may have.
const MAX_OTHERS: f64 = 0.2;

struct Finding {
    busy: f64,
    /// CPUs this process may use.
    cpus: f64,
    /// Share of the busy time that other programs had.
    others: f64,
}

/// Were all CPUs busy with the load, so that they and not the storage set the rate? Arms whose
/// layers compute (encryption in process) are left out here: see [`bound_by_design`].
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    findings(evidence)
        .into_iter()
        .filter(|worst| worst.finding.others <= MAX_OTHERS && !is_by_design(evidence, worst))
        .map(|worst| worst.doubt(|Finding { busy, cpus, .. }| DoubtKind::CpusBusy { busy, cpus }))
        .collect()
}

/// Arms on which the CPUs, or the threads of the primary job, were the limit because their layers
/// compute: not a fault, but the tax holds for this machine's CPU only.
pub(crate) fn bound_by_design(evidence: &Evidence<'_>) -> Option<OpenQuestion> {
    let machine = findings(evidence).into_iter().filter(|worst| is_by_design(evidence, worst));
    let mut bound: BTreeSet<usize> =
        machine.filter_map(|w| evidence.names.iter().position(|name| *name == w.arm)).collect();
    let computing = (0..evidence.names.len()).filter(|arm| computes(evidence.layers(*arm)));
    bound.extend(computing.filter(|arm| {
        let busy = |trial: &&TrialFacts| threads_busy(trial).is_some_and(|busy| busy >= BUSY);
        evidence.usable(*arm).any(|trial| busy(&trial))
    }));
    let arms: Vec<String> = bound.iter().map(|arm| evidence.names[*arm].clone()).collect();
    (!arms.is_empty()).then_some(OpenQuestion::CpuByDesign { arms })
}

/// Share of its time that the primary job's threads computed.
fn threads_busy(trial: &TrialFacts) -> Option<f64> {
    let job = trial.primary()?;
    Some(job.cpu_ns as f64 / (f64::from(job.threads.max(1)) * job.active_ns as f64))
}

/// Share of its time that the busiest worked: the primary job's threads, or the CPUs that this
/// process, or with layers of the system this machine, has.
pub(crate) fn busiest(trial: &TrialFacts, environment: &Environment) -> Option<f64> {
    let cpus = environment.cgroup_cpus.unwrap_or(f64::INFINITY).min(f64::from(environment.cpus));
    let used_ns =
        if trial.in_system { trial.system.cpu_busy_ns } else { trial.system.process_cpu_ns };
    let of_cpus = used_ns.map(|ns| ns as f64 / (cpus * trial.window_ns as f64));
    let shares = threads_busy(trial).into_iter().chain(of_cpus);
    shares.filter(|share| share.is_finite()).reduce(f64::max)
}

fn is_by_design(evidence: &Evidence<'_>, worst: &Worst<Finding>) -> bool {
    let arm = evidence.names.iter().position(|name| *name == worst.arm);
    worst.finding.others <= MAX_OTHERS && arm.is_some_and(|arm| computes(evidence.layers(arm)))
}

fn computes(layers: &[Layer]) -> bool {
    layers.iter().any(|layer| layer.info().does == Does::Encrypts)
}

fn findings(evidence: &Evidence<'_>) -> Vec<Worst<Finding>> {
    evidence.worst_per_arm(|trial, arm| {
        let mut finding = finding(trial, &evidence.experiment.host(arm).environment)?;
        if evidence.is_in_system(arm) {
            // The others are the layers.
            finding.others = 0.0;
        }
        (finding.busy >= BUSY).then_some((finding.busy, finding))
    })
}

fn finding(trial: &TrialFacts, environment: &Environment) -> Option<Finding> {
    let window_ns = trial.window_ns as f64;
    let own_ns = trial.system.process_cpu_ns.map(|ns| ns as f64);
    let machine = f64::from(environment.cpus);
    // In a container with a CPU limit the machine's other CPUs may idle.
    if let (Some(limit), Some(own_ns)) = (environment.cgroup_cpus, own_ns)
        && limit < machine
        && own_ns >= BUSY * limit * window_ns
    {
        return Some(Finding { busy: own_ns / (limit * window_ns), cpus: limit, others: 0.0 });
    }
    let busy_ns = trial.system.cpu_busy_ns? as f64;
    let busy = busy_ns / (machine * window_ns);
    let others = own_ns.map_or(0.0, |own_ns| (1.0 - own_ns / busy_ns).max(0.0));
    busy.is_finite().then_some(Finding { busy: busy.min(1.0), cpus: machine, others })
}
