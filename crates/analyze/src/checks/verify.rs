use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Data that did not read back as written.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_trials(|trial, _| {
        let blocks: u64 = trial.jobs.iter().map(|job| job.mismatches).sum();
        (blocks > 0).then_some((blocks as f64, DoubtKind::Mismatch { blocks }))
    })
}
