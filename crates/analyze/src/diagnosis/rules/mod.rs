//! The rules, one file for each place where time can go.

mod above;
mod device;
mod memory;
mod processor;
mod regime;
mod waiting;

use super::case::Case;
use super::suspect::Suspect;

/// From a case to a suspect, if it gives reason to one.
pub(super) type Rule = fn(&Case<'_>) -> Option<Suspect>;

/// All rules.
pub(super) const ALL: [Rule; 17] = [
    processor::cpu_quota,
    processor::steal,
    processor::no_cpu_left,
    memory::read_ahead_too_small,
    memory::read_ahead_too_large,
    memory::dirty_throttling,
    memory::thrash,
    memory::answered_by_cache,
    device::other_load,
    device::group_limit,
    device::split,
    device::queue_too_short,
    above::time_between_devices,
    above::encrypting_mounts,
    regime::burst_spent,
    waiting::flushes,
    waiting::one_at_a_time,
];
