//! Caps: which there are, what kind they are, and whether targets share them.
//!
//! The search decides after each probe which one comes next. Who makes the probes is behind
//! [`Prober`]: a rig with load drivers, a record being read back, or a disk in virtual time. So
//! the search and what it concludes are one piece of code, live and offline, and none of it does
//! I/O.
//!
//! | module | idea |
//! |---|---|
//! | `probe` | the seam: a probe asked for, what it observed |
//! | `scout` | what all steps share: regions never read before, lengths of windows, the log |
//! | `soak` | saturate first: does a burst end? |
//! | `ladder` | throughput and latency over queue depth: is there a plateau? |
//! | `sizes` | throughput over block size: a throttle's kink, or a device's curve? |
//! | `plateau`, `kind` | caps and what sets them, measured until their intervals are narrow |
//! | `estimate` | a cap from many short windows: the highest level that repeats |
//! | `unsteady` | does the rate hold still at all? |
//! | `processors` | or do this machine's CPUs set the rate? |
//! | `path` | of a network path: throughput over flows, bytes and packets, each way |
//! | `second_pass` | does something above the cap answer what was read before? |
//! | `documented` | which limit binds, of those documented and those set here |
//! | `sharing` | do targets share a bucket? |
//! | `rules` | which caps break rules that were set beforehand |
//! | `found`, `reason` | the result, and why a cap is taken to be what it is |
//! | `unstated` | what stands for caps that cannot be stated |
//! | `earlier` | results of earlier formats |
#![forbid(unsafe_code)]

mod documented;
mod earlier;
mod estimate;
mod found;
mod kind;
mod ladder;
mod path;
mod plateau;
mod probe;
mod processors;
mod reason;
mod rules;
mod scout;
mod second_pass;
mod sharing;
mod sizes;
mod soak;
mod unstated;
mod unsteady;

pub use earlier::earlier;
pub use found::{
    Burst, Cap, CapJudgment, CapKind, CapNote, Caps, CpuBoundSizes, DepthStep, Fit, FlowStep,
    LIMITS_ANALYSIS_FORMAT, Level, PathCap, PathQuantity, Plateau, Recovery, SecondPass, Shared,
    Sharing, SizeFit, TargetCaps, Undecided, Wire,
};
pub use probe::{Ended, Observation, Prober, Processors};
pub use reason::{BusySign, CapDoubt, CapReason, CapSign};
pub use rules::judge;
pub use scout::expected_ns;
pub use unstated::{BlockEnd, Obstacle, Unreached, Unsteady, UnsteadyLevel};

use iotax_experiment::{Opened, Search};

use self::scout::{Scout, TargetSearch};

/// Searches the caps of all targets, and whether they are shared.
pub fn search_caps(search: &Search, opened: &Opened, prober: &mut dyn Prober) -> Caps {
    let mut scout = Scout::new(search, opened, prober);
    let mut caps = Caps::of(search);
    caps.ended = all_targets(&mut scout, &mut caps).err();
    if scout.left_out {
        caps.notes.push(CapNote::TimeLimit);
    }
    caps.levels = scout.levels;
    documented::compare(search, opened, &mut caps);
    caps.rules = judge(&search.fail_if, &caps);
    caps
}

/// Fills in what it finds step by step: if probes end, what was found until then stands.
fn all_targets(scout: &mut Scout<'_>, caps: &mut Caps) -> Result<(), Ended> {
    for (target, found) in caps.targets.iter_mut().enumerate() {
        one_target(&mut TargetSearch { scout, target, found })?;
    }
    sharing::pairs(scout, caps)
}

/// A burst may run out in the midst of the steps, and then they are done again, once.
fn one_target(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    on.scout.restart_clock();
    if on.scout.is_network(on.target) {
        return path::caps(on);
    }
    soak::saturate(on)?;
    for is_last in [false, true] {
        // Levels may have changed for good.
        on.scout.windows[on.target].clear();
        ladder::climb(on)?;
        sizes::fit(on)?;
        plateau::caps(on)?;
        unsteady::look(on)?;
        if is_last || !plateau::has_fallen(on.found) {
            break;
        }
        on.found.fell_during_search = true;
    }
    second_pass::look(on)
}
