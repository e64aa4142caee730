use serde::{Deserialize, Serialize};

/// Location of an arm in Kubernetes. Names are replaced by identifiers ([`crate::stable_id`]), the
/// same in every record of a cluster or node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Placed {
    /// From its certificate authority, or from its address if it has none.
    pub cluster: String,
    /// From cluster and node name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// As named by the cloud, as far as it may be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Storage class of its volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

impl Placed {
    /// Digits that are enough to distinguish a few clusters or nodes.
    const SHORT: usize = 8;

    /// The start of the cluster's identifier, enough to distinguish a few.
    pub fn short_cluster(&self) -> String {
        Self::short(&self.cluster)
    }

    fn short(id: &str) -> String {
        id.chars().take(Self::SHORT).collect()
    }

    /// `cluster 7ae4b693, node 01234567, zone westeurope-1, class fast`.
    pub fn told(&self) -> String {
        let parts = [
            Some(format!("cluster {}", self.short_cluster())),
            self.node.as_deref().map(|node| format!("node {}", Self::short(node))),
            self.zone.as_deref().map(|zone| format!("zone {zone}")),
            self.class.as_deref().map(|class| format!("class {class}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_place_is_told() {
        let cluster = "7ae4b69388bc9b3ba296aabf97921f47".to_owned();
        let placed = Placed { cluster, class: Some("fast".to_owned()), ..Placed::default() };
        assert_eq!(placed.told(), "cluster 7ae4b693, class fast");
    }
}
