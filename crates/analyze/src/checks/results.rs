use iotax_experiment::Design;

use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;
use crate::facts::mixes_engines;

/// Results of other tools: were they made by the same job, and how were the runs arranged?
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let spec = &evidence.experiment.spec;
    let unlike = spec.workload().notes.iter().cloned();
    let mut kinds: Vec<DoubtKind> = unlike.map(|said| DoubtKind::UnlikeResults { said }).collect();
    // Where a sandbox forbids `io_uring`, something else drives what is direct: another load, and
    // no verdict.
    if mixes_engines(evidence.trials.iter().copied()) {
        kinds.push(DoubtKind::OtherEngines);
    }
    // Nobody randomised the order, so the difference has in it whatever else changed.
    if spec.design == Design::Compare {
        kinds.push(DoubtKind::NotInterleaved);
    }
    kinds.into_iter().map(|kind| Doubt::of_all(kind, 0)).collect()
}
