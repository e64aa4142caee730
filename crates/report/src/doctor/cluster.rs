//! Report on an inspected cluster: claims and what is under them, classes, nodes, findings.

use iotax_diagnose::{ClusterSubject, Finding};
use iotax_record::cluster::{ClaimSeen, ClassSeen, ClusterSeen, NodeSeen, VolumeSeen};
use iotax_wording::machine::cluster;
use serde_json::json;

use super::findings::{Detail, write_found};
use super::json::finding;
use super::probed::Probed;
use crate::document::{Document, Item, Node, Point, Section};
use crate::json::text::json_text;

/// Version of the JSON format.
const FORMAT: u32 = 1;
/// Largest number of claims, and of healthy nodes, that are shown if no subject is given.
const MOST: usize = 8;

/// Writes the layers under the requested claims, classes, nodes, the network, findings, and what
/// could not be seen.
pub fn cluster_doctor(
    seen: &ClusterSeen,
    findings: &[Finding],
    subjects: &[ClusterSubject],
    pods: &[Probed],
    detail: Detail,
) -> Document {
    let mut page = Document::default();
    write_claims(&mut page, seen, subjects, pods, detail);
    write_classes(&mut page, seen, subjects);
    write_nodes(&mut page, seen, subjects, detail);
    if subjects.is_empty() && is_seen(seen) {
        write_network(&mut page, seen);
    }
    if findings.is_empty() {
        page.add_paragraph(if is_seen(seen) {
            cluster::NOTHING_FOUND
        } else {
            cluster::NOTHING_SEEN
        });
    } else {
        write_found(&mut page, &findings.iter().collect::<Vec<_>>(), detail);
    }
    for pod in pods {
        pod.write(&mut page, detail);
    }
    let unseen = seen.unseen.iter().map(|unseen| format!("{}: {}", unseen.what, unseen.how));
    page.add_list("Not visible", unseen.collect());
    page
}

/// One JSON object: `findings`, `cluster` (everything that was seen), `pods` (what each pod saw).
pub fn cluster_doctor_json(seen: &ClusterSeen, findings: &[Finding], pods: &[Probed]) -> String {
    json_text(&json!({
        "format": FORMAT,
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        "pods": pods.iter().map(Probed::json).collect::<Vec<_>>(),
        "unseen": seen.unseen,
        "cluster": seen,
    }))
}

fn is_seen(seen: &ClusterSeen) -> bool {
    seen.knows_classes || !seen.nodes.is_empty() || !seen.claims.is_empty()
}

fn write_claims(
    page: &mut Document,
    seen: &ClusterSeen,
    subjects: &[ClusterSubject],
    pods: &[Probed],
    detail: Detail,
) {
    let is_requested = |claim: &&ClaimSeen| {
        subjects.is_empty() || subjects.iter().any(|subject| subject.has_claim(seen, claim))
    };
    let claims: Vec<_> = seen.claims.iter().filter(is_requested).collect();
    let is_whole = detail == Detail::Whole
        || subjects.iter().any(|one| matches!(one, ClusterSubject::Claim(_)));
    let shown = if is_whole { claims.len() } else { claims.len().min(MOST) };
    for claim in &claims[..shown] {
        page.add(Section::of(Item::Tree(tree(seen, pods, claim))));
    }
    if shown < claims.len() {
        page.add_paragraph(cluster::more_claims(claims.len() - shown));
    }
}

/// The claim, its volume, the driver's handle of it, its class, its nodes, and what one of them
/// saw.
fn tree(seen: &ClusterSeen, pods: &[Probed], claim: &ClaimSeen) -> Node {
    let volume = claim.volume.as_deref().and_then(|name| seen.volume(name));
    let class = claim.class.as_deref().and_then(|name| seen.class(name));
    let nodes = seen.nodes_of(claim).into_iter().map(|node| under_node(seen, claim, node));
    let class = class.map(|class| Node {
        name: format!("class {}", class.name),
        about: cluster::under(class, claim, seen),
        ..Node::default()
    });
    let inspected = pods.iter().filter_map(|pod| pod.under(claim));
    let below: Vec<Node> = class.into_iter().chain(nodes).chain(inspected).collect();
    let below = match volume {
        Some(volume) => vec![under_volume(volume, below)],
        None => below,
    };
    Node {
        name: format!("claim {}", claim.full_name()),
        about: cluster::claim(claim),
        below,
        ..Node::default()
    }
}

