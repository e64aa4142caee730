//! Names of the jobs in what `iotax run --format json` prints: those that they have in its record.

use super::raw::{RawJob, RawRun};

/// Jobs of several phases may have one name: they are no clones of each other. A phase of one job
/// gives it its own name, others keep theirs unless another phase has a job of that name.
pub(super) fn name(jobs: &mut [RawJob], run: &RawRun) {
    let phases = if run.phases.is_empty() { std::slice::from_ref(run) } else { &run.phases };
    let count = |phase: &RawRun| 1 + phase.arms.first().map_or(0, |arm| arm.other_jobs.len());
    let of_phase: Vec<(&str, usize)> =
        phases.iter().map(|phase| (phase.workload.as_str(), count(phase))).collect();
    if of_phase.iter().map(|(_, count)| count).sum::<usize>() != jobs.len() {
        return; // It is none of ours, or of a version that says it otherwise.
    }
    let written: Vec<String> = jobs.iter().map(|job| job.jobname.clone()).collect();
    let mut jobs = jobs.iter_mut();
    for (workload, count) in of_phase {
        for job in jobs.by_ref().take(count) {
            let is_alone = written.iter().filter(|name| **name == job.jobname).count() == 1;
            if count == 1 && !workload.is_empty() {
                workload.clone_into(&mut job.jobname);
            } else if !is_alone {
                job.jobname = format!("{workload} {}", job.jobname);
            }
        }
    }
}
