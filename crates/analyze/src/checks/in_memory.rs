use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;

/// File systems that keep their files in memory.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];

/// The target passes for a disk but lies in memory. A `mem` stack says so itself.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let arms = evidence.names.iter().enumerate();
    let found = arms.filter_map(|(arm, name)| {
        let file_system = evidence.site(arm)?.file_system.as_deref()?;
        let trials = evidence.usable(arm).count();
        IN_MEMORY.contains(&file_system).then(|| Warning {
            check: Check::CacheAnswered,
            arm: Some(name.clone()),
            message: format!("the target lies on {file_system}, in memory: no disk was measured"),
            advice: "Measure on a directory of the disk in question; for stacks, --dir says where \
                     their file lies."
                .to_owned(),
            trials: u32::try_from(trials).unwrap_or(u32::MAX),
        })
    });
    found.collect()
}
