//! What puts the figures of an arm in doubt, beside them.

use iotax_analyze::Analysis;

use crate::document::Cell;
use crate::words;

/// What puts the figures of this arm in doubt.
fn doubts(analysis: &Analysis, arm: &str) -> Vec<&'static str> {
    let is_its = |of: &Option<String>| of.as_deref().is_none_or(|of| of == arm);
    let of_arm = analysis.warnings.iter().filter(|warning| is_its(&warning.arm));
    let severe = of_arm.map(|warning| words::check(warning.check)).filter(|(_, severe)| *severe);
    let mut texts: Vec<&str> = severe.map(|(kind, _)| kind).collect();
    texts.dedup();
    texts
}

pub(crate) fn is_doubtful(analysis: &Analysis, arm: &str) -> bool {
    !doubts(analysis, arm).is_empty()
}

/// With what puts the figures of this arm in doubt.
pub(crate) fn marked(cell: Cell, analysis: &Analysis, arm: &str) -> Cell {
    let texts = doubts(analysis, arm);
    if texts.is_empty() {
        return cell;
    }
    let doubts = texts.join(", ");
    let text = if cell.text.is_empty() { doubts } else { format!("{}; {doubts}", cell.text) };
    Cell { text, ..cell }
}
