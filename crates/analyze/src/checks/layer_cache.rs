use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;

/// Layers with a cache of their own (a loop device that cannot bypass the page cache below it, a
/// FUSE file system): their reads may never reach what is below, so that its cost does not show.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let names = evidence.names.iter().enumerate();
    names
        .filter_map(|(arm, name)| Some((name, evidence.site(arm)?)))
        .flat_map(|(name, site)| site.caches.iter().map(move |cache| (name, cache)))
        .map(|(name, cache)| Warning {
            check: Check::LayerCache,
            arm: Some(name.clone()),
            message: format!("{name}: {cache}"),
            advice: "What is below such a layer is only measured where its cache misses. Use a \
                     span larger than memory, or look at the device's own counters (iostat)."
                .to_owned(),
            trials: 0,
        })
        .collect()
}
