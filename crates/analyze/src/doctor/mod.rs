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
    let mut findings: Vec<_> = rules::ALL.iter().flat_map(|rule| (rule.find)(&seen)).collect();
    debug_assert!(findings.iter().all(|finding| named_causes().any(|id| id == finding.cause)));
    findings.sort_by_key(|finding| Reverse(finding.certainty));
    findings
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
