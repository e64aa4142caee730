//! What a measurement says of its own causes: its signature, joined with what was seen on the
//! machine. Causes are ranked, each with what speaks for it and what against.
//!
//! A rule is a function from one arm's case to a suspect; to add one: its function, and its line
//! in the table of `rules`.

mod case;
mod joined;
mod rules;

use iotax_analyze::{Analysis, ArmSummary};
use iotax_record::Experiment;

use self::case::Case;
use crate::suspect::Diagnosis;

/// What is suspected of each arm; arms of which nothing is are left out.
pub fn of_arms(experiment: &Experiment, analysis: &Analysis) -> Vec<Diagnosis> {
    if experiment.spec.is_of_results() {
        return Vec::new();
    }
    let of_arm = |(place, summary): (usize, &ArmSummary)| {
        let case = Case::new(experiment, analysis, place)?;
        let suspects = rules::ALL.iter().filter_map(|rule| rule.suspect(&case)).collect();
        Diagnosis::of(&summary.name, joined::with_findings(&case, suspects))
    };
    analysis.arms.iter().enumerate().filter_map(of_arm).collect()
}

/// The causes that rules can name.
#[cfg(test)]
pub(crate) fn named_causes() -> impl Iterator<Item = &'static str> {
    rules::ALL.iter().flat_map(|rule| rule.causes).copied()
}
