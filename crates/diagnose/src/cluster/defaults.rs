//! Which class claims get that name none.

use iotax_record::cluster::{ClassSeen, ClusterSeen};

use super::found::{Found, Of};
use super::why::ClusterWhy;
use crate::machine::{Certainty, ComponentKind, Field, Finding, Observation, Value};

pub(super) fn find(seen: &ClusterSeen) -> Found {
    if !seen.knows_classes || seen.classes.is_empty() {
        return Vec::new();
    }
    let defaults = seen.defaults();
    let finding = match defaults.as_slice() {
        [] => none(seen),
        [_] => return Vec::new(),
        several => too_many(several),
    };
    vec![(Of::Cluster, finding)]
}

fn none(seen: &ClusterSeen) -> Finding {
    let waiting: Vec<_> = seen
        .claims
        .iter()
        .filter(|claim| claim.class.is_none() && claim.volume.is_none())
        .collect();
    let names = seen.classes.iter().map(|class| class.name.clone()).collect();
    let certainty = if waiting.is_empty() { Certainty::ToBeTested } else { Certainty::Snapshot };
    let (about, why) = (ComponentKind::Cluster, ClusterWhy::NoDefault { waiting: waiting.len() });
    let value = Value::NoneOf(names);
    let mut finding = Finding::new("no-default-class", about, certainty, why)
        .observed(Observation::field("storageclasses", Field::DefaultAnnotation, value));
    let of_claim = |claim: &&iotax_record::cluster::ClaimSeen| {
        Observation::object("claim", &claim.full_name(), "status", claim.phase.clone())
    };
    finding.seen.extend(waiting.iter().take(3).map(of_claim));
    finding
}

fn too_many(several: &[&ClassSeen]) -> Finding {
    let newest = several.iter().max_by(|a, b| a.created.cmp(&b.created).then(b.name.cmp(&a.name)));
    let classes = several.iter().map(|class| class.name.clone()).collect();
    let newest = newest.map(|class| class.name.clone()).unwrap_or_default();
    let why = ClusterWhy::SeveralDefaults { newest, classes };
    let arms: Vec<_> = several
        .iter()
        .enumerate()
        .map(|(at, class)| format!("c{}=class:{}", at + 1, class.name))
        .collect();
    let about = ComponentKind::Cluster;
    let mut finding = Finding::new("several-default-classes", about, Certainty::Snapshot, why)
        .command(format!("iotax kube compare -w randread-4k {}", arms.join(" ")));
    finding.seen.extend(several.iter().map(|class| {
        let value = Value::DefaultSince(class.created.clone());
        Observation::object("storageclass", &class.name, Field::DefaultAnnotation, value)
    }));
    finding
}
