//! What a measurement says of its own causes: its signature, joined with what was seen on the
//! machine. Causes are ranked, each with what speaks for it and what against.
//!
//! A rule is a function from one arm's case to a suspect; to add one: its function, and its line
//! in the table of `rules`.

mod case;
mod joined;
mod rules;
mod searched;
mod suspect;

use crate::analysis::ArmSummary;
use crate::checks::Evidence;

use self::case::Case;
pub(crate) use self::searched::of_search;
pub use self::suspect::{Confidence, Diagnosis, Suspect};

/// What is suspected of each arm; arms of which nothing is are left out.
pub(crate) fn of_arms(evidence: &Evidence<'_>, arms: &[ArmSummary]) -> Vec<Diagnosis> {
    if evidence.is_of_results() {
        return Vec::new();
    }
    let of_arm = |(place, summary): (usize, &ArmSummary)| {
        let case = Case::new(evidence, place, summary)?;
        let suspects = rules::ALL.iter().filter_map(|rule| rule.suspect(&case)).collect();
        let suspects = joined::with_findings(&case, suspects);
        Some(Diagnosis { of: summary.name.clone(), suspects: ranked(suspects) })
    };
    let diagnoses = arms.iter().enumerate().filter_map(of_arm);
    diagnoses.filter(|diagnosis| !diagnosis.suspects.is_empty()).collect()
}

/// The surest first, and of those that are as sure the one that explains most.
fn ranked(mut suspects: Vec<Suspect>) -> Vec<Suspect> {
    let explains = |suspect: &Suspect| suspect.explains.unwrap_or(0.0);
    suspects.sort_by(|a, b| {
        let surest_first = b.confidence.cmp(&a.confidence);
        surest_first.then_with(|| explains(b).total_cmp(&explains(a)))
    });
    suspects
}

/// The causes that rules can name, and a search for caps.
#[cfg(test)]
pub(crate) fn named_causes() -> impl Iterator<Item = &'static str> {
    let searched = searched::CAUSES.iter();
    rules::ALL.iter().flat_map(|rule| rule.causes).chain(searched).copied()
}
