use iotax_diagnose::{Finding, LayerCoverage};
use iotax_record::machine::PathSeen;
use iotax_record::{HostRole, Machine};
use iotax_wording::machine::{layer, surroundings};

use super::findings;
use crate::document::{Document, Item, Node, Section};

/// An inspected machine with its findings.
#[derive(Debug)]
pub struct HostFindings {
    /// Its role in the measurement, if there was one.
    pub role: HostRole,
    /// The machine as it was seen.
    pub machine: Machine,
    /// Known causes that apply to it.
    pub findings: Vec<Finding>,
    /// Which of its layers have rules.
    pub coverage: Vec<LayerCoverage>,
}

/// Writes its layers, the machine around them, the findings, and what was not seen.
pub(super) fn write(page: &mut Document, host: &HostFindings, detail: findings::Detail) {
    for path in &host.machine.paths {
        page.add(Section::of(Item::Tree(under(&host.machine, path))));
    }
    write_around(page, host, detail);
}

/// Writes all of it except its layers.
pub(super) fn write_around(page: &mut Document, host: &HostFindings, detail: findings::Detail) {
    let HostFindings { machine, findings, coverage, .. } = host;
    page.add_facts(surroundings::facts(machine));
    findings::write(page, machine, coverage, findings, detail);
    let unseen = machine.unseen.iter().map(|unseen| format!("{}: {}", unseen.what, unseen.how));
    page.add_list("Not visible", unseen.collect());
}

/// The path, and the layers under it.
pub(super) fn under(machine: &Machine, path: &PathSeen) -> Node {
    let top = path.top.and_then(|top| node(machine, top, &mut Vec::new()));
    Node {
        name: path.shell_word().unwrap_or(&path.path).to_owned(),
        about: path.problem.clone().unwrap_or_default(),
        below: top.into_iter().collect(),
        ..Node::default()
    }
}

/// `shown` holds the layers that are already in the tree: a shared layer is described once.
fn node(machine: &Machine, place: usize, shown: &mut Vec<usize>) -> Option<Node> {
    // The reference may be invalid if somebody edited the file.
    let seen = machine.nodes.get(place)?;
    let name = layer::name(&seen.layer);
    if shown.contains(&place) {
        return Some(Node { name, remark: ", as above", ..Node::default() });
    }
    shown.push(place);
    let about = layer::facts(&seen.layer).join(", ");
    let below = seen.below.iter().filter_map(|place| node(machine, *place, shown)).collect();
    Some(Node { name, about, below, ..Node::default() })
}
