//! Which jobs of results have a partner on the other side, and which have none.

use indexmap::{IndexMap, IndexSet};
use iotax_experiment::{Arm, Draft};

use super::file::{Measured, ResultFile};

/// Names that are listed; beyond that a few more are counted.
const MOST_LISTED: usize = 4;

/// Of all jobs, in the order of the results.
pub(super) fn names(reads: &[ResultFile]) -> Vec<String> {
    let names = reads.iter().flat_map(|read| &read.jobs).map(|job| &job.name);
    names.collect::<IndexSet<_>>().into_iter().cloned().collect()
}

fn has(read: &ResultFile, name: &str) -> bool {
    read.jobs.iter().any(|job| job.name == name)
}

/// Whether both sides of a comparison have the job; of one arm, whether it has.
pub(super) fn has_sides(reads: &[ResultFile], spec: &Draft, name: &str) -> bool {
    let of_arm = |arm: usize| reads.iter().any(|read| read.arm == arm && has(read, name));
    match spec.arms.len() {
        1 => of_arm(0),
        _ => spec.pairs().into_iter().any(|pair| pair.into_iter().all(of_arm)),
    }
}

/// What is said of jobs that are left out, and of results that lack some of the others.
pub(super) fn missing(reads: &[ResultFile], arms: &[Arm], kept: &[String]) -> Vec<String> {
    let arms_of = |name: &str| -> Vec<&str> {
        let of_arm = |arm: &usize| reads.iter().any(|read| read.arm == *arm && has(read, name));
        (0..arms.len()).filter(of_arm).map(|arm| arms[arm].name.as_str()).collect()
    };
    let mut left_out: IndexMap<Vec<&str>, Vec<String>> = IndexMap::new();
    for name in names(reads).into_iter().filter(|name| !kept.contains(name)) {
        left_out.entry(arms_of(&name)).or_default().push(name);
    }
    let mut notes: Vec<String> = left_out
        .into_iter()
        .map(|(arms, names)| {
            format!("left out, because only {} has it: {}", arms.join(" and "), names.join(", "))
        })
        .collect();
    for name in kept {
        let lacking = reads.iter().filter(|read| !has(read, name));
        let files: Vec<String> = lacking.map(|read| read.file.display().to_string()).collect();
        if !files.is_empty() {
            notes.push(format!("{name} is not in {}", shortened(&files)));
        }
    }
    notes
}

/// `first, second`
pub(super) fn listed(jobs: &[Measured]) -> String {
    shortened(&jobs.iter().map(|job| job.name.clone()).collect::<Vec<_>>())
}

fn shortened(names: &[String]) -> String {
    let more = if names.len() > MOST_LISTED { ", ..." } else { "" };
    format!("{}{more}", names.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>().join(", "))
}

/// Whether some of them are records of several arms, of which each names its jobs.
pub(super) fn are_arms(reads: &[ResultFile]) -> bool {
    reads.iter().any(|read| read.is_ours() && read.jobs.iter().all(|job| job.name.contains(": ")))
}
