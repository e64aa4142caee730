//! What is said of every phase alike: once, and not in each of their chapters.

use iotax_analyze::{Analysis, Check, Warning};

use crate::document::{Item, Section, Topic};
use crate::experiment::Part;
use crate::notices::notices;

/// Open questions that all phases share; of saved results, warnings too.
pub(super) struct Common {
    first: Analysis,
    /// What the phases are called: `phase`, `job`.
    word: &'static str,
}

impl Common {
    pub(super) fn of(parts: &[Part]) -> Self {
        let (experiment, first) = &parts[0];
        let is_of_results = experiment.spec.is_of_results();
        let mut first = first.clone();
        let others = || parts.iter().map(|(_, part)| part);
        let is_common = |warning: &Warning| others().all(|part| part.warnings.contains(warning));
        first.warnings.retain(|warning| is_of_results && is_common(warning));
        first.open_questions.retain(|text| others().all(|part| part.open_questions.contains(text)));
        Self { first, word: if is_of_results { "job" } else { "phase" } }
    }

    /// What is of each phase alone.
    pub(super) fn left_out_of(&self, parts: &[Part]) -> Vec<Part> {
        let is_own = |warning: &Warning| !self.first.warnings.contains(warning);
        let own = |(experiment, analysis): &Part| {
            let mut own = analysis.clone();
            own.warnings.retain(is_own);
            own.open_questions.retain(|text| !self.first.open_questions.contains(text));
            if !self.first.open_questions.is_empty() {
                own.open_questions.push(format!("What is said above of all {}s.", self.word));
            }
            (experiment.clone(), own)
        };
        parts.iter().map(own).collect()
    }

    /// Without what the first sentences say.
    pub(super) fn sections(&self) -> Vec<Section> {
        let mut unsaid = self.first.clone();
        unsaid.warnings.retain(|warning| warning.check != Check::AnotherJob);
        let (severe, mild): (Vec<_>, Vec<_>) =
            notices(&unsaid).into_iter().partition(|notice| notice.is_severe);
        let said = |heading: &str, notices: Vec<_>, is_alarming: bool| {
            let items: Vec<Item> = notices.into_iter().map(Item::Warning).collect();
            let topic = if is_alarming { Topic::Answer } else { Topic::Doubt };
            (!items.is_empty()).then(|| Section {
                is_alarming,
                topic,
                ..Section::new(heading, items)
            })
        };
        let open = self.first.open_questions.clone();
        let heading = format!("Not concluded of any {}", self.word);
        let open =
            (!open.is_empty()).then(|| Section::new(heading, [Item::list(open)]).on(Topic::Doubt));
        let warned = [said("Read this first", severe, true), said("Worth knowing", mild, false)];
        warned.into_iter().chain([open]).flatten().collect()
    }
}
