//! The network between pods.

use iotax_record::cluster::ClusterSeen;

use super::found::{Found, Of};
use crate::machine::{Certainty, Finding, Observation};

pub(super) fn find(seen: &ClusterSeen) -> Found {
    let encrypting = seen.network.plugins.iter().filter_map(|plugin| {
        let by = plugin.encryption.as_ref()?;
        let why = format!(
            "{} encrypts what goes from pod to pod on another node with {by}: storage that is served by \
             pods pays for it, disks of the cloud do not.",
            plugin.name
        );
        let mut finding =
            Finding::new("network-encryption", "network of pods", Certainty::ToBeTested, why);
        finding.seen.extend(plugin.settings.iter().filter_map(|setting| {
            let (place, rest) = setting.split_once(", ")?;
            let (key, value) = rest.split_once(": ")?;
            Some(Observation::field(place, key, value))
        }));
        Some((Of::Cluster, finding))
    });
    encrypting.collect()
}
