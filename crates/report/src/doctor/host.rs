use iotax_diagnose::{Finding, LayerCoverage};
use iotax_record::machine::PathSeen;
use iotax_record::{HostRole, Machine};
use iotax_wording::machine::{layer, surroundings};

use super::findings;
use crate::document::{Document, Item, Node, Section};

/// A machine that was looked at, and what is known to hurt on such.
#[derive(Debug)]
pub struct HostFindings {
    /// What it had to do with the measurement, if there was one.
    pub role: HostRole,
    /// What was seen of it.
    pub machine: Machine,
    /// What was found there.
    pub findings: Vec<Finding>,
    /// Which of its layers there are rules for.
    pub coverage: Vec<LayerCoverage>,
}

/// Its layers, what is around them, the findings, and what was not seen.
pub(super) fn write(page: &mut Document, host: &HostFindings, detail: findings::Detail) {
    for path in &host.machine.paths {
        page.add(Section::of(Item::Tree(under(&host.machine, path))));
    }
    write_around(page, host, detail);
}

/// All of it but its layers.
pub(super) fn write_around(page: &mut Document, host: &HostFindings, detail: findings::Detail) {
    let HostFindings { machine, findings, coverage, .. } = host;
    page.add_facts(surroundings::facts(machine));
    findings::write(page, machine, coverage, findings, detail);
    let unseen = machine.unseen.iter().map(|unseen| format!("{}: {}", unseen.what, unseen.how));
    page.add_list("Not seen", unseen.collect());
}

/// The path, and under it each layer below the one it lies on.
pub(super) fn under(machine: &Machine, path: &PathSeen) -> Node {
    let top = path.top.and_then(|top| node(machine, top, &mut Vec::new()));
    Node {
        name: path.shell_word().unwrap_or(&path.path).to_owned(),
        about: path.problem.clone().unwrap_or_default(),
        below: top.into_iter().collect(),
        ..Node::default()
    }
}

/// `told`: layers on which several lie are told once.
fn node(machine: &Machine, place: usize, told: &mut Vec<usize>) -> Option<Node> {
    // A file that was edited by hand may lead nowhere.
    let seen = machine.nodes.get(place)?;
    let name = layer::name(&seen.layer);
    if told.contains(&place) {
        return Some(Node { name, remark: ", as above", ..Node::default() });
    }
    told.push(place);
    let about = layer::facts(&seen.layer).join(", ");
    let below = seen.below.iter().filter_map(|place| node(machine, *place, told)).collect();
    Some(Node { name, about, below, ..Node::default() })
}
