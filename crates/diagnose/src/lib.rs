//! Known causes of slow I/O against a machine and what was measured on it. Pure.
//!
//! | from | rules | to |
//! |---|---|---|
//! | a machine as it was seen | `machine` | [`findings`] |
//! | a cluster as it was seen | `cluster` | [`cluster_findings`] |
//! | an analysis, joined with the findings under its arms | `measured` | [`of_arms`], [`reasons`] |
//! | a search for caps | `searched` | [`of_search`] |
#![forbid(unsafe_code)]

mod cluster;
mod machine;
mod measured;
mod searched;
mod suspect;

pub use cluster::{
    Subject, VolumeInUse, choice_of, claim_disk, cluster_findings, documented_limits, unknown,
    vm_limits,
};
pub use machine::{
    Certainty, Finding, LayerCoverage, Observation, coverage, findings, named_causes,
};
pub use measured::{of_arms, reasons};
pub use searched::of_search;
pub use suspect::{Confidence, Diagnosis, Reason, Reasons, Suspect};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_cause_of_the_catalogue_has_a_rule() {
        let causes: BTreeSet<_> =
            iotax_catalog::causes().iter().map(|cause| cause.id.as_str()).collect();
        let measured = crate::measured::named_causes().chain(crate::searched::CAUSES);
        let named = crate::named_causes().chain(crate::cluster::named_causes()).chain(measured);
        let named: BTreeSet<_> = named.collect();
        assert_eq!(named, causes);
    }
}
