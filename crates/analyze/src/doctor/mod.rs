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
    let mut findings: Vec<_> = rules::ALL.iter().flat_map(|rule| rule(&seen)).collect();
    findings.sort_by_key(|finding| Reverse(finding.certainty));
    findings
}
