//! A cluster that was looked at: what lies under its claims, its classes, its nodes, what was found.

use iotax_diagnose::{ClusterSubject, Finding, claim_disk, vm_limits};
use iotax_quantity::{count, list, size};
use iotax_record::cluster::{ClaimSeen, ClassSeen, ClusterSeen, NodeSeen, PluginSeen, VolumeSeen};
use iotax_wording::cause::{disk_limits, vm_limit};
use serde_json::json;

use super::findings::{Detail, write_found};
use super::json::finding;
use super::probed::Probed;
use crate::document::{Document, Item, Node, Point, Section};
use crate::json::text::json_text;

/// Version of the shape of the JSON.
const FORMAT: u32 = 1;
/// Claims, and nodes that are well, that are told of if nobody asked about any of them.
const MOST: usize = 8;

/// What lies under the claims that are asked about, classes, nodes, the network, what was found and
/// what could not be seen.
pub fn cluster_doctor(
    seen: &ClusterSeen,
    findings: &[Finding],
    (subjects, pods): (&[ClusterSubject], &[Probed]),
    detail: Detail,
) -> Document {
    let mut page = Document::default();
    write_claims(&mut page, seen, (subjects, pods), detail);
    write_classes(&mut page, seen, subjects);
    write_nodes(&mut page, seen, subjects, detail);
    if subjects.is_empty() && is_seen(seen) {
        write_network(&mut page, seen);
    }
    if findings.is_empty() {
        page.add_paragraph(if is_seen(seen) {
            "None of the known causes was found in the cluster's objects."
        } else {
            "Nothing could be looked at."
        });
    } else {
        write_found(&mut page, &findings.iter().collect::<Vec<_>>(), detail);
    }
    for pod in pods {
        pod.write(&mut page, detail);
    }
    let unseen = seen.unseen.iter().map(|unseen| format!("{}: {}", unseen.what, unseen.how));
    page.add_list("Not seen", unseen.collect());
    page
}

/// One JSON object: `findings`, `cluster`, all that was seen of it, and `pods`, what was seen in each.
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
    (subjects, pods): (&[ClusterSubject], &[Probed]),
    detail: Detail,
) {
    let is_asked = |claim: &&ClaimSeen| {
        subjects.is_empty() || subjects.iter().any(|subject| subject.has_claim(seen, claim))
    };
    let claims: Vec<_> = seen.claims.iter().filter(is_asked).collect();
    let is_whole = detail == Detail::Whole
        || subjects.iter().any(|one| matches!(one, ClusterSubject::Claim(_)));
    let shown = if is_whole { claims.len() } else { claims.len().min(MOST) };
    for claim in &claims[..shown] {
        page.add(Section::of(Item::Tree(tree(seen, pods, claim))));
    }
    if shown < claims.len() {
        let more = count((claims.len() - shown) as u64, "claim");
        page.add_paragraph(format!("And {more} more: --all tells them, pvc:NAMESPACE/NAME one."));
    }
}

