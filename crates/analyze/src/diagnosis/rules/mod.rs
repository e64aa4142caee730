//! The rules, one file for each place where time can go.

mod above;
mod device;
mod memory;
mod processor;
mod regime;
mod waiting;

use super::case::Case;
use super::suspect::Suspect;

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
pub(super) const ALL: [Rule; 17] = [
    rule(&["cpu-quota"], processor::cpu_quota),
    rule(&["cpu-steal"], processor::steal),
    rule(&["cpu-bound"], processor::no_cpu_left),
    rule(&["read-ahead"], memory::read_ahead_too_small),
    rule(&["read-ahead-waste"], memory::read_ahead_too_large),
    rule(&["dirty-throttling"], memory::dirty_throttling),
    rule(&["cgroup-memory", "page-cache-thrash"], memory::thrash),
    rule(&["cache-answers"], memory::answered_by_cache),
    rule(&["neighbour"], device::other_load),
    rule(&["cgroup-io-max"], device::group_limit),
    rule(&["io-split"], device::split),
    rule(&["queue-too-short"], device::queue_too_short),
    rule(
        &[
            "dm-crypt-workqueues",
            "dm-crypt-small-sectors",
            "encryption-in-path",
            "encrypted-twice",
            "loop-double-caching",
        ],
        above::time_between_devices,
    ),
    rule(&["encryption-in-path", "encrypted-twice"], above::encrypting_mounts),
    rule(&["burst-spent"], regime::burst_spent),
    rule(&["flush-bound"], waiting::flushes),
    rule(&["too-little-parallelism"], waiting::one_at_a_time),
];
