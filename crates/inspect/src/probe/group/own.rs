//! The groups that this process is in.

use crate::cgroup::{Level, levels};
use crate::mounts::Mount;

/// Where this process stands in its hierarchies.
pub(super) struct Own<'a> {
    pub(super) mounts: &'a [Mount],
    pub(super) membership: &'a str,
}

impl Own<'_> {
    /// Its groups in the hierarchies that may have a controller, named as in version 1.
    pub(super) fn of(&self, controller: &str) -> Vec<Level> {
        let levels =
            self.mounts.iter().flat_map(|mount| levels(mount, self.membership, controller));
        levels.collect()
    }
}
