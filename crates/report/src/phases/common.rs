//! Statements that apply to all phases, which are shown once instead of in every chapter. Also the
//! warnings of single phases, so that readers of the overview see them.

use indexmap::IndexMap;
use iotax_analyze::{Check, Weight};
use iotax_wording::doubt::{Notice, doubt, notices, title};
use iotax_wording::note;

use crate::document::{Item, Point, Section, Topic};
use crate::experiment::{AnalyzedPhase, questions, sections_of};
use crate::words;

/// Open questions that all phases share; for saved results, also warnings. Equal text counts as
/// equal.
pub(super) struct Common {
    first: AnalyzedPhase,
    /// The text of the shared questions.
    open: Vec<String>,
    /// The word for phases: `phase`, `job`.
    word: &'static str,
}

/// The text of each warning.
fn doubts((experiment, analysis): &AnalyzedPhase) -> Vec<String> {
    let said = analysis.warnings.iter().map(|one| {
        let said = doubt(one, experiment);
        format!("{:?} {} {}", one.of, said.message(), said.advice)
    });
    said.collect()
}

/// Keeps the elements whose text meets a condition.
fn keep<T>(all: &mut Vec<T>, said: &[String], holds: impl Fn(&String) -> bool) {
    let mut said = said.iter();
    all.retain(|_| said.next().is_some_and(&holds));
}

impl Common {
    pub(super) fn of(parts: &[AnalyzedPhase]) -> Self {
        let (experiment, first) = &parts[0];
        let is_of_results = experiment.spec.is_of_results();
        let each: Vec<[Vec<String>; 2]> =
            parts.iter().map(|part| [doubts(part), questions(&part.0, &part.1)]).collect();
        let is_common =
            |what: usize, text: &String| each.iter().all(|all| all[what].contains(text));
        let mut first = first.clone();
        let [said, open] = &each[0];
        keep(&mut first.warnings, said, |text| is_of_results && is_common(0, text));
        keep(&mut first.open_questions, open, |text| is_common(1, text));
        let open = open.iter().filter(|text| is_common(1, text)).cloned().collect();
        let word = if is_of_results { "job" } else { "phase" };
        Self { first: (experiment.clone(), first), open, word }
    }

    /// The phases without the shared statements.
    pub(super) fn left_out_of(&self, parts: &[AnalyzedPhase]) -> Vec<AnalyzedPhase> {
        let common = doubts(&self.first);
        let own = |part: &AnalyzedPhase| {
            let (experiment, analysis) = part;
            let mut own = analysis.clone();
            let open = questions(experiment, analysis);
            keep(&mut own.warnings, &doubts(part), |text| !common.contains(text));
            keep(&mut own.open_questions, &open, |text| !self.open.contains(text));
            (experiment.clone(), own)
        };
        parts.iter().map(own).collect()
    }

    /// A note in place of the shared open questions.
    pub(super) fn instead(&self) -> Option<String> {
        (!self.open.is_empty()).then(|| note::open_above(self.word))
    }

    /// The sections, without statements that are in the first sentences.
    pub(super) fn sections(&self) -> Vec<Section> {
        let (experiment, mut unsaid) = self.first.clone();
        unsaid.warnings.retain(|doubt| doubt.check() != Check::AnotherJob);
        let found = sections_of(notices(&experiment, &unsaid));
        let open = self.open.clone();
        let heading = format!("Open questions, all {}s", self.word);
        let open =
            (!open.is_empty()).then(|| Section::new(heading, [Item::list(open)]).on(Topic::Doubt));
        found.into_iter().chain([open]).flatten().collect()
    }
}

/// Severe warnings of each phase, with the first advice.
pub(super) fn severe(parts: &[AnalyzedPhase]) -> Option<Section> {
    let mut seen: IndexMap<String, Vec<&str>> = IndexMap::new();
    for (experiment, analysis) in parts {
        for notice in notices(experiment, analysis).iter().filter(|notice| notice.is_severe()) {
            seen.entry(told(notice)).or_default().push(&analysis.workload);
        }
    }
    let of_text = |(text, phases)| Point::new(listed(phases, parts), text);
    let points: Vec<Point> = seen.into_iter().map(of_text).collect();
    (!points.is_empty())
        .then(|| Section { is_alarming: true, ..Section::new("Warnings", [Item::Facts(points)]) })
}

/// `unexpected gain (luks): arm luks only adds work, but is 2.2x faster in throughput. Do not treat
/// this as a gain until you can explain it.`
fn told(notice: &Notice) -> String {
    let Notice { title, messages, advice, .. } = notice;
    let seen = words::sentence(&format!("{title}: {}", messages.join("; ")));
    let first = advice.split_inclusive(". ").next().unwrap_or_default();
    format!("{seen} {}", first.trim_end())
}

/// The names of phases, each once.
fn listed(mut phases: Vec<&str>, parts: &[AnalyzedPhase]) -> String {
    phases.dedup();
    match phases.len() {
        all if all == parts.len() => "all phases".to_owned(),
        _ => phases.join(", "),
    }
}

/// Minor warnings by kind, with their phases.
pub(super) fn mild(parts: &[AnalyzedPhase]) -> Option<Section> {
    let mut kinds: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for (_, analysis) in parts {
        for doubt in
            analysis.warnings.iter().filter(|doubt| doubt.check().weight() == Weight::Minor)
        {
            kinds.entry(title(doubt.check())).or_default().push(&analysis.workload);
        }
    }
    let of_kind = |(kind, phases)| Point::new(kind, listed(phases, parts));
    let points: Vec<Point> = kinds.into_iter().map(of_kind).collect();
    (!points.is_empty()).then(|| Section::new("Minor warnings", [Item::Facts(points)]))
}
