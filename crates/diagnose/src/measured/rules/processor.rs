//! Time that was lost for want of a CPU.

use iotax_words::percent;

use super::stack::{self, between};
use crate::measured::case::Case;
use crate::suspect::{Confidence, Suspect};

/// Less of the time held up by a quota is no cause.
const THROTTLED: f64 = 0.05;
/// So much is no accident.
const SURELY_THROTTLED: f64 = 0.2;
/// Share of CPU time that the hypervisor may take.
const STOLEN: f64 = 0.1;
/// Share of the CPU time that is not this program's.
const OTHERS: f64 = 0.9;
/// Share of an I/O's time that speaks against other causes.
const MOST: f64 = 0.6;

/// The control group had used up its CPU quota.
pub(super) fn cpu_quota(case: &Case<'_>) -> Option<Suspect> {
    let share = case.counters?.throttled_percent? / 100.0;
    (share > THROTTLED).then_some(())?;
    let confidence = if share > SURELY_THROTTLED { Confidence::Sure } else { Confidence::Likely };
    let seen = case.machine().and_then(|machine| machine.groups.cpu.as_ref());
    let quota = seen
        .and_then(|cpu| Some(format!("{} allows {} CPUs ({})", cpu.group, cpu.cpus?, cpu.file)));
    let evidence = format!(
        "the control group had used up its CPU quota in {} of the time, and whatever was to \
         complete then had to wait",
        percent(share.min(1.0))
    );
    let suspect = Suspect::new("cpu-quota", confidence, evidence).explaining(share);
    Some(suspect.and(quota).but(disk_takes_most(case)))
}

/// The hypervisor ran others instead.
pub(super) fn steal(case: &Case<'_>) -> Option<Suspect> {
    let stolen = case.counters?.cpu?.steal_percent / 100.0;
    (stolen > STOLEN).then(|| {
        let evidence = format!("the hypervisor took {} of the CPU time", percent(stolen));
        Suspect::new("cpu-steal", Confidence::Sure, evidence).explaining(stolen)
    })
}

/// Every CPU was busy.
pub(super) fn no_cpu_left(case: &Case<'_>) -> Option<Suspect> {
    case.has_no_cpu_left().then_some(())?;
    let (busy, cpu) = (case.cpu_busy()?, case.counters?.cpu?);
    let evidence = format!(
        "all CPUs were busy for {} of the time, {} of it in the kernel",
        percent(busy),
        percent(cpu.system_percent / 100.0 / busy)
    );
    let pressure = case.counters?.pressure.cpu.map(|cpu| {
        format!("tasks waited for a CPU for {} of the time", percent(cpu.some_percent / 100.0))
    });
    let against = [disk_takes_most(case), layers_take_most(case), others_take_most(case)];
    let is_doubtful = against.iter().any(Option::is_some);
    let confidence = if is_doubtful { Confidence::Possible } else { Confidence::Likely };
    let suspect = Suspect::new("cpu-bound", confidence, evidence).and(pressure);
    Some(suspect.but(against.into_iter().flatten()))
}

/// What speaks against this load: other programs, some of which may serve it.
fn others_take_most(case: &Case<'_>) -> Option<String> {
    let (all, own) = (case.work.cpu_busy_ns?, case.work.process_cpu_ns?);
    let others = 1.0 - own as f64 / all.max(1) as f64;
    (others > OTHERS)
        .then(|| format!("{} of that was other programs and the kernel's threads", percent(others)))
}

/// What speaks against the CPU alone: layers that a stack has on purpose.
fn layers_take_most(case: &Case<'_>) -> Option<String> {
    between(case).filter(|between| between.share > stack::MOST).map(|between| between.told())
}

/// What speaks against the CPU: the disk itself keeps I/Os for most of their time.
fn disk_takes_most(case: &Case<'_>) -> Option<String> {
    let disk = case.bottom()?;
    let share = case.share_at_disk().filter(|share| *share > MOST)?;
    Some(format!("{} of the time of I/Os passed at {} itself", percent(share), disk.name))
}
