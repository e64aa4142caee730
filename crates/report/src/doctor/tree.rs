use iotax_record::Machine;
use iotax_record::machine::PathSeen;
use iotax_wording::machine::layer;

use crate::document::Node;

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
