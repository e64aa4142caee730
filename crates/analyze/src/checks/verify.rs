use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Data that did not read back as written.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let found = evidence.worst_per_arm(|trial, _| {
        let blocks: u64 = trial.jobs.iter().map(|job| job.mismatches).sum();
        (blocks > 0).then_some((blocks as f64, blocks))
    });
    found.into_iter().map(|worst| worst.doubt(|blocks| DoubtKind::Mismatch { blocks })).collect()
}
