//! The rules, one file for each place where time can go.

mod above;
mod crypt;
mod device;
mod limiter;
mod memory;
mod network;
mod nfs;
mod processor;
mod regime;
mod stack;
mod stalls;
mod waiting;

pub(super) use limiter::limited_beside;

use super::case::Case;
use crate::suspect::{Confidence, Suspect};

/// From a case to a suspect.
pub(super) struct Rule {
    /// The causes that it can name.
    pub causes: &'static [&'static str],
    judge: fn(&Case<'_>) -> Option<Suspect>,
    /// What it measures is time that waiting for a CPU adds to.
    includes_cpu_wait: bool,
    /// Whether the counters that it judges by are there.
    is_counted: fn(&Case<'_>) -> bool,
}

impl Rule {
    /// A suspect, if the case gives reason to one. It is as sure as the share of the time that its
    /// own measurement explains, whatever the rule thinks of it.
    pub(super) fn suspect(&self, case: &Case<'_>) -> Option<Suspect> {
        let suspect = (self.judge)(case)?;
        debug_assert!(self.causes.contains(&suspect.cause.as_str()), "{}", suspect.cause);
        let most = Confidence::of_share(suspect.explains);
        let suspect = suspect.at_most(most);
        let taken = case.cpu_taken().filter(|_| self.includes_cpu_wait);
        Some(match taken {
            Some(taken) => {
                let taken = format!("{taken}: the time may be that of waiting for a CPU");
                suspect.at_most(Confidence::Possible).but([taken])
            }
            None => suspect,
        })
    }
}

const fn rule(causes: &'static [&'static str], judge: fn(&Case<'_>) -> Option<Suspect>) -> Rule {
    Rule { causes, judge, includes_cpu_wait: false, is_counted: counts_devices }
}

/// A rule whose measurement cannot tell its cause from waiting for a CPU.
const fn timed(causes: &'static [&'static str], judge: fn(&Case<'_>) -> Option<Suspect>) -> Rule {
    Rule { causes, judge, includes_cpu_wait: true, is_counted: counts_devices }
}

fn counts_devices(case: &Case<'_>) -> bool {
    !case.devices().is_empty()
}

/// Whether some rule would have named this cause here, if it acted.
pub(super) fn measures(named: &str, case: &Case<'_>) -> bool {
    let of_cause = |rule: &&Rule| rule.causes.contains(&named);
    ALL.iter().filter(of_cause).any(|rule| (rule.is_counted)(case))
}

pub(super) const ALL: [Rule; 31] = [
    rule(&["cpu-quota"], processor::cpu_quota),
    rule(&["cpu-steal"], processor::steal),
    // Before the CPUs, which are busy with it.
    timed(&["nfs-kerberos"], nfs::kerberos),
    timed(&["nfs-slots"], nfs::slots),
    rule(&["nfs-gss-window", "nfs-retransmissions"], nfs::sent_again),
    rule(&["nfs-gss-window"], nfs::lost_contexts),
    timed(&["nfs-read-ahead"], nfs::read_ahead),
    timed(&["nfs-attribute-cache"], nfs::attribute_cache),
    rule(&["packets-lost"], network::lost),
    rule(&["shaper-in-path"], network::shaped),
    rule(&["cpu-bound"], processor::no_cpu_left),
    timed(&["read-ahead"], memory::read_ahead_too_small),
    rule(&["read-ahead-waste"], memory::read_ahead_too_large),
    timed(&["dirty-throttling"], memory::dirty_throttling),
    rule(&["cgroup-memory", "page-cache-thrash"], memory::thrash),
    rule(&["cache-answers"], memory::answered_by_cache),
    rule(&["neighbour"], device::other_load),
    timed(&["saturated-device"], device::busy_with_other_jobs),
    timed(&["encryption-in-path", "encrypted-twice"], stack::time_in_encryption),
    rule(&["cgroup-io-max"], device::group_limit),
    rule(&["io-split"], device::split),
    timed(&["queue-too-short"], device::queue_too_short),
    timed(
        &["dm-crypt-workqueues", "dm-crypt-small-sectors", "encryption-in-path", "encrypted-twice"],
        crypt::time_in_dm_crypt,
    ),
    Rule {
        // A loop device over a network or a program has no device below it.
        is_counted: |case| case.devices().len() > 1,
        ..timed(&["loop-double-caching"], above::time_in_loop_device)
    },
    timed(&["encryption-in-path", "encrypted-twice"], above::encrypting_mounts),
    timed(&["burst-spent"], regime::burst_spent),
    timed(&["flush-bound"], waiting::flushes),
    rule(&["sync-mount"], waiting::each_change),
    rule(&["throttle"], limiter::limited),
    rule(&["slow-few"], stalls::slow_few),
    timed(&["too-little-parallelism"], waiting::one_at_a_time),
];
