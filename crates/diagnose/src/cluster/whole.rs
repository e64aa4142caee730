//! The cluster as a whole: which class claims get that name none, the network between pods.

use iotax_record::cluster::{ClaimSeen, ClassSeen, ClusterSeen, PluginSetting};

use super::why::ClusterWhy;
use crate::machine::{Certainty, ComponentKind, Field, Finding, Observation, Value};

pub(super) fn default_class(seen: &ClusterSeen) -> Vec<Finding> {
    if !seen.knows_classes || seen.classes.is_empty() {
        return Vec::new();
    }
    match seen.defaults().as_slice() {
        [] => vec![no_default(seen)],
        [_] => Vec::new(),
        several => vec![several_defaults(several)],
    }
}

fn no_default(seen: &ClusterSeen) -> Finding {
    let waits = |claim: &&ClaimSeen| claim.class.is_none() && claim.volume.is_none();
    let waiting: Vec<_> = seen.claims.iter().filter(waits).collect();
    let certainty = if waiting.is_empty() { Certainty::ToBeTested } else { Certainty::Snapshot };
    let classes = Value::NoneOf(seen.classes.iter().map(|class| class.name.clone()).collect());
    let of_claim = |claim: &&ClaimSeen| {
        Observation::object("claim", &claim.full_name(), "status", claim.phase.clone())
    };
    let why = ClusterWhy::NoDefault { waiting: waiting.len() };
    Finding::new("no-default-class", ComponentKind::Cluster, certainty, why)
        .observed(Observation::field("storageclasses", Field::DefaultAnnotation, classes))
        .observed_all(waiting.iter().take(3).map(of_claim))
}

fn several_defaults(several: &[&ClassSeen]) -> Finding {
    let newest = several.iter().max_by(|a, b| a.created.cmp(&b.created).then(b.name.cmp(&a.name)));
    let newest = newest.map(|class| class.name.clone()).unwrap_or_default();
    let classes = several.iter().map(|class| class.name.clone()).collect();
    let arm = |(at, class): (usize, &&ClassSeen)| format!("c{}=class:{}", at + 1, class.name);
    let arms: Vec<_> = several.iter().enumerate().map(arm).collect();
    let why = ClusterWhy::SeveralDefaults { newest, classes };
    let cause = "several-default-classes";
    Finding::new(cause, ComponentKind::Cluster, Certainty::Snapshot, why)
        .observed_all(several.iter().map(|class| {
            let value = Value::DefaultSince(class.created.clone());
            Observation::object("storageclass", &class.name, Field::DefaultAnnotation, value)
        }))
        .command(format!("iotax kube compare -w randread-4k {}", arms.join(" ")))
}

pub(super) fn pod_network(seen: &ClusterSeen) -> Vec<Finding> {
    let encrypting = seen.network.plugins.iter().filter_map(|plugin| {
        let by = plugin.encryption.clone()?;
        let why = ClusterWhy::Encrypted { plugin: plugin.name.clone(), by };
        let (about, certainty) = (ComponentKind::PodNetwork, Certainty::ToBeTested);
        let settings = plugin.settings.iter().filter(|setting| !setting.key.is_empty());
        let observed = settings.map(|PluginSetting { place, key, value }| {
            Observation::field(place.as_str(), key.as_str(), value.as_str())
        });
        Some(Finding::new("network-encryption", about, certainty, why).observed_all(observed))
    });
    encrypting.collect()
}
