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
//! | `plateau`, `kind` | the caps and what sets them, measured again until their intervals are narrow |
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
mod duration;
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

pub use duration::expected_ns;
pub use earlier::earlier;
pub use found::{
    Burst, Cap, CapJudgment, CapKind, CapNote, Caps, CpuBoundSizes, DepthStep, Fit, FlowStep,
    LIMITS_ANALYSIS_FORMAT, Level, PathCap, PathQuantity, Plateau, Recovery, SecondPass, Shared,
    Sharing, SizeFit, TargetCaps, Undecided, Wire,
};
pub use probe::{Ended, Observation, Prober, Processors};
pub use reason::{BusySign, CapDoubt, CapReason, CapSign};
pub use rules::judge;
pub use unstated::{BlockEnd, Obstacle, Unreached, Unsteady, UnsteadyLevel};

use iotax_experiment::{Opened, Search};

use self::scout::Scout;

/// Searches the caps of all targets, and whether they are shared.
pub fn find(search: &Search, opened: &Opened, prober: &mut dyn Prober) -> Caps {
    let mut scout = Scout::new(search, opened, prober);
    let mut caps = Caps::of(search);
    caps.ended = all_targets(&mut scout, &mut caps).err();
    caps.levels = scout.into_levels();
    documented::compare(search, opened, &mut caps);
    caps.rules = judge(&search.fail_if, &caps);
    caps
}

/// Fills in what it finds step by step: if probes end, what was found until then stands.
fn all_targets(scout: &mut Scout<'_>, caps: &mut Caps) -> Result<(), Ended> {
    for (target, found) in caps.targets.iter_mut().enumerate() {
        one_target(scout, target, found)?;
    }
    if caps.targets.len() > 1 {
        sharing::find(scout, &caps.targets, (&mut caps.sharing, &mut caps.notes))?;
    }
    Ok(())
}

/// A burst may run out in the midst of the steps, and then they are done again, once.
fn one_target(scout: &mut Scout<'_>, target: usize, found: &mut TargetCaps) -> Result<(), Ended> {
    if scout.is_network(target) {
        return path::find(scout, target, found);
    }
    soak::find(scout, target, found)?;
    for is_last in [false, true] {
        scout.forget_windows(target);
        ladder::climb(scout, target, found)?;
        sizes::fit(scout, target, found)?;
        plateau::caps(scout, target, found)?;
        unsteady::look(scout, target, found)?;
        if is_last || !plateau::has_fallen(found) {
            break;
        }
        found.fell_during_search = true;
    }
    second_pass::look(scout, target, found)
}
