//! Known causes against a cluster as it was seen: what of it is here, and what would confirm it.
//!
//! | module | idea |
//! |---|---|
//! | `disks` | what the catalogue knows of a class's volumes |
//! | `classes` | what a class asks of its driver |
//! | `mounts` | options of its mounts |
//! | `documented` | documented limits of its volumes |
//! | `vms` | documented limits of their VM sizes |
//! | `why` | what was seen, as figures |

mod classes;
mod disks;
mod documented;
mod mounts;
mod vms;
pub mod why;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use iotax_catalog::vm;
use iotax_experiment::CloudChoice;
use iotax_record::cluster::{ClaimSeen, ClassSeen, ClusterSeen, NodeSeen, PluginSetting, Trouble};

pub use self::disks::claim_disk;
use self::disks::{caching_word, disk_name};
pub use self::vms::vm_limits;
use self::why::ClusterWhy;
use crate::machine::{Certainty, Component, ComponentKind, Field, Finding, Observation, Value};

/// From what was seen to what is found, and the causes that it can name.
struct Rule {
    causes: &'static [&'static str],
    find: fn(&ClusterSeen) -> Vec<Finding>,
}

const RULES: [Rule; 8] = [
    Rule { causes: &["no-default-class", "several-default-classes"], find: default_class },
    Rule {
        causes: &[
            "immediate-binding",
            "volume-on-node-disk",
            "network-file-system-class",
            "driver-encrypts",
            "azuredisk-read-ahead",
        ],
        find: classes::of_classes,
    },
    Rule {
        causes: &["sync-mount", "online-discard", "strict-atime", "nfs-attribute-cache"],
        find: mounts::mount_options,
    },
    Rule {
        causes: &[
            "azure-disk-limit", "azure-burst", "ebs-volume-limit", "ebs-volume-burst",
            "gcp-disk-limit",
        ],
        find: documented::limits_of_volumes,
    },
    Rule { causes: &["node-in-trouble", "node-cordoned"], find: conditions },
    Rule { causes: &["volumes-per-node"], find: volumes },
    Rule {
        causes: &["azure-vm-limit", "ebs-instance-limit", "ebs-instance-burst", "gcp-vm-limit"],
        find: vms::limits_of_vms,
    },
    Rule { causes: &["network-encryption"], find: pod_network },
];

/// What is known to hurt and was seen, of what is asked about or of all: the surest first.
pub fn cluster_findings(seen: &ClusterSeen, subjects: &[ClusterSubject]) -> Vec<Finding> {
    let focus = Focus::new(seen, subjects);
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| (rule.find)(seen)).collect();
    debug_assert!(findings.iter().all(|one| named_causes().any(|cause| cause == one.cause)));
    findings.retain(|finding| focus.has(seen, &finding.about[0]));
    findings.sort_by_key(|finding| Reverse(finding.certainty));
    findings
}

/// The causes that rules can name.
pub(crate) fn named_causes() -> impl Iterator<Item = &'static str> {
    RULES.iter().flat_map(|rule| rule.causes).copied()
}

// The cluster as a whole: which class claims get that name none, the network between pods.

