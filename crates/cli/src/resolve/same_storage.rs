//! Refuses or warns about arms that are the same storage under two names.

use iotax_experiment::{Arm, Search, Spec};
use iotax_rig::{Common, Overlap, overlaps};

use crate::exit::{Result, usage};

/// Refuses two names of one target: a search for shared caps would learn nothing. With layers on
/// it, only warns, because that may be the question.
pub(crate) fn refuse_in_search(search: &Search) -> Result<()> {
    let arms: Vec<Arm> = search.targets.iter().map(|target| target.arm.clone()).collect();
    let (bare, layered): (Vec<_>, Vec<_>) =
        overlaps(&arms).into_iter().partition(|overlap| overlap.is_bare);
    if let Some(overlap) = bare.first() {
        return Err(usage(format!(
            "{overlap}, so they share every cap; pass only one of them, or run iotax limits once \
             for each"
        )));
    }
    for overlap in layered {
        eprintln!("warning: {overlap}, so a cap that they share may be the cap of that storage");
    }
    Ok(())
}

/// Targets of one trial are in use at the same time, and share the performance of common storage.
pub(crate) fn warn_of_targets(spec: &Spec) {
    let (apart, places) = spec.target_by_target();
    for places in places.into_iter().filter(|places| places.len() > 1) {
        for overlap in overlaps(&apart.arms[places]) {
            eprintln!("warning: {overlap}, so they compete for its throughput");
        }
    }
}

/// Warns if arms are the same storage. Arms run in turn, so this can be a deliberate A/A test.
pub(crate) fn warn_in_comparison(arms: &[Arm]) {
    let known = |name: &str| arms.iter().find(|arm| arm.name == name);
    let differs = |name: &str| known(name).map(|arm| (arm.driver, &arm.host_commands));
    let is_meant = |overlap: &Overlap| differs(&overlap.a) != differs(&overlap.b);
    for overlap in overlaps(arms).iter().filter(|overlap| overlap.is_bare && !is_meant(overlap)) {
        let why = match overlap.what {
            Common::Partition { .. } => "any difference comes from their positions on that disk",
            _ => "any difference between them is due to chance",
        };
        eprintln!("warning: {overlap}: {why}");
    }
}
