use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Room for the spread of the measured copying speed.
const ROOM: f64 = 1.1;

/// Reads faster than memory can be copied were not what they seem. A mapping is read without
/// copying, which may take half as long.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_jobs(|arm, job, facts| {
        let environment = &evidence.experiment.host(arm).environment;
        let copy_bytes_per_s = environment.memory_copy_bytes_per_s?;
        let cpus = facts.threads.clamp(1, environment.cpus.max(1));
        let passes = if facts.engine == "mmap" { 2.0 } else { 1.0 };
        let limit = copy_bytes_per_s * f64::from(cpus) * passes * ROOM;
        let bytes_per_s = facts.read_bytes as f64 * 1e9 / facts.active_ns as f64;
        let job = job.name.clone();
        (bytes_per_s > limit).then(|| {
            let kind = DoubtKind::ImpossibleSpeed { job, bytes_per_s, cpus, copy_bytes_per_s };
            (bytes_per_s / limit, kind)
        })
    })
}