fn under_volume(volume: &VolumeSeen, below: Vec<Node>) -> Node {
    let driver = Node {
        name: volume.source.clone(),
        about: volume.handle.clone(),
        below,
        ..Node::default()
    };
    let about = cluster::volume(volume);
    Node { name: format!("volume {}", volume.name), about, below: vec![driver], ..Node::default() }
}

fn under_node(seen: &ClusterSeen, claim: &ClaimSeen, node: &NodeSeen) -> Node {
    let is_known = |vm: &&String| iotax_catalog::vm(vm).is_ok();
    let vm = node.instance_type.as_ref().filter(is_known).map(|vm| Node {
        name: format!("VM size {vm}"),
        about: cluster::vm(seen, claim, node),
        ..Node::default()
    });
    let zone = node.zone.as_ref().map(|zone| format!("zone {zone}")).unwrap_or_default();
    let below = vm.into_iter().collect();
    Node { name: format!("node {}", node.name), about: zone, below, ..Node::default() }
}

fn write_classes(page: &mut Document, seen: &ClusterSeen, subjects: &[ClusterSubject]) {
    let is_requested = |class: &&ClassSeen| {
        let has = |subject: &ClusterSubject| {
            matches!(subject, ClusterSubject::Class(name) if *name == class.name)
                || seen.claims.iter().any(|claim| {
                    claim.class.as_ref() == Some(&class.name) && subject.has_claim(seen, claim)
                })
        };
        subjects.is_empty() || subjects.iter().any(has)
    };
    let points: Vec<Point> = seen
        .classes
        .iter()
        .filter(is_requested)
        .map(|class| Point::new(cluster::class_name(class), cluster::class(class)))
        .collect();
    if !points.is_empty() {
        page.add(Section::new("Storage classes", [Item::Facts(points)]));
    }
}

fn write_nodes(
    page: &mut Document,
    seen: &ClusterSeen,
    subjects: &[ClusterSubject],
    detail: Detail,
) {
    let is_requested = |node: &&NodeSeen| {
        let has = |subject: &ClusterSubject| match subject {
            ClusterSubject::Node(name) => *name == node.name,
            ClusterSubject::Claim(name) => {
                let claim = seen.claims.iter().find(|claim| claim.full_name() == *name);
                claim
                    .is_some_and(|claim| seen.nodes_of(claim).iter().any(|of| of.name == node.name))
            }
            ClusterSubject::Class(_) => false,
        };
        subjects.is_empty() || subjects.iter().any(has)
    };
    let is_ill = |node: &&&NodeSeen| !node.troubles.is_empty() || node.is_cordoned;
    let nodes: Vec<&NodeSeen> = seen.nodes.iter().filter(is_requested).collect();
    let (ill, well): (Vec<&NodeSeen>, Vec<&NodeSeen>) = nodes.iter().partition(is_ill);
    let shown = if detail == Detail::Whole { well.len() } else { well.len().min(MOST) };
    let points: Vec<Point> = ill
        .iter()
        .chain(&well[..shown])
        .map(|node| Point::new(node.name.clone(), cluster::node(node)))
        .collect();
    if points.is_empty() {
        return;
    }
    page.add(Section::new("Nodes", [Item::Facts(points)]));
    if shown < well.len() {
        page.add_paragraph(cluster::more_nodes(well.len() - shown));
    }
}

fn write_network(page: &mut Document, seen: &ClusterSeen) {
    let mut points: Vec<Point> = seen
        .network
        .plugins
        .iter()
        .map(|plugin| Point::new("pods", cluster::plugin(plugin)))
        .collect();
    if points.is_empty() {
        points.push(Point::new("pods", cluster::NO_PLUGIN));
    }
    if let Some(mode) = &seen.network.proxy_mode {
        points.push(Point::new("services", format!("kube-proxy in {mode} mode")));
    }
    page.add(Section::new("Network", [Item::Facts(points)]));
}
