//! Known causes against a cluster as it was seen: what of it is here, and what would confirm it.
//!
//! | module | idea |
//! |---|---|
//! | `choice` | what volumes in use are, for a search for caps |
//! | `found` | findings, and what they are about |
//! | `focus` | which classes and nodes are asked about |
//! | `disks` | what the catalogue knows of a class's volumes |
//! | `defaults` | which class claims without one get |
//! | `classes` | what a class asks of its driver |
//! | `mounts` | options of its mounts |
//! | `documented` | documented limits of its volumes |
//! | `nodes` | nodes: their condition, and how many volumes they take |
//! | `vms` | documented limits of their VM sizes |
//! | `network` | the network between pods |
//! | `why` | what was seen, as figures |

mod choice;
mod classes;
mod defaults;
mod disks;
mod documented;
mod focus;
mod found;
mod mounts;
mod network;
mod nodes;
mod vms;
pub mod why;

use std::cmp::Reverse;

use iotax_record::cluster::ClusterSeen;

pub use self::choice::{VolumeInUse, choice_of};
pub use self::disks::claim_disk;
use self::focus::Focus;
pub use self::focus::{Subject, unknown};
use self::found::{Found, Of};
pub use self::vms::vm_limits;
use crate::machine::Finding;

/// From what was seen to what is found, and the causes that it can name.
struct Rule {
    causes: &'static [&'static str],
    find: fn(&ClusterSeen) -> Found,
}

const RULES: [Rule; 8] = [
    Rule { causes: &["no-default-class", "several-default-classes"], find: defaults::find },
    Rule {
        causes: &[
            "immediate-binding",
            "volume-on-node-disk",
            "network-file-system-class",
            "driver-encrypts",
            "azuredisk-read-ahead",
        ],
        find: classes::find,
    },
    Rule {
        causes: &["sync-mount", "online-discard", "strict-atime", "nfs-attribute-cache"],
        find: mounts::find,
    },
    Rule {
        causes: &[
            "azure-disk-limit",
            "azure-burst",
            "ebs-volume-limit",
            "ebs-volume-burst",
            "gcp-disk-limit",
        ],
        find: documented::find,
    },
    Rule { causes: &["node-in-trouble", "node-cordoned"], find: nodes::conditions },
    Rule { causes: &["volumes-per-node"], find: nodes::volumes },
    Rule {
        causes: &["azure-vm-limit", "ebs-instance-limit", "ebs-instance-burst", "gcp-vm-limit"],
        find: vms::find,
    },
    Rule { causes: &["network-encryption"], find: network::find },
];

/// What is known to hurt and was seen, of what is asked about or of all: the surest first.
pub fn cluster_findings(seen: &ClusterSeen, subjects: &[Subject]) -> Vec<Finding> {
    let focus = Focus::new(seen, subjects);
    let found = RULES.iter().flat_map(|rule| {
        let found = (rule.find)(seen);
        debug_assert!(found.iter().all(|(_, one)| rule.causes.contains(&one.cause)));
        found
    });
    let is_asked = |of: &Of| match of {
        Of::Cluster => focus.is_all(),
        Of::Class(name) => focus.has_class(name),
        Of::Node(name) => focus.has_node(name),
    };
    let mut findings: Vec<Finding> =
        found.filter(|(of, _)| is_asked(of)).map(|(_, finding)| finding).collect();
    findings.sort_by_key(|finding| Reverse(finding.certainty));
    findings
}

/// The causes that rules can name.
pub(crate) fn named_causes() -> impl Iterator<Item = &'static str> {
    RULES.iter().flat_map(|rule| rule.causes).copied()
}
