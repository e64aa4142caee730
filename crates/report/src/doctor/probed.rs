//! What a pod, or its node, sees under a volume.

use iotax_diagnose::ClusterSubject;
use iotax_quantity::capital;
use iotax_record::cluster::ClaimSeen;
use iotax_wording::machine::cluster;
use serde_json::{Value, json};

use super::findings::Detail;
use super::host::{HostFindings, write as write_host, write_around};
use super::{host, json};
use crate::document::{Document, Node, Section};

/// What a pod saw.
#[derive(Debug)]
pub struct Probed {
    /// A claim, or the class of a new volume.
    pub subject: ClusterSubject,
    /// The node that the pod was on.
    pub node: Option<String>,
    /// Whether it ran as root.
    pub is_privileged: bool,
    /// The machine and the layers under the volume there.
    pub host: HostFindings,
}

impl Probed {
    /// The layers under a claim, if the subject is that claim.
    pub(super) fn under(&self, claim: &ClaimSeen) -> Option<Node> {
        let is_it =
            matches!(&self.subject, ClusterSubject::Claim(name) if *name == claim.full_name());
        let machine = &self.host.machine;
        let path = machine.paths.first().filter(|_| is_it)?;
        let mut seen = host::under(machine, path);
        if !self.is_privileged && path.problem.is_none() {
            // Otherwise it would seem read-only for its users, too.
            cluster::READ_ONLY.clone_into(&mut seen.about);
        }
        Some(Node { name: self.seen_from(), ..seen })
    }

    /// Writes what was seen, without the layers of a claim, which are in its tree.
    pub(super) fn write(&self, page: &mut Document, detail: Detail) {
        page.add(Section::new(
            format!("{}: {}", capital(&self.seen_from()), cluster::probed(&self.subject)),
            [],
        ));
        match self.subject {
            ClusterSubject::Claim(_) => write_around(page, &self.host, detail),
            _ => write_host(page, &self.host, detail),
        }
    }

    pub(super) fn json(&self) -> Value {
        let node = self.node.as_ref().map_or_else(String::new, |node| format!(", node {node}"));
        json!({
            "name": format!("{}{node}", cluster::probed(&self.subject)),
            "node": self.node,
            "privileged": self.is_privileged,
            "host": json::host(&self.host),
        })
    }

    fn seen_from(&self) -> String {
        cluster::seen_from(self.node.as_deref(), self.is_privileged)
    }
}

#[cfg(test)]
mod tests {
    use iotax_record::cluster::{ClusterSeen, VolumeSeen};
    use iotax_record::machine::{Device, Node as Layer, PathSeen, SeenLayer};
    use iotax_record::{HostRole, Machine};

    use super::*;
    use crate::doctor::{cluster_doctor, cluster_doctor_json};
    use crate::text::{Style, text};

    fn probed(subject: ClusterSubject, is_privileged: bool) -> Probed {
        let device = |name: &str, below| Layer {
            layer: SeenLayer::Device(Device { name: name.to_owned(), ..Device::default() }),
            below,
        };
        let path = PathSeen { path: "/volumes/x".to_owned(), top: Some(0), ..PathSeen::default() };
        let machine = Machine {
            paths: vec![path],
            nodes: vec![device("dm-0", vec![1]), device("sda", vec![])],
            ..Machine::default()
        };
        let host = HostFindings {
            role: HostRole::Agent,
            machine,
            findings: Vec::new(),
            coverage: Vec::new(),
        };
        Probed { subject, node: Some("n1".to_owned()), is_privileged, host }
    }

    #[test]
    fn layers_under_a_claim_are_in_its_tree_and_nowhere_else() {
        let claim = |name: &str| ClaimSeen {
            namespace: "shop".to_owned(),
            name: name.to_owned(),
            phase: "Bound".to_owned(),
            volume: Some(format!("pv-{name}")),
            ..ClaimSeen::default()
        };
        let volume = |name: &str| VolumeSeen {
            name: name.to_owned(),
            source: "local".to_owned(),
            handle: "/disks/a".to_owned(),
            reclaim: "Retain".to_owned(),
            ..VolumeSeen::default()
        };
        let seen = ClusterSeen {
            knows_classes: true,
            claims: vec![claim("data"), claim("logs")],
            volumes: vec![volume("pv-data"), volume("pv-logs")],
            ..ClusterSeen::default()
        };
        let subjects =
            ["shop/data", "shop/logs"].map(|name| ClusterSubject::Claim(name.to_owned()));
        let pods = [
            probed(subjects[0].clone(), true),
            probed(subjects[1].clone(), false),
            probed(ClusterSubject::Class("fast".to_owned()), false),
        ];
        let page = cluster_doctor(&seen, &[], &subjects, &pods, Detail::Folded);
        insta::assert_snapshot!(text(&page, Style::default()), @"
        claim shop/data
          Bound, no class, not in use
        └─ volume pv-data
           │  Retain when released
           └─ local
              │  /disks/a
              └─ as root on node n1
                 └─ dm-0, disk
                    │  0 B
                    └─ sda, disk
                          0 B

        claim shop/logs
          Bound, no class, not in use
        └─ volume pv-logs
           │  Retain when released
           └─ local
              │  /disks/a
              └─ in a pod on node n1
                 │  mounted read-only for this inspection
                 └─ dm-0, disk
                    │  0 B
                    └─ sda, disk
                          0 B

        None of the known causes was found in the cluster's objects.

        As root on node n1: claim shop/data

        None of the known causes was found.

        In a pod on node n1: claim shop/logs

        None of the known causes was found.

        In a pod on node n1: class fast

        /volumes/x
        └─ dm-0, disk
           │  0 B
           └─ sda, disk
                 0 B

        None of the known causes was found.
        ");
        let json = cluster_doctor_json(&seen, &[], &pods);
        let json: Value = serde_json::from_str(&json).unwrap();
        let values = |key| {
            json["pods"].as_array().unwrap().iter().map(|pod| pod[key].clone()).collect::<Vec<_>>()
        };
        let names = ["claim shop/data, node n1", "claim shop/logs, node n1", "class fast, node n1"];
        assert_eq!(values("name"), names);
        assert_eq!(values("privileged"), [true, false, false]);
    }
}
