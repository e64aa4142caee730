//! Known causes against a machine as it was seen: what of it is here, how sure that is, and what
//! would confirm it.
//!
//! A rule is a function from what was seen to findings; one file for each group of causes in the
//! catalogue. To add one: its function, and its line in the table of its file.

mod commands;
mod coverage;
mod finding;
mod rules;
mod snapshot;

use std::cmp::Reverse;

use iotax_experiment::CloudChoice;
use iotax_quantity::list;
use iotax_record::Machine;

pub use self::coverage::{LayerCoverage, coverage};
pub use self::finding::{Certainty, Finding, Observation};
use self::snapshot::Snapshot;
pub(crate) use self::snapshot::quoted;

/// What is known to hurt and was seen: the surest first, then in the catalogue's order.
///
/// `choice` says what the machine or its disks are where its cloud does not.
pub fn findings(machine: &Machine, choice: &CloudChoice) -> Vec<Finding> {
    let seen = Snapshot::new(machine, choice);
    let found = rules::ALL.iter().flat_map(|rule| rule.find(&seen));
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
    let mut groups: Vec<(Finding, Vec<String>)> = Vec::new();
    for finding in findings {
        let is_like_it = |(other, _): &&mut (Finding, Vec<String>)| {
            let [one, other] = [&finding, other]
                .map(|finding| (&finding.cause, finding.certainty, &finding.commands));
            one == other
        };
        let Some((first, others)) = groups.iter_mut().find(is_like_it) else {
            groups.push((finding, Vec::new()));
            continue;
        };
        let new = finding.seen.into_iter().filter(|seen| !first.seen.contains(seen));
        let new: Vec<_> = new.collect();
        first.seen.extend(new);
        others.push(finding.about);
    }
    let told = |(mut finding, others): (Finding, Vec<String>)| {
        if !others.is_empty() {
            let others: Vec<_> = others.iter().map(String::as_str).collect();
            finding.why = format!("{} So it is with {}.", finding.why, list(&others));
        }
        finding
    };
    groups.into_iter().map(told).collect()
}

/// The causes that rules can name.
pub fn named_causes() -> impl Iterator<Item = &'static str> {
    rules::ALL.iter().flat_map(|rule| rule.causes).copied()
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
        assert_eq!((one.cause.as_str(), one.seen.len()), ("merging-off", 3));
        assert_eq!(
            one.why,
            "Small adjacent I/Os to sda stay small. So it is with sdb of /x and sdc of /x."
        );
    }
}
