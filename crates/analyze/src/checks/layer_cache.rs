use iotax_experiment::Subject;

use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Layers with a cache of their own (a loop device that cannot bypass the page cache below it, a
/// FUSE file system): their reads may never reach what is below, so that its cost does not show.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let names = evidence.names.iter().enumerate();
    names
        .filter_map(|(arm, name)| Some((name, evidence.site(arm)?)))
        .flat_map(|(name, site)| site.caches.iter().map(move |cache| (name, cache)))
        .map(|(name, cache)| {
            let kind = DoubtKind::LayerCache { cache: cache.clone() };
            Doubt::about(Subject::Arm(name.clone()), kind, 0)
        })
        .collect()
}
