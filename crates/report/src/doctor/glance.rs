//! A machine on one screen of a terminal.

use indexmap::IndexSet;
use iotax_diagnose::{Certainty, Finding};
use iotax_wording::cause;

use super::host::{HostFindings, under};
use crate::document::{Item, Node, Rank, Section};

/// Untested causes at most.
const NAMES: usize = 6;

/// The layers under each path, by name, and the findings.
pub(super) fn of(host: &HostFindings) -> Vec<(Rank, Section)> {
    let HostFindings { machine, findings, coverage, .. } = host;
    let paragraph = |rank, text| (rank, Section::of(Item::Paragraph(text)));
    let tree = |path| (Rank::Answer, Section::of(Item::Tree(names(under(machine, path)))));
    let mut screen: Vec<(Rank, Section)> = machine.paths.iter().map(tree).collect();
    if findings.is_empty() {
        screen.push(paragraph(Rank::Answer, cause::nothing_found(machine, coverage)));
    }
    let is_folded = |finding: &&&Finding| finding.certainty == Certainty::ToBeTested;
    let in_order = cause::in_order(findings);
    let (folded, whole): (Vec<&Finding>, Vec<&Finding>) = in_order.iter().partition(is_folded);
    screen.extend(whole.into_iter().map(|one| paragraph(Rank::Cause, cause::in_short(one))));
    let causes: IndexSet<&str> = folded.iter().map(|finding| finding.cause).collect();
    if !causes.is_empty() {
        let causes: Vec<&str> = causes.into_iter().collect();
        screen.push(paragraph(Rank::Detail, cause::to_be_tested(&causes, NAMES)));
    }
    screen
}

fn names(node: Node) -> Node {
    let below = node.below.into_iter().map(names).collect();
    Node { about: String::new(), below, ..node }
}
