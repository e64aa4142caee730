//! Time that was lost for want of a CPU.

use iotax_quantity::percent;
use iotax_record::machine::Device;

use super::limiter;
use super::stack::{self, between};
use super::waiting;
use crate::measured::case::Case;
use crate::suspect::{Confidence, Suspect};

/// Less of the time held up by a quota is no cause.
const THROTTLED: f64 = 0.05;
/// Share of CPU time that the hypervisor may take.
const STOLEN: f64 = 0.1;
/// Share of the CPU time that is not this program's, and may be that of others who serve it.
const OTHERS: f64 = 0.9;
/// Share of an I/O's time that speaks against other causes.
const MOST: f64 = 0.6;

/// The control group had used up its CPU quota.
pub(super) fn cpu_quota(case: &Case<'_>) -> Option<Suspect> {
    // The kernel adds up what each CPU was held up for, and so many of them can have had work.
    let threads = case.job.threads.clamp(1, case.host().environment.cpus.max(1));
    let share = case.counters?.throttled_percent? / 100.0 / f64::from(threads);
    (share > THROTTLED).then_some(())?;
    let seen = case.machine().and_then(|machine| machine.groups.cpu.as_ref());
    let quota = seen
        .and_then(|cpu| Some(format!("{} allows {} CPUs ({})", cpu.group, cpu.cpus?, cpu.file)));
    let evidence = format!(
        "the control group had used up its CPU quota in {} of the time, and whatever was to \
         complete then had to wait",
        percent(share.min(1.0))
    );
    let suspect = Suspect::new("cpu-quota", Confidence::Sure, evidence).explaining(share);
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
    let taken = case.cpu_taken();
    let doubts = match taken {
        Some(_) => [None, None],
        None => [layers_take_most(case), others_take_most(case)],
    };
    let against = [disk_takes_most(case), limiter::holds_rate(case)].into_iter().chain(doubts);
    let against: Vec<String> = against.flatten().collect();
    let confidence = if against.is_empty() { Confidence::Likely } else { Confidence::Possible };
    let above = share_at_disk(case).map(|share| 1.0 - share);
    let suspect = Suspect::new("cpu-bound", confidence, evidence).of_time(above);
    Some(suspect.and(taken).and(pressure).but(against))
}

/// What speaks against this load: other programs, some of which may serve it.
fn others_take_most(case: &Case<'_>) -> Option<String> {
    let others = case.cpu_of_others().filter(|others| *others > OTHERS)?;
    Some(format!("{} of that was other programs and the kernel's threads", percent(others)))
}

/// What speaks against the CPU alone: layers that a stack has on purpose.
fn layers_take_most(case: &Case<'_>) -> Option<String> {
    between(case).filter(|between| between.share > stack::MOST).map(|between| between.told())
}

/// What speaks against the CPU: the disk itself keeps I/Os for most of their time.
fn disk_takes_most(case: &Case<'_>) -> Option<String> {
    let disk = case.bottom()?;
    let share = share_at_disk(case).filter(|share| *share > MOST)?;
    Some(format!("{} of the time of I/Os passed at {} itself", percent(share), disk.name))
}

/// Share of the I/Os' time that passed at a disk, where that can be told. A loop device is served by
/// a thread that waits for a CPU like all others. Buffered writes do not wait for a disk, but syncs do.
fn share_at_disk(case: &Case<'_>) -> Option<f64> {
    let lowest = case.bottom()?.name;
    let is_loop = |device: &Device| device.name == lowest && device.loop_file.is_some();
    (!case.devices_seen().into_iter().any(is_loop)).then_some(())?;
    match waiting::syncs(case) {
        Some((share, of_disk)) => Some(share * of_disk),
        None if case.is_buffered() && case.job.writes() => None,
        None => case.share_at_disk(),
    }
}