fn default_class(seen: &ClusterSeen) -> Vec<Finding> {
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

fn pod_network(seen: &ClusterSeen) -> Vec<Finding> {
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

// Nodes: whether they are well, and how many volumes they take.

fn of_node(cause: &'static str, node: &NodeSeen, why: ClusterWhy) -> Finding {
    let about = Component::new(ComponentKind::Node, node.name.as_str());
    Finding::new(cause, about, Certainty::Snapshot, why)
}

fn field(node: &NodeSeen, name: impl Into<Field>, value: &str) -> Observation {
    Observation::object("node", &node.name, name, value)
}

/// A comparison of a node with another one, if there is one.
fn against(seen: &ClusterSeen, node: &NodeSeen) -> Option<String> {
    let other = seen
        .nodes
        .iter()
        .find(|other| other.name != node.name && other.troubles.is_empty() && !other.is_cordoned)?;
    let [this, other] = [&node.name, &other.name];
    Some(format!("iotax kube compare -w randread-4k this=emptydir@{this} other=emptydir@{other}"))
}

/// Nodes under pressure, silent, or cordoned.
fn conditions(seen: &ClusterSeen) -> Vec<Finding> {
    seen.nodes.iter().flat_map(|node| [in_trouble(seen, node), cordoned(node)]).flatten().collect()
}

fn in_trouble(seen: &ClusterSeen, node: &NodeSeen) -> Option<Finding> {
    let conditions = node.troubles.iter().map(|one| one.kind.clone()).collect();
    let condition = |one: &Trouble| field(node, Field::Condition(one.kind.clone()), &one.message);
    let mut finding = of_node("node-in-trouble", node, ClusterWhy::Trouble { conditions })
        .observed_all(node.troubles.iter().map(condition));
    // Nothing new is put on a node that does not answer.
    finding.commands.extend(against(seen, node).filter(|_| node.is_ready == Some(true)));
    finding.when(!node.troubles.is_empty())
}

fn cordoned(node: &NodeSeen) -> Option<Finding> {
    of_node("node-cordoned", node, ClusterWhy::Cordoned)
        .observed(field(node, "unschedulable", "true"))
        .when(node.is_cordoned)
}

/// Nodes that take no more volumes of a driver.
fn volumes(seen: &ClusterSeen) -> Vec<Finding> {
    let of_node = |node| full_drivers(seen, node);
    seen.nodes.iter().flat_map(of_node).collect()
}

fn full_drivers(seen: &ClusterSeen, node: &NodeSeen) -> Vec<Finding> {
    let finding = |(driver, most): (&String, &Option<u32>)| {
        let most = (*most)?;
        let of_driver = |name: &&String| {
            let volume = seen.volume(name);
            volume.map_or(name.ends_with(driver.as_str()), |volume| volume.source == *driver)
        };
        let count = node.attached.iter().filter(of_driver).count() as u64;
        let allocatable = Field::Allocatable(driver.clone());
        of_node("volumes-per-node", node, ClusterWhy::FullOfVolumes { driver: driver.clone() })
            .observed(Observation::object("csinode", &node.name, allocatable, most))
            .observed(Observation::field("volumeattachments", "attached", count))
            .when(count >= u64::from(most))
    };
    node.drivers.iter().filter_map(finding).collect()
}

// What volumes in use are, in the words of the catalogue.

/// A volume that was made: its class, its size, and the node that it is used from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeInUse {
    /// Its class, if it has one.
    pub class: Option<String>,
    /// What was asked for.
    pub bytes: u64,
    pub node: Option<String>,
}

/// The disks of these volumes, if all are known, and the VM size of their nodes, if it is one.
pub fn choice_of(seen: &ClusterSeen, volumes: &[VolumeInUse]) -> CloudChoice {
    let disk = |placed: &VolumeInUse| {
        let class = seen.class(placed.class.as_deref()?)?;
        let name = disk_name(class, placed.bytes)?;
        Some(match caching_word(class) {
            Some(word) if name.contains(':') => format!("{name},caching={word}"),
            Some(word) => format!("{name}:caching={word}"),
            None => name,
        })
    };
    let disks: Option<Vec<String>> = volumes.iter().map(disk).collect();
    let size = |placed: &VolumeInUse| seen.node(placed.node.as_deref()?)?.instance_type.clone();
    let sizes: Option<Vec<String>> = volumes.iter().map(size).collect();
    let one = sizes.and_then(|mut sizes| {
        sizes.dedup();
        sizes.pop().filter(|size| sizes.is_empty() && vm(size).is_ok())
    });
    CloudChoice { vm: one, disks: disks.unwrap_or_default(), ..CloudChoice::default() }
}

// Which classes and nodes are asked about.

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterSubject {
    /// A claim: `NAMESPACE/NAME`, its class, and the nodes that it is used on.
    Claim(String),
    Class(String),
    /// A node, and the classes of claims that are used on it.
    Node(String),
}

impl ClusterSubject {
    /// Whether a claim is this, or of it.
    pub fn has_claim(&self, seen: &ClusterSeen, claim: &ClaimSeen) -> bool {
        match self {
            Self::Claim(name) => claim.full_name() == *name,
            Self::Class(name) => claim.class.as_ref() == Some(name),
            Self::Node(name) => seen.nodes_of(claim).iter().any(|node| node.name == *name),
        }
    }
}

/// The first of the subjects that is not there, though it would have been seen.
pub fn unknown<'a>(
    seen: &ClusterSeen,
    subjects: &'a [ClusterSubject],
) -> Option<&'a ClusterSubject> {
    subjects.iter().find(|subject| match subject {
        ClusterSubject::Claim(name) => !seen.claims.iter().any(|claim| claim.full_name() == *name),
        ClusterSubject::Class(name) => seen.knows_classes && seen.class(name).is_none(),
        ClusterSubject::Node(name) => !seen.nodes.is_empty() && seen.node(name).is_none(),
    })
}

