//! What is said of every job of saved results alike: once, and not in each of their chapters.

use iotax_analyze::{Analysis, Warning};

use crate::document::{Item, Section};
use crate::experiment::Part;
use crate::notices::notices;

/// Warnings and open questions that all jobs share.
pub(super) struct Common {
    first: Analysis,
}

impl Common {
    pub(super) fn of(parts: &[Part]) -> Self {
        let mut first = parts[0].1.clone();
        let others = || parts.iter().map(|(_, part)| part);
        first.warnings.retain(|warning| others().all(|part| part.warnings.contains(warning)));
        first.open_questions.retain(|text| others().all(|part| part.open_questions.contains(text)));
        Self { first }
    }

    /// What is of one job alone.
    pub(super) fn left_out_of(&self, analysis: &Analysis) -> Analysis {
        let is_own = |warning: &Warning| !self.first.warnings.contains(warning);
        let mut own = analysis.clone();
        own.warnings.retain(is_own);
        own.open_questions.retain(|text| !self.first.open_questions.contains(text));
        if !self.first.open_questions.is_empty() {
            own.open_questions.push("And what is said of all jobs together.".to_owned());
        }
        own
    }

    pub(super) fn sections(&self) -> Vec<Section> {
        let (severe, mild): (Vec<_>, Vec<_>) =
            notices(&self.first).into_iter().partition(|notice| notice.is_severe);
        let said = |heading: &str, notices: Vec<_>, is_alarming: bool| {
            let items: Vec<Item> = notices.into_iter().map(Item::Warning).collect();
            (!items.is_empty()).then(|| Section { is_alarming, ..Section::new(heading, items) })
        };
        let open = self.first.open_questions.clone();
        let open = (!open.is_empty())
            .then(|| Section::new("Not concluded of any job", [Item::list(open)]));
        let warned = [said("Read this first", severe, true), said("Worth knowing", mild, false)];
        warned.into_iter().chain([open]).flatten().collect()
    }
}
