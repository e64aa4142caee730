//! What saved results of several jobs say together.

use indexmap::IndexSet;
use iotax_analyze::{Analysis, Comparison, Verdict};
use iotax_quantity::{capital, list};

use super::against::baseline_of;
use super::comparison::{primary_of_each, subject};
use super::phases::AnalyzedPhase;
use crate::name::{self, printable};
use crate::sentence;

/// What is said of all jobs together: what each arm's verdicts are, and what holds for all jobs.
pub fn sentences(parts: &[AnalyzedPhase]) -> Vec<String> {
    let (experiment, first) = &parts[0];
    let mut sentences: Vec<String> = Vec::new();
    if first.matrix.is_none() {
        for pair in primary_of_each(first) {
            sentences.extend(tally(parts, pair));
        }
    }
    let is_single = |(_, part): &AnalyzedPhase| {
        part.comparisons.iter().all(|comparison| comparison.lo.is_none())
    };
    if first.arms.len() > 1 && parts.iter().all(is_single) {
        sentences
            .push("One result each: how much of a difference is chance cannot be told.".to_owned());
    }
    let is_of_all = |note: &&String| {
        parts.iter().all(|(experiment, _)| experiment.spec.workload().notes.contains(note))
    };
    let notes = experiment.spec.workload().notes.iter().filter(is_of_all);
    sentences.extend(notes.map(|note| sentence(&capital(note))));
    sentences
}

/// `c-azure against aks: slower in read_bw, write_bw; undecided in read_iops.`
fn tally(parts: &[AnalyzedPhase], pair: &Comparison) -> Option<String> {
    let own = |part: &Analysis| -> Option<Comparison> {
        let found = primary_of_each(part).into_iter().find(|c| c.subject == pair.subject)?;
        Some(found.clone())
    };
    let found: Vec<(&str, Comparison)> =
        parts.iter().filter_map(|(_, part)| Some((part.workload.as_str(), own(part)?))).collect();
    let said: IndexSet<Verdict> = found.iter().map(|(_, comparison)| comparison.verdict).collect();
    if said.iter().eq([&Verdict::Undecided]) {
        return None; // The table says how large it is, and nothing more is known.
    }
    let clauses = said.iter().map(|verdict| {
        let of_verdict = found.iter().filter(|(_, comparison)| comparison.verdict == *verdict);
        let jobs: Vec<&str> = of_verdict.map(|(job, _)| *job).collect();
        format!("{} in {}", name::verdict(*verdict), list(&jobs))
    });
    let clauses = clauses.collect::<Vec<_>>().join("; ");
    let baseline = baseline_of(pair, &parts[0].1);
    Some(printable(&format!("{} against {baseline}: {clauses}.", subject(pair))))
}
