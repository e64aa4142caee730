//! How long a search takes.

use iotax_experiment::Search;

use crate::scout::{Pace, nanos};
use crate::soak;

/// How long a search will probably take, in nanoseconds, pauses and waiting for bursts included at
/// their longest.
pub fn expected_ns(search: &Search) -> u64 {
    let pace = Pace::of(search);
    let probe_s = pace.shortest_s + pace.ramp_s;
    let targets = search.targets.len() as f64;
    let pairs = targets * (targets - 1.0) / 2.0;
    // The soak, then about 22 probes; for each pair 3 blocks of 3 for each of two quantities.
    let steps_s = targets * (soak::LEAST_S + 22.0 * probe_s) + pairs * 18.0 * probe_s;
    let watch_ns = search.burst.as_ref().map_or(0, |watch| {
        let pauses_ns: u64 = watch.pauses_ns.iter().sum();
        2 * search.targets.len() as u64 * (watch.longest_ns + 2 * pauses_ns)
    });
    nanos(steps_s).saturating_add(watch_ns)
}
