//! The load itself: one I/O after the other, or a few that take most of the time.

use super::processor::{NoneLeft, ProcessorEvidence};
use super::rules::{Rule, rule, timed};
use super::waiting::WaitingEvidence;
use crate::measured::case::Case;
use crate::measured::suspect::{Confidence, Evidence, Suspect};

pub(super) const RULES: &[Rule] =
    &[rule(&["slow-few"], slow_few), timed(&["too-little-parallelism"], one_at_a_time)];

/// So few in flight use a fraction of what most disks serve at a time.
const FEW: u32 = 2;
/// An I/O that is faster is not waited for.
const SLOW_IO_MS: f64 = 0.1;
/// Share of an I/O's time that is the disk's own.
const AT_DISK: f64 = 0.6;

/// Latency in two modes.
fn slow_few(case: &Case<'_>) -> Option<Suspect> {
    let mode = case.summary.slow_mode?;
    let cpu =
        case.has_no_cpu_left().then_some(ProcessorEvidence::NoneLeft(NoneLeft::SlowOnesWaited));
    // Of buffered I/O the slow ones may be those that the page cache did not have.
    let is_doubtful = case.is_buffered() || cpu.is_some();
    let confidence = if is_doubtful { Confidence::Possible } else { Confidence::Sure };
    let suspect = Suspect::new("slow-few", confidence, mode);
    let latency = case.summary.latency.clone();
    Some(
        suspect
            .explaining(mode.share_of_time)
            .but(cpu)
            .and([Evidence::Percentiles { mode, latency }]),
    )
}

/// A program that has one I/O in flight on a disk that would serve many.
fn one_at_a_time(case: &Case<'_>) -> Option<Suspect> {
    (!case.job.engine.is_network()).then_some(())?;
    let in_flight = case.job.in_flight();
    let is_closed = case.job.pace.offered_iops().is_none();
    let direct = !case.is_buffered() && is_closed && in_flight <= FEW;
    (direct && case.latency_ms() > SLOW_IO_MS).then_some(())?;
    case.share_at_disk().is_none_or(|share| share > AT_DISK).then_some(())?;
    let latency_ns = case.summary.mean_latency_ns;
    // More in flight would not make these any faster.
    let slow_few = case.summary.slow_mode.is_some_and(|mode| mode.share_of_time > AT_DISK);
    (!slow_few && !case.has_plateau).then_some(())?;
    let cpu = case.has_no_cpu_left().then_some(ProcessorEvidence::NoneLeft(NoneLeft::MayWait));
    let confidence = if cpu.is_some() { Confidence::Possible } else { Confidence::Likely };
    let evidence = WaitingEvidence::OneByOne { in_flight, latency_ns };
    Some(Suspect::new("too-little-parallelism", confidence, evidence).but(cpu))
}