/// The claim, its volume, what that is for the driver, the class that made it, the nodes, and what was
/// seen from one of them.
fn tree(seen: &ClusterSeen, pods: &[Probed], claim: &ClaimSeen) -> Node {
    let volume = claim.volume.as_deref().and_then(|name| seen.volume(name));
    let class = claim.class.as_deref().and_then(|name| seen.class(name));
    let nodes = seen.nodes_of(claim).into_iter().map(|node| under_node(seen, claim, node));
    let class = class.map(|class| Node {
        name: format!("class {}", class.name),
        about: joined([asked(class), documented(seen, claim)]),
        ..Node::default()
    });
    let looked = pods.iter().filter_map(|pod| pod.under(claim));
    let below: Vec<Node> = class.into_iter().chain(nodes).chain(looked).collect();
    let below = match volume {
        Some(volume) => vec![under_volume(volume, below)],
        None => below,
    };
    Node {
        name: format!("claim {}", claim.full_name()),
        about: about_claim(claim),
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
    let mounted = volume.mount_options.join(", ");
    let about = joined([
        volume.bytes.map(size).unwrap_or_default(),
        volume.file_system.clone().unwrap_or_else(|| volume.mode.to_lowercase()),
        if mounted.is_empty() { String::new() } else { format!("mounted with {mounted}") },
        volume
            .attributes_class
            .as_ref()
            .map(|name| format!("attributes {name}"))
            .unwrap_or_default(),
        volume.affinity.join(", "),
        format!("{} when released", volume.reclaim),
    ]);
    Node { name: format!("volume {}", volume.name), about, below: vec![driver], ..Node::default() }
}

fn under_node(seen: &ClusterSeen, claim: &ClaimSeen, node: &NodeSeen) -> Node {
    let is_known = |vm: &&String| iotax_catalog::vm(vm).is_ok();
    let vm = node.instance_type.as_ref().filter(is_known).map(|vm| Node {
        name: format!("VM size {vm}"),
        about: vm_limits(seen, claim, node).map_or_else(String::new, |(cloud, limits)| {
            let limits = limits.iter().map(|limit| vm_limit(limit, cloud));
            limits.collect::<Vec<_>>().join("; ")
        }),
        ..Node::default()
    });
    let zone = node.zone.as_ref().map(|zone| format!("zone {zone}")).unwrap_or_default();
    let below = vm.into_iter().collect();
    Node { name: format!("node {}", node.name), about: joined([zone]), below, ..Node::default() }
}

fn about_claim(claim: &ClaimSeen) -> String {
    let pods: Vec<_> = claim.pods.iter().map(|pod| pod.name.as_str()).collect();
    let class = match &claim.class {
        Some(_) => String::new(),
        None => "no class".to_owned(),
    };
    joined([
        claim.bytes.map(size).unwrap_or_default(),
        claim.phase.clone(),
        claim.access.join(", "),
        class,
        if pods.is_empty() {
            "used by nobody".to_owned()
        } else {
            format!("used by {}", list(&pods))
        },
    ])
}

/// What the documents say of the disk under a claim.
fn documented(seen: &ClusterSeen, claim: &ClaimSeen) -> String {
    let Some((name, _)) = claim_disk(seen, claim) else { return String::new() };
    iotax_catalog::disk(&name)
        .map_or(String::new(), |disk| format!("{name}, documented {}", disk_limits(&disk)))
}

/// What a class asks of its driver.
fn asked(class: &ClassSeen) -> String {
    // Secrets have names that say nothing of speed.
    let is_told = |(key, _): &(&String, &String)| {
        !key.starts_with("csi.storage.k8s.io/") || key.ends_with("fstype")
    };
    let short = |key: &str| key.rsplit_once('/').map_or(key, |(_, last)| last).to_owned();
    let told = class.parameters.iter().filter(is_told);
    told.map(|(key, value)| format!("{} {value}", short(key))).collect::<Vec<_>>().join(", ")
}

fn write_classes(page: &mut Document, seen: &ClusterSeen, subjects: &[ClusterSubject]) {
    let is_asked = |class: &&ClassSeen| {
        let has = |subject: &ClusterSubject| {
            matches!(subject, ClusterSubject::Class(name) if *name == class.name)
                || seen.claims.iter().any(|claim| {
                    claim.class.as_ref() == Some(&class.name) && subject.has_claim(seen, claim)
                })
        };
        subjects.is_empty() || subjects.iter().any(has)
    };
    let points: Vec<Point> = seen.classes.iter().filter(is_asked).map(about_class).collect();
    if !points.is_empty() {
        page.add(Section::new("Storage classes", [Item::Facts(points)]));
    }
}

fn about_class(class: &ClassSeen) -> Point {
    let default = if class.is_default { " (default)" } else { "" };
    let mounted = class.mount_options.join(", ");
    let text = joined([
        class.provisioner.clone(),
        asked(class),
        class.binding.clone(),
        class.reclaim.clone(),
        if class.can_grow { "may grow".to_owned() } else { String::new() },
        if mounted.is_empty() { String::new() } else { format!("mounted with {mounted}") },
        class.topologies.join(", "),
    ]);
    Point::new(format!("{}{default}", class.name), text)
}

fn write_nodes(
    page: &mut Document,
    seen: &ClusterSeen,
    subjects: &[ClusterSubject],
    detail: Detail,
) {
    let is_asked = |node: &&NodeSeen| {
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
    let nodes: Vec<&NodeSeen> = seen.nodes.iter().filter(is_asked).collect();
    let (ill, well): (Vec<&NodeSeen>, Vec<&NodeSeen>) = nodes.iter().partition(is_ill);
    let shown = if detail == Detail::Whole { well.len() } else { well.len().min(MOST) };
    let points: Vec<Point> =
        ill.iter().chain(&well[..shown]).map(|node| about_node(node)).collect();
    if points.is_empty() {
        return;
    }
    page.add(Section::new("Nodes", [Item::Facts(points)]));
    if shown < well.len() {
        page.add_paragraph(format!(
            "And {} more: --all tells them.",
            count((well.len() - shown) as u64, "node")
        ));
    }
}

fn about_node(node: &NodeSeen) -> Point {
    let troubles: Vec<_> = node.troubles.iter().map(|one| one.kind.clone()).collect();
    let drivers = node.drivers.iter().map(|(driver, most)| {
        let most = most.map_or_else(String::new, |most| format!(", {most} at most"));
        format!("{driver}{most}")
    });
    let attached = match node.attached.len() {
        0 => String::new(),
        n => format!("{} attached", count(n as u64, "volume")),
    };
    let text = joined([
        troubles.join(", "),
        if node.is_cordoned { "cordoned".to_owned() } else { String::new() },
        node.instance_type.clone().unwrap_or_default(),
        node.zone.clone().unwrap_or_default(),
        format!("kubelet {}", node.kubelet),
        node.runtime.clone(),
        format!("Linux {}", node.kernel),
        attached,
        drivers.collect::<Vec<_>>().join("; "),
        node.taints.join(", "),
    ]);
    Point::new(node.name.clone(), text)
}

fn write_network(page: &mut Document, seen: &ClusterSeen) {
    let mut points: Vec<Point> = seen.network.plugins.iter().map(about_plugin).collect();
    if points.is_empty() {
        let none = "no plugin that is known by its objects; what it encrypts cannot be seen";
        points.push(Point::new("pods", none));
    }
    if let Some(mode) = &seen.network.proxy_mode {
        points.push(Point::new("services", format!("kube-proxy by {mode}")));
    }
    page.add(Section::new("Network", [Item::Facts(points)]));
}

fn about_plugin(plugin: &PluginSeen) -> Point {
    let encryption = plugin.encryption.as_ref();
    let encryption = match encryption {
        Some(by) => format!("encrypts with {by}"),
        None if plugin.settings.is_empty() => "what it encrypts cannot be seen here".to_owned(),
        None => "no encryption is set".to_owned(),
    };
    let mtu = plugin.mtu.map_or_else(
        || "MTU not set where it is looked for".to_owned(),
        |mtu| format!("MTU {mtu}"),
    );
    Point::new("pods", joined([plugin.name.clone(), encryption, mtu, plugin.by.clone()]))
}

/// Those that say something.
fn joined<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}
