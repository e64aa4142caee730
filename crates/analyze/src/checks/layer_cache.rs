use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Layers with a cache of their own (a loop device that cannot bypass the page cache below it, a
/// FUSE file system): their reads may never reach what is below, so that its cost does not show.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let doubts = |arm: usize| {
        let caches = evidence.site(arm).map_or(&[][..], |site| &site.caches);
        let kinds = caches.iter().map(|cache| DoubtKind::LayerCache { cache: cache.clone() });
        kinds.map(move |kind| Doubt::about(evidence.subject(arm), kind, 0))
    };
    (0..evidence.names.len()).flat_map(doubts).collect()
}
