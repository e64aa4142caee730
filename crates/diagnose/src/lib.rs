//! Known causes of slow I/O against a machine and what was measured on it. Pure.
//!
//! | from | rules | to |
//! |---|---|---|
//! | a machine as it was seen | `machine` | [`findings`] |
//! | a cluster as it was seen | `cluster` | [`cluster_findings`] |
//! | an analysis, joined with the findings under its arms | `measured` | [`of_arms`], [`reasons`] |
//! | a search for caps | `searched` | [`of_search`] |
//! | the machines of saved results | `surroundings` | [`changed_arms`] |
#![forbid(unsafe_code)]

mod cluster;
mod machine;
mod measured;
mod searched;
mod surroundings;

pub use cluster::{
    ClusterSubject, VolumeInUse, choice_of, claim_disk, cluster_findings, unknown, vm_limits,
};
pub use machine::{
    BurstFor, Certainty, Component, ComponentKind, Counted, Detail, DiskUse, Field, Finding,
    GroupRates, Lack, LayerCoverage, LayerKind, LoweredRate, Meanwhile, MemberKind, Names,
    Observation, PeakLimit, QdiscSeen, Since, Source, Value, coverage, findings, named_causes, why,
};
pub use measured::suspect::{
    Confidence, Diagnosis, Evidence, FoundThere, PathWay, Reason, Reasons, SearchEvidence, Suspect,
};
pub use measured::{of_arms, reasons};
pub use searched::of_search;
pub use surroundings::{Changed, ChangedArm, Surrounding, changed_arms};

/// What speaks for causes, as figures: an enum for each family of rules.
pub mod evidence {
    pub use crate::measured::{
        NthLayer, PutIn, above, device, limiter, memory, network, nfs, processor, waiting,
    };
}

/// Every cause that some rule can name.
pub fn all_causes() -> impl Iterator<Item = &'static str> {
    let measured = measured::named_causes().chain(searched::CAUSES);
    named_causes().chain(cluster::named_causes()).chain(measured)
}