/// Names of what is asked about; `None` if that is everything.
struct Focus<'a> {
    named: Option<(BTreeSet<&'a str>, BTreeSet<&'a str>)>,
}

impl<'a> Focus<'a> {
    fn new(seen: &'a ClusterSeen, subjects: &'a [ClusterSubject]) -> Self {
        if subjects.is_empty() {
            return Self { named: None };
        }
        let (mut classes, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        for subject in subjects {
            match subject {
                ClusterSubject::Class(name) => drop(classes.insert(name.as_str())),
                ClusterSubject::Node(name) => drop(nodes.insert(name.as_str())),
                ClusterSubject::Claim(_) => {}
            }
            for claim in seen.claims.iter().filter(|claim| subject.has_claim(seen, claim)) {
                classes.extend(claim.class.as_deref());
                if matches!(subject, ClusterSubject::Claim(_)) {
                    nodes.extend(seen.nodes_of(claim).iter().map(|node| node.name.as_str()));
                }
            }
        }
        Self { named: Some((classes, nodes)) }
    }

    /// Whether it is asked about what a finding is about; the cluster itself only with everything.
    fn has(&self, seen: &ClusterSeen, about: &Component) -> bool {
        let Some((classes, nodes)) = &self.named else { return true };
        match about.kind {
            ComponentKind::Class => classes.contains(about.name.as_str()),
            ComponentKind::Node => nodes.contains(about.name.as_str()),
            ComponentKind::Volume => {
                let class = seen.volume(&about.name).and_then(|one| seen.class(&one.class));
                class.is_some_and(|class| classes.contains(class.name.as_str()))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use iotax_record::cluster::{ClassSeen, NodeSeen};

    use super::*;

    fn chosen(nodes: [(&str, &str); 2], provisioner: &str, kind: (&str, &str)) -> CloudChoice {
        let class = ClassSeen {
            name: "c".to_owned(),
            provisioner: provisioner.to_owned(),
            parameters: [(kind.0.to_owned(), kind.1.to_owned())].into(),
            ..ClassSeen::default()
        };
        let node = |(name, size): (&str, &str)| NodeSeen {
            name: name.to_owned(),
            instance_type: Some(size.to_owned()),
            ..NodeSeen::default()
        };
        let seen = ClusterSeen {
            classes: vec![class],
            nodes: nodes.map(node).to_vec(),
            ..ClusterSeen::default()
        };
        let placed = nodes.map(|(name, _)| VolumeInUse {
            class: Some("c".to_owned()),
            bytes: 100 << 30,
            node: Some(name.to_owned()),
        });
        choice_of(&seen, &placed)
    }

    #[test]
    fn volumes_are_named_with_their_vm_if_that_is_one() {
        let same =
            chosen([("a", "m5.large"), ("b", "m5.large")], "ebs.csi.aws.com", ("type", "gp2"));
        assert_eq!(same.disks, ["gp2:size=100G", "gp2:size=100G"]);
        assert_eq!(same.vm.as_deref(), Some("m5.large"));
        let apart =
            chosen([("a", "m5.large"), ("b", "c5.large")], "ebs.csi.aws.com", ("type", "gp3"));
        assert_eq!((apart.vm, apart.disks.len()), (None, 2));
        let azure = "disk.csi.azure.com";
        let sku = ("skuName", "Premium_LRS");
        let cached = chosen([("a", "Standard_D2s_v3"), ("b", "Standard_D2s_v3")], azure, sku);
        assert_eq!(cached.disks, ["P10:caching=readonly", "P10:caching=readonly"]);
        let none = chosen([("a", "k3s"), ("b", "k3s")], "rancher.io/local-path", ("x", "y"));
        assert_eq!(none, CloudChoice::default());
    }
}
