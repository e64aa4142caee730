//! The network between pods.

use iotax_record::cluster::{ClusterSeen, PluginSetting};

use super::found::{Found, Of};
use super::why::ClusterWhy;
use crate::machine::{Certainty, ComponentKind, Finding, Observation};

pub(super) fn find(seen: &ClusterSeen) -> Found {
    let encrypting = seen.network.plugins.iter().filter_map(|plugin| {
        let by = plugin.encryption.as_ref()?;
        let why = ClusterWhy::Encrypted { plugin: plugin.name.clone(), by: by.clone() };
        let about = ComponentKind::PodNetwork;
        let mut finding = Finding::new("network-encryption", about, Certainty::ToBeTested, why);
        let settings = plugin.settings.iter().filter(|setting| !setting.key.is_empty());
        finding.seen.extend(settings.map(|PluginSetting { place, key, value }| {
            Observation::field(place.as_str(), key.as_str(), value.as_str())
        }));
        Some((Of::Cluster, finding))
    });
    encrypting.collect()
}
