//! What the first screen of a terminal shows of a machine, and no other format.

use iotax_diagnose::{Certainty, Finding};
use iotax_wording::cause;

use super::host::{HostFindings, under};
use crate::document::{Item, Node, Rank, Section};

/// Findings that are yet to be tested, at most.
const NAMES: usize = 6;

/// What lies under each path, by name, and what hurts there.
pub(super) fn sections(host: &HostFindings) -> Vec<Section> {
    let HostFindings { machine, findings, coverage, .. } = host;
    let tree = |path| Section::of(Item::Tree(names(under(machine, path)))).on_screen(Rank::Answer);
    let mut sections: Vec<Section> = machine.paths.iter().map(tree).collect();
    let paragraph = |text: String| Section::of(Item::Paragraph(text));
    if findings.is_empty() {
        let text = cause::nothing_found(machine, coverage);
        sections.push(paragraph(text).on_screen(Rank::Answer));
    }
    let is_folded = |finding: &&&Finding| finding.certainty == Certainty::ToBeTested;
    let in_order = cause::in_order(findings);
    let (folded, whole): (Vec<&Finding>, Vec<&Finding>) = in_order.iter().partition(is_folded);
    let in_short = |finding| paragraph(cause::in_short(finding)).on_screen(Rank::Cause);
    sections.extend(whole.into_iter().map(in_short));
    if !folded.is_empty() {
        let mut causes: Vec<&str> = folded.iter().map(|finding| finding.cause).collect();
        causes.dedup();
        sections.push(paragraph(cause::to_be_tested(&causes, NAMES)).on_screen(Rank::Detail));
    }
    sections
}

fn names(node: Node) -> Node {
    let below = node.below.into_iter().map(names).collect();
    Node { about: String::new(), below, ..node }
}
