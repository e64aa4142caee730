//! Known causes against a machine as it was seen: what of it is here, how sure that is, and what
//! would confirm it.
//!
//! A rule is a function from what was seen to findings; one file for each group of causes in the
//! catalogue. To add one: its function, and its line in the table of its file.

mod finding;
mod rules;
mod seen;

use std::cmp::Reverse;

use iotax_record::Machine;
use iotax_spec::CloudChoice;

pub use self::finding::{Certainty, Finding, Observation};
pub use self::seen::Seen;

/// What is known to hurt and was seen: the surest first, then in the catalogue's order.
///
/// `choice` says what the machine or its disks are where its cloud does not.
pub fn findings(machine: &Machine, choice: &CloudChoice) -> Vec<Finding> {
    let seen = Seen::new(machine, choice);
    let mut findings = merged(rules::ALL.iter().flat_map(|rule| (rule.find)(&seen)));
    debug_assert!(findings.iter().all(|finding| named_causes().any(|id| id == finding.cause)));
    findings.sort_by_key(|finding| Reverse(finding.certainty));
    findings
}

/// What holds alike of several disks of a path, as one finding.
fn merged(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    for finding in findings {
        let is_like_it = |other: &&mut Finding| {
            let [one, other] = [&finding, &**other]
                .map(|finding| (&finding.cause, finding.certainty, &finding.commands));
            one == other
        };
        let Some(first) = merged.iter_mut().find(is_like_it) else {
            merged.push(finding);
            continue;
        };
        first.why = format!("{} So it is with {}.", first.why, finding.about);
        for observation in finding.seen {
            if !first.seen.contains(&observation) {
                first.seen.push(observation);
            }
        }
    }
    merged
}

/// The causes that rules can name.
pub fn named_causes() -> impl Iterator<Item = &'static str> {
    rules::ALL.iter().flat_map(|rule| rule.causes).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_cause_of_the_catalogue_has_a_rule() {
        let causes: BTreeSet<_> =
            iotax_catalog::causes().iter().map(|cause| cause.id.as_str()).collect();
        assert_eq!(named_causes().collect::<BTreeSet<_>>(), causes);
    }
}
