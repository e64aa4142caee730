//! Known causes against a cluster as it was seen: what of it is here, and what would confirm it.
//!
//! | module | idea |
//! |---|---|
//! | `choice` | what volumes in use are, for a search for caps |
//! | `focus` | which classes and nodes are asked about |
//! | `disks` | what the catalogue knows of a class's volumes |
//! | `whole` | which class claims without one get; the network between pods |
//! | `classes` | what a class asks of its driver |
//! | `mounts` | options of its mounts |
//! | `documented` | documented limits of its volumes |
//! | `nodes` | nodes: their condition, and how many volumes they take |
//! | `vms` | documented limits of their VM sizes |
//! | `why` | what was seen, as figures |

mod choice;
mod classes;
mod disks;
mod documented;
mod focus;
mod mounts;
mod nodes;
mod vms;
mod whole;
pub mod why;

use std::cmp::Reverse;

use iotax_record::cluster::ClusterSeen;

pub use self::choice::{VolumeInUse, choice_of};
pub use self::disks::claim_disk;
use self::focus::Focus;
pub use self::focus::{ClusterSubject, unknown};
pub use self::vms::vm_limits;
use crate::machine::Finding;

/// From what was seen to what is found, and the causes that it can name.
struct Rule {
    causes: &'static [&'static str],
    find: fn(&ClusterSeen) -> Vec<Finding>,
}

const RULES: [Rule; 8] = [
    Rule { causes: &["no-default-class", "several-default-classes"], find: whole::default_class },
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
    Rule { causes: &["node-in-trouble", "node-cordoned"], find: nodes::conditions },
    Rule { causes: &["volumes-per-node"], find: nodes::volumes },
    Rule {
        causes: &["azure-vm-limit", "ebs-instance-limit", "ebs-instance-burst", "gcp-vm-limit"],
        find: vms::limits_of_vms,
    },
    Rule { causes: &["network-encryption"], find: whole::pod_network },
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
