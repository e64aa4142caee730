//! The search engine's disk as a suite of one phase, so that it goes where suites go.

use super::suite::Suite;
use crate::presets::driver_searcher;

pub(super) const SUITE: Suite = Suite {
    name: "driver-searcher",
    about: "A search engine's disk: index files are downloaded while others are mapped and read. \
            One phase, the workload of the same name.",
    source: "Algolia (2025), a reproduction in fio of slow index loads on disks that were \
             encrypted twice; as it was published it is the workload driver-searcher-published",
    phases: || vec![driver_searcher::fed()],
};
