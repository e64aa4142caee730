//! The network between pods.

use iotax_record::cluster::ClusterSeen;

use super::found::{Found, Of};
use super::why::ClusterWhy;
use crate::machine::{Certainty, ComponentKind, Finding, Observation};

pub(super) fn find(seen: &ClusterSeen) -> Found {
    let encrypting = seen.network.plugins.iter().filter_map(|plugin| {
        let by = plugin.encryption.as_ref()?;
        let why = ClusterWhy::Encrypted { plugin: plugin.name.clone(), by: by.clone() };
        let about = ComponentKind::PodNetwork;
        let mut finding = Finding::new("network-encryption", about, Certainty::ToBeTested, why);
        finding.seen.extend(plugin.settings.iter().filter_map(|setting| {
            let (place, rest) = setting.split_once(", ")?;
            let (key, value) = rest.split_once(": ")?;
            Some(Observation::field(place, key, value))
        }));
        Some((Of::Cluster, finding))
    });
    encrypting.collect()
}
