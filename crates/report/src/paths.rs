//! Between which ends network paths are, where that was found out when they were made.

use iotax_record::ExperimentHead;

use crate::document::{Item, Point, Section};

/// What the first fact of a path in a cluster begins with.
const IN_CLUSTER: &str = "in Kubernetes: ";

/// What is known of the paths of a cluster, arm by arm.
pub(crate) fn section(experiment: &ExperimentHead) -> Option<Section> {
    if !experiment.spec.workload().is_network() {
        return None;
    }
    let arms = experiment.spec.arms.iter().zip(&experiment.sites);
    let facts = arms.flat_map(|(arm, site)| {
        let is_known = site.notes.first().is_some_and(|note| note.starts_with(IN_CLUSTER));
        let notes = site.notes.iter().filter(move |_| is_known);
        notes.map(|note| Point {
            name: arm.name.clone(),
            text: note.strip_prefix(IN_CLUSTER).unwrap_or(note).to_owned(),
            ..Point::default()
        })
    });
    let facts: Vec<Point> = facts.collect();
    (!facts.is_empty()).then(|| Section::new("Paths", [Item::Facts(facts)]))
}
