//! Time that was lost for want of a CPU.

use iotax_record::machine::Device;
use serde::Serialize;

use super::above::{self, between};
use super::limiter;
use super::waiting;
use super::{Rule, rule};
use crate::measured::case::Case;
use crate::measured::suspect::{Confidence, Evidence, Suspect};

/// CPUs that this machine was not given.
pub(super) const WITHHELD: &[Rule] =
    &[rule(&["cpu-quota"], cpu_quota), rule(&["cpu-steal"], steal)];
pub(super) const RULES: &[Rule] = &[rule(&["cpu-bound"], no_cpu_left)];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessorEvidence {
    QuotaUsedUp { share: f64 },
    Quota { group: String, cpus: f64, file: String },
    Stolen { share: f64 },
    AllBusy { share: f64, in_kernel: f64 },
    Waited { share: f64 },
    // Other programs took so much of the CPU time.
    Taken { share: f64 },
    // The same, where what was measured may be waiting for a CPU.
    TakenFrom { share: f64 },
    NotOurs { share: f64 },
    AtDisk { share: f64, disks: Vec<String> },
    // No CPU was left, and what that may mean.
    NoneLeft(NoneLeft),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoneLeft {
    AnotherBegan,
    EncryptionNeedsThem,
    SlowOnesWaited,
    MayWait,
}

/// Less of the time held up by a quota is no cause.
const THROTTLED: f64 = 0.05;
/// Share of CPU time that the hypervisor may take.
const STOLEN: f64 = 0.1;
/// Share of the CPU time that is not this program's, and may be that of others who serve it.
const OTHERS: f64 = 0.9;
/// Share of an I/O's time that speaks against other causes.
const MOST: f64 = 0.6;

/// The control group had used up its CPU quota.
fn cpu_quota(case: &Case<'_>) -> Option<Suspect> {
    // The kernel adds up what each CPU was held up for, and so many of them can have had work.
    let threads = case.job.threads.clamp(1, case.host().environment.cpus.max(1));
    let share = case.counters?.throttled_percent? / 100.0 / f64::from(threads);
    (share > THROTTLED).then_some(())?;
    let seen = case.machine().and_then(|machine| machine.groups.cpu.as_ref());
    let quota = seen.and_then(|cpu| {
        let (group, file) = (cpu.group.clone(), cpu.file.clone());
        Some(ProcessorEvidence::Quota { group, cpus: cpu.cpus?, file })
    });
    let evidence = ProcessorEvidence::QuotaUsedUp { share: share.min(1.0) };
    let suspect = Suspect::new("cpu-quota", Confidence::Sure, evidence).explaining(share);
    Some(suspect.and(quota).but(disk_takes_most(case)))
}

/// The hypervisor ran others instead.
fn steal(case: &Case<'_>) -> Option<Suspect> {
    let stolen = case.counters?.cpu?.steal_percent / 100.0;
    (stolen > STOLEN).then(|| {
        let evidence = ProcessorEvidence::Stolen { share: stolen };
        Suspect::new("cpu-steal", Confidence::Sure, evidence).explaining(stolen)
    })
}

/// Every CPU was busy.
fn no_cpu_left(case: &Case<'_>) -> Option<Suspect> {
    case.has_no_cpu_left().then_some(())?;
    let (busy, cpu) = (case.cpu_busy()?, case.counters?.cpu?);
    let evidence =
        ProcessorEvidence::AllBusy { share: busy, in_kernel: cpu.system_percent / 100.0 / busy };
    let pressure = case.counters?.pressure.cpu;
    let pressure =
        pressure.map(|cpu| ProcessorEvidence::Waited { share: cpu.some_percent / 100.0 });
    let taken = case.cpu_taken();
    let doubts = match taken {
        Some(_) => [None, None],
        None => [layers_take_most(case), others_take_most(case)],
    };
    let disk = disk_takes_most(case).map(Evidence::from);
    let against = [disk, limiter::holds_rate(case).map(Evidence::from)].into_iter().chain(doubts);
    let against: Vec<Evidence> = against.flatten().collect();
    let confidence = if against.is_empty() { Confidence::Likely } else { Confidence::Possible };
    let above = share_at_disk(case).map(|share| 1.0 - share);
    let suspect = Suspect::new("cpu-bound", confidence, evidence).explaining(above);
    Some(
        suspect
            .and(taken.map(|share| ProcessorEvidence::Taken { share }))
            .and(pressure)
            .but(against),
    )
}

/// What speaks against this load: other programs, some of which may serve it.
fn others_take_most(case: &Case<'_>) -> Option<Evidence> {
    let share = case.cpu_of_others().filter(|others| *others > OTHERS)?;
    Some(ProcessorEvidence::NotOurs { share }.into())
}

/// What speaks against the CPU alone: layers that a stack has on purpose.
fn layers_take_most(case: &Case<'_>) -> Option<Evidence> {
    between(case).filter(|between| between.share > above::MOST).map(Evidence::from)
}

/// What speaks against the CPU: the disk itself keeps I/Os for most of their time.
fn disk_takes_most(case: &Case<'_>) -> Option<ProcessorEvidence> {
    let disks = case.bottom()?.disks;
    let share = share_at_disk(case).filter(|share| *share > MOST)?;
    Some(ProcessorEvidence::AtDisk { share, disks })
}

/// Share of the I/Os' time that passed at a disk, where that can be told. A loop device is served
/// by a thread that waits for a CPU like all others. Buffered writes do not wait for a disk, but
/// syncs do.
fn share_at_disk(case: &Case<'_>) -> Option<f64> {
    let lowest = case.bottom()?.disks;
    let is_loop = |device: &Device| lowest == [&*device.name] && device.loop_file.is_some();
    (!case.devices_seen().into_iter().any(is_loop)).then_some(())?;
    match waiting::syncs(case) {
        Some((share, of_disk)) => Some(share * of_disk),
        None if case.is_buffered() && case.job.writes() => None,
        None => case.share_at_disk(),
    }
}
