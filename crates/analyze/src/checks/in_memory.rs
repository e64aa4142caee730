use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// File systems that keep their files in memory.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];

/// The target passes for a disk but lies in memory. A `mem` stack says so itself.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let found = (0..evidence.names.len()).filter_map(|arm| {
        let file_system = evidence.site(arm)?.file_system.as_deref()?;
        let trials = evidence.count_usable(arm);
        IN_MEMORY.contains(&file_system).then(|| {
            let kind = DoubtKind::InMemory { file_system: file_system.to_owned() };
            Doubt::about(evidence.subject(arm), kind, trials)
        })
    });
    found.collect()
}
