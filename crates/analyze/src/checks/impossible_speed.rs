use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Room for the spread of the measured copying speed.
const ROOM: f64 = 1.1;

/// Reads faster than memory can be copied were not what they seem. A mapping is read without
/// copying, which may take half as long.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let found = evidence.worst_per_arm(|trial, arm| {
        let environment = &evidence.experiment.host(arm).environment;
        let copy = environment.memory_copy_bytes_per_s?;
        evidence
            .real_jobs(trial)
            .filter_map(|(job, facts)| {
                let threads = facts.threads.clamp(1, environment.cpus.max(1));
                let passes = if facts.engine == "mmap" { 2.0 } else { 1.0 };
                let limit = copy * f64::from(threads) * passes * ROOM;
                let speed = facts.read_bytes as f64 * 1e9 / facts.active_ns as f64;
                (speed > limit).then(|| {
                    let kind = DoubtKind::ImpossibleSpeed {
                        job: job.name.clone(),
                        bytes_per_s: speed,
                        cpus: threads,
                        copy_bytes_per_s: copy,
                    };
                    (speed / limit, kind)
                })
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
    });
    found.into_iter().map(|worst| worst.doubt(|kind| kind)).collect()
}
