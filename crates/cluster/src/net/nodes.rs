//! Where pods are.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;

use super::facts::Node;
use super::path::Role;
use crate::connect::Cluster;
use crate::placed::{node, zone};

/// The nodes of a run's pods.
#[derive(Debug)]
pub(super) struct Nodes(BTreeMap<Role, Node>);

impl Nodes {
    pub(super) fn of<'a>(cluster: &Cluster, pods: impl Iterator<Item = (Role, &'a Pod)>) -> Self {
        let mut zones: BTreeMap<String, Option<String>> = BTreeMap::new();
        let of = |(role, pod): (Role, &Pod)| {
            let name = node(pod).unwrap_or_default().to_owned();
            let zone = zones.entry(name.clone()).or_insert_with(|| zone(cluster, pod));
            (role, Node { name, zone: zone.clone() })
        };
        Self(pods.map(of).collect())
    }

    pub(super) fn of_role(&self, role: Role) -> &Node {
        &self.0[&role]
    }
}
