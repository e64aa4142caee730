//! What is said of arms that are the same storage under two names.

use iotax_experiment::{Arm, Search, Spec};
use iotax_rig::{Common, Overlap, overlaps};

use crate::exit::{Result, usage};

/// Two targets in use at the same time are asked whether they share a bucket: one thing under two
/// names does, and nothing is learnt. Behind different layers it may be what is asked.
pub(crate) fn refuse_in_search(search: &Search) -> Result<()> {
    let arms: Vec<Arm> = search.targets.iter().map(|target| target.arm.clone()).collect();
    let (bare, layered): (Vec<_>, Vec<_>) =
        overlaps(&arms).into_iter().partition(|overlap| overlap.is_bare);
    if let Some(overlap) = bare.first() {
        return Err(usage(format!(
            "{overlap}: they share every cap, so asking whether they do tells nothing; name one \
             of them, or run iotax limits once for each"
        )));
    }
    for overlap in layered {
        eprintln!("warning: {overlap}: a bucket that they share may be that of what is below both");
    }
    Ok(())
}

/// Targets of one trial are in use at the same time: on one thing they share what it can do.
pub(crate) fn warn_of_targets(spec: &Spec) {
    let (apart, places) = spec.target_by_target();
    for places in places.into_iter().filter(|places| places.len() > 1) {
        for overlap in overlaps(&apart.arms[places]) {
            eprintln!("warning: {overlap}: they share what it can do");
        }
    }
}

/// Arms run in turn, so that a comparison of a thing with itself is a test of the method; who did
/// not mean it is told.
pub(crate) fn warn_in_comparison(arms: &[Arm]) {
    let known = |name: &str| arms.iter().find(|arm| arm.name == name);
    let differs = |name: &str| known(name).map(|arm| (arm.driver, &arm.host_commands));
    let is_meant = |overlap: &Overlap| differs(&overlap.a) != differs(&overlap.b);
    for overlap in overlaps(arms).iter().filter(|overlap| overlap.is_bare && !is_meant(overlap)) {
        let why = match overlap.what {
            Common::Partition { .. } => "a difference is one of places on that disk",
            _ => "a difference between them is chance",
        };
        eprintln!("warning: {overlap}: {why}");
    }
}
