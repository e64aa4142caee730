use iotax_quantity::mib_per_s;

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;

/// Room for the spread of the measured copying speed.
const ROOM: f64 = 1.1;

/// Reads faster than memory can be copied were not what they seem. A mapping is read without
/// copying, which may take half as long.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
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
                (speed > limit).then(|| (speed / limit, (job.name.clone(), speed, threads, copy)))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
    });
    found
        .into_iter()
        .map(|worst| {
            let (job, speed, threads, copy) = &worst.finding;
            let cpus = if *threads == 1 { "one CPU".to_owned() } else { format!("{threads} CPUs") };
            Warning {
                check: Check::ImpossibleSpeed,
                message: format!(
                    "job {job} read {}, more than {cpus} can copy in memory ({}; {})",
                    mib_per_s(*speed),
                    mib_per_s(copy * f64::from(*threads)),
                    worst.how_often()
                ),
                advice: "No storage was measured: the bytes were not moved, or never left the \
                         CPU's caches. Use a larger span (--set size=...) of real data, and check \
                         that the target is not a hole in a sparse file."
                    .to_owned(),
                trials: worst.trials,
                arm: Some(worst.arm.clone()),
            }
        })
        .collect()
}
