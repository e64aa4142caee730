use iotax_stats::sample::count;

use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Replays that could not keep up with their recording.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let per_arm = (0..evidence.names.len()).filter_map(|arm| {
        let late: Vec<_> = evidence.usable(arm).filter_map(|trial| trial.replay_late).collect();
        let worst = late.iter().max_by(|a, b| a.mean_ns.total_cmp(&b.mean_ns))?;
        let kind = DoubtKind::ReplayLate {
            mean_ns: worst.mean_ns,
            p99_ns: worst.p99_ns,
            recorded_ns: worst.recorded_ns,
        };
        Some(Doubt::about(evidence.subject(arm), kind, count(late.len())))
    });
    per_arm.collect()
}
