//! Of a matrix: what each level of each factor changed, phase by phase.

use crate::document::Section;
use crate::experiment::Part;
use crate::matrix;

/// `None` if there is no matrix.
pub(super) fn section(parts: &[Part]) -> Option<Section> {
    let is_of_results = parts.iter().any(|(experiment, _)| experiment.spec.is_of_results());
    let name = if is_of_results { "job" } else { "phase" };
    let matrices =
        parts.iter().filter_map(|(_, part)| Some((part.workload.as_str(), part.matrix.as_ref()?)));
    matrix::shifts(Some(name), &matrices.collect::<Vec<_>>())
}
