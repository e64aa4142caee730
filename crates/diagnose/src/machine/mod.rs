//! Known causes against a machine as it was seen: what of it is here, how sure that is, and what
//! would confirm it.
//!
//! A rule is a function from what was seen to findings; one file for each group of causes in the
//! catalogue. To add one: its function, and its line in the table of its file.

pub mod azure;
mod commands;
pub mod confidential;
mod coverage;
pub mod device;
pub mod drive;
pub mod ebs;
pub mod encryption;
pub mod file_system;
pub(crate) mod finding;
pub mod gcp;
pub mod groups;
pub mod guest;
pub mod interface;
pub mod limits;
pub mod memory;
pub mod network;
pub mod nfs;
pub(crate) mod observation;
pub mod packets;
pub mod path;
pub mod proxy;
pub mod raid;
mod rules;
pub mod smb;
mod snapshot;
pub mod why;
pub mod zfs;

use std::cmp::Reverse;

use iotax_experiment::CloudChoice;
use iotax_record::Machine;

pub use self::coverage::{Lack, LayerCoverage, LayerKind, coverage};
pub use self::finding::{Certainty, Component, ComponentKind, Detail, DiskUse, Finding};
pub use self::observation::{
    BurstFor, Counted, Field, GroupRates, LoweredRate, MemberKind, Names, Observation, PeakLimit,
    QdiscSeen, Source, Value,
};
use self::rules::{At, DeviceAt, Finder, InterfaceAt, MountAt, Rule, rule};
pub(crate) use self::snapshot::quoted;
use self::snapshot::{Attached, Snapshot};
pub use self::snapshot::{Meanwhile, Since};

/// What is known to hurt and was seen: the surest first.
///
/// `choice` says what the machine or its disks are where its cloud does not.
pub fn findings(machine: &Machine, choice: &CloudChoice) -> Vec<Finding> {
    let seen = Snapshot::new(machine, choice);
    let found = rules::all().flat_map(|rule| rule.findings(&seen));
    let mut findings = merged(found.map(|mut finding| {
        finding.commands = commands::usable(machine, &finding.commands);
        finding
    }));
    debug_assert!(findings.iter().all(|finding| named_causes().any(|id| id == finding.cause)));
    findings.sort_by_key(|finding| Reverse(finding.certainty));
    findings
}

/// What holds alike of several disks of a path, as one finding.
fn merged(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut groups: Vec<Finding> = Vec::new();
    for finding in findings {
        let is_like_it = |other: &&mut Finding| {
            let [one, other] = [&finding, other]
                .map(|finding| (finding.cause, finding.certainty, &finding.commands));
            one == other
        };
        let Some(first) = groups.iter_mut().find(is_like_it) else {
            groups.push(finding);
            continue;
        };
        let new = finding.seen.into_iter().filter(|seen| !first.seen.contains(seen));
        let new: Vec<_> = new.collect();
        first.seen.extend(new);
        first.alike.extend(finding.about);
    }
    groups
}

/// The causes that rules can name.
pub fn named_causes() -> impl Iterator<Item = &'static str> {
    rules::all().flat_map(|rule| rule.causes).copied()
}

#[cfg(test)]
mod tests {
    use iotax_record::machine::{Device, DeviceKind, Node, PathSeen, Queue, SeenLayer};

    use super::*;

    #[test]
    fn what_holds_of_several_disks_is_told_once() {
        let disk = |name: &str| {
            let queue = Queue { no_merges: Some(2), ..Queue::default() };
            let device = Device { name: name.to_owned(), queue, ..Device::default() };
            Node { layer: SeenLayer::Device(device), below: Vec::new() }
        };
        let raid = Device { kind: DeviceKind::Raid, ..Device::default() };
        let raid = Node { layer: SeenLayer::Device(raid), below: vec![1, 2, 3] };
        let nodes = vec![raid, disk("sda"), disk("sdb"), disk("sdc")];
        let paths = vec![PathSeen { path: "/x".to_owned(), top: Some(0), ..PathSeen::default() }];
        let machine = Machine { nodes, paths, ..Machine::default() };
        let found = findings(&machine, &CloudChoice::default());
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.cause, one.seen.len()), ("merging-off", 3));
        let of = |name: &str| Component::new(ComponentKind::Device, name).of("/x");
        assert_eq!(
            (&one.about[..], &one.alike[..]),
            (&[of("sda")][..], &[of("sdb"), of("sdc")][..])
        );
    }
}
