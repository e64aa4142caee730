use iotax_experiment::Subject;

use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// File systems that keep their files in memory.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];

/// The target passes for a disk but lies in memory. A `mem` stack says so itself.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let arms = evidence.names.iter().enumerate();
    let found = arms.filter_map(|(arm, name)| {
        let file_system = evidence.site(arm)?.file_system.as_deref()?;
        let trials = u32::try_from(evidence.usable(arm).count()).unwrap_or(u32::MAX);
        IN_MEMORY.contains(&file_system).then(|| {
            let kind = DoubtKind::InMemory { file_system: file_system.to_owned() };
            Doubt::about(Subject::Arm(name.clone()), kind, trials)
        })
    });
    found.collect()
}
