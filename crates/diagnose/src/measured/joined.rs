//! What was seen on the machine, joined with what was measured.

use iotax_record::Machine;

use super::case::Case;
use super::rules;
use crate::machine::{Certainty, Finding, findings};
use crate::measured::suspect::{Confidence, FoundThere, Suspect};

/// Causes that act or do not within a measurement, and then its rules name them: seen on the
/// machine alone, they are no reason.
const DECIDED_BY_MEASURING: [&str; 14] = [
    "azuredisk-read-ahead",
    "cgroup-io-max",
    "cgroup-memory",
    "cpu-quota",
    "dirty-throttling",
    "dm-crypt-workqueues",
    "nfs-gss-window",
    "nfs-read-ahead",
    "nfs-retransmissions",
    "nfs-slots",
    "page-cache-thrash",
    "queue-too-short",
    "read-ahead",
    "too-little-parallelism",
];

/// Suspects with what was seen of them, and those that were only seen.
pub(super) fn with_findings(case: &Case<'_>, mut suspects: Vec<Suspect>) -> Vec<Suspect> {
    let Some((machine, path)) = case.machine().zip(case.path()) else { return suspects };
    let only_here = Machine { paths: vec![path.clone()], ..machine.clone() };
    for finding in findings(&only_here, &case.experiment.cloud) {
        match suspects.iter_mut().find(|suspect| suspect.cause == finding.cause) {
            Some(known) => known.evidence.extend(finding.seen.into_iter().map(Into::into)),
            None => suspects.extend(only_seen(case, finding)),
        }
    }
    suspects
}

/// A cause that nothing measured points to. Where a rule would have measured it, it does not act.
fn only_seen(case: &Case<'_>, finding: Finding) -> Option<Suspect> {
    let is_decided =
        rules::measures(finding.cause, case) || DECIDED_BY_MEASURING.contains(&finding.cause);
    (!is_decided && finding.certainty > Certainty::ToBeTested).then_some(())?;
    let Finding { cause, about, alike, why, seen, .. } = finding;
    let there = FoundThere { about, alike, why: Box::new(why) };
    Some(Suspect::new(cause, Confidence::Likely, there).and(seen))
}
