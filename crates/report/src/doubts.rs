//! What puts the figures of an arm in doubt, beside them.

use iotax_analyze::{Analysis, Doubt};
use iotax_experiment::Subject;
use iotax_wording::doubt::title;

use crate::document::Cell;

/// What puts the figures of this arm, or layer, in doubt.
fn doubts(analysis: &Analysis, of: &Subject) -> Vec<&'static str> {
    let is_its = |doubt: &&Doubt| doubt.of.as_ref().is_none_or(|own| own == of);
    let severe = analysis.warnings.iter().filter(is_its).filter(|doubt| doubt.is_severe());
    let mut texts: Vec<&str> = severe.map(|doubt| title(doubt.check())).collect();
    texts.dedup();
    texts
}

pub(crate) fn is_doubtful(analysis: &Analysis, of: &Subject) -> bool {
    !doubts(analysis, of).is_empty()
}

/// With what puts the figures of this arm, or layer, in doubt.
pub(crate) fn marked(cell: Cell, analysis: &Analysis, of: &Subject) -> Cell {
    let texts = doubts(analysis, of);
    if texts.is_empty() {
        return cell;
    }
    let doubts = texts.join(", ");
    let text = if cell.text.is_empty() { doubts } else { format!("{}; {doubts}", cell.text) };
    Cell { text, ..cell }
}
