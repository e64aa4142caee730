//! The rules, one file for each place where time can go.

mod above;
mod crypt;
mod device;
mod memory;
mod network;
mod nfs;
mod processor;
mod regime;
mod stack;
mod waiting;

use super::case::Case;
use crate::suspect::Suspect;

/// From a case to a suspect.
pub(super) struct Rule {
    /// The causes that it can name.
    pub causes: &'static [&'static str],
    judge: fn(&Case<'_>) -> Option<Suspect>,
}

impl Rule {
    /// A suspect, if the case gives reason to one.
    pub(super) fn suspect(&self, case: &Case<'_>) -> Option<Suspect> {
        let suspect = (self.judge)(case)?;
        debug_assert!(self.causes.contains(&suspect.cause.as_str()), "{}", suspect.cause);
        Some(suspect)
    }
}

const fn rule(causes: &'static [&'static str], judge: fn(&Case<'_>) -> Option<Suspect>) -> Rule {
    Rule { causes, judge }
}

/// All rules.
pub(super) const ALL: [Rule; 29] = [
    rule(&["cpu-quota"], processor::cpu_quota),
    rule(&["cpu-steal"], processor::steal),
    // Before the CPUs, which are busy with it.
    rule(&["nfs-kerberos"], nfs::kerberos),
    rule(&["nfs-slots"], nfs::slots),
    rule(&["nfs-gss-window", "nfs-retransmissions"], nfs::sent_again),
    rule(&["nfs-gss-window"], nfs::lost_contexts),
    rule(&["nfs-read-ahead"], nfs::read_ahead),
    rule(&["nfs-attribute-cache"], nfs::attribute_cache),
    rule(&["packets-lost"], network::lost),
    rule(&["shaper-in-path"], network::shaped),
    rule(&["cpu-bound"], processor::no_cpu_left),
    rule(&["read-ahead"], memory::read_ahead_too_small),
    rule(&["read-ahead-waste"], memory::read_ahead_too_large),
    rule(&["dirty-throttling"], memory::dirty_throttling),
    rule(&["cgroup-memory", "page-cache-thrash"], memory::thrash),
    rule(&["cache-answers"], memory::answered_by_cache),
    rule(&["neighbour"], device::other_load),
    rule(&["saturated-device"], device::busy_with_other_jobs),
    rule(&["encryption-in-path", "encrypted-twice"], stack::time_in_encryption),
    rule(&["cgroup-io-max"], device::group_limit),
    rule(&["io-split"], device::split),
    rule(&["queue-too-short"], device::queue_too_short),
    rule(
        &["dm-crypt-workqueues", "dm-crypt-small-sectors", "encryption-in-path", "encrypted-twice"],
        crypt::time_in_dm_crypt,
    ),
    rule(&["loop-double-caching"], above::time_in_loop_device),
    rule(&["encryption-in-path", "encrypted-twice"], above::encrypting_mounts),
    rule(&["burst-spent"], regime::burst_spent),
    rule(&["flush-bound"], waiting::flushes),
    rule(&["sync-mount"], waiting::each_change),
    rule(&["too-little-parallelism"], waiting::one_at_a_time),
];
