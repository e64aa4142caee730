//! Between which ends network paths are, where that was found out when they were made.

use iotax_record::ExperimentHead;

use crate::document::{Item, Point, Section};

/// What is known of the paths of a cluster, arm by arm.
pub(crate) fn section(experiment: &ExperimentHead) -> Option<Section> {
    if !experiment.spec.workload().is_network() || experiment.spec.is_of_results() {
        return None;
    }
    let arms = experiment.spec.arms.iter().zip(&experiment.sites);
    let facts = arms
        .filter(|(_, site)| site.placed.is_some())
        .flat_map(|(arm, site)| site.notes.iter().map(|note| Point::new(&arm.name, note)));
    let facts: Vec<Point> = facts.collect();
    (!facts.is_empty()).then(|| Section::new("Paths", [Item::Facts(facts)]))
}
