//! Of a matrix: what each level of each factor changed, phase by phase.

use crate::changes::{self, Changes};
use crate::document::Section;
use crate::experiment::Part;

/// Nothing if there is no matrix.
pub(super) fn sections(parts: &[Part]) -> Vec<Section> {
    let is_of_results = parts.iter().any(|(experiment, _)| experiment.spec.is_of_results());
    let name = if is_of_results { "job" } else { "phase" };
    let changes = parts.iter().filter_map(|(_, part)| Changes::of(part));
    changes::sections(Some(name), &changes.collect::<Vec<_>>())
}
