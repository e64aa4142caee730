//! The results of all phases together, in one sentence per arm.

use indexmap::IndexSet;
use iotax_analyze::{Analysis, Comparison, Verdict};
use iotax_experiment::Subject;
use iotax_quantity::count;
use iotax_record::ExperimentHead;

use super::comparison::{by_size, primary_effects, primary_of_each, size, subject};
use crate::name::{self, printable};

/// An experiment of one phase, and its analysis.
pub type AnalyzedPhase = (ExperimentHead, Analysis);

/// At most this many arms get a sentence.
const MAX_SENTENCES: usize = 4;

/// `luks compared with base: slower in 2 of 3 phases (largest difference in git-status: 7.1x
/// slower [3.4, 14] in throughput) and undecided in 1.`
pub fn sentences(parts: &[AnalyzedPhase]) -> Vec<String> {
    let mut found: Vec<(&Analysis, &Comparison)> = parts
        .iter()
        .flat_map(|(_, analysis)| reported(analysis).into_iter().map(move |c| (analysis, c)))
        .collect();
    // The arm with the largest difference in any phase comes first.
    found.sort_by(|(_, a), (_, b)| by_size(a, b));
    let subjects: IndexSet<&Subject> = found.iter().map(|(_, c)| &c.subject).collect();
    let mut sentences: Vec<String> =
        subjects.iter().take(MAX_SENTENCES).map(|subject| of(subject, &found)).collect();
    if subjects.len() > MAX_SENTENCES {
        let more = subjects.len() - MAX_SENTENCES;
        let is_matrix = parts.iter().all(|(_, analysis)| analysis.matrix.is_some());
        let what = if is_matrix { "more level" } else { "more arm" };
        sentences.push(format!("For {}, see below.", count(more as u64, what)));
    }
    sentences
}

/// Each arm or layer; in a matrix, each level.
fn reported(analysis: &Analysis) -> Vec<&Comparison> {
    if let Some(matrix) = &analysis.matrix {
        return primary_effects(matrix).into_iter().map(|effect| &effect.comparison).collect();
    }
    let all = primary_of_each(analysis).into_iter();
    all.filter(|c| matches!(c.subject, Subject::Arm(_) | Subject::Layer(_))).collect()
}

fn of(about: &Subject, found: &[(&Analysis, &Comparison)]) -> String {
    let own: Vec<_> = found.iter().filter(|(_, c)| c.subject == *about).collect();
    let (analysis, first) = own.first().expect("it is the subject of one at least");
    let name = subject(first);
    let against = match about.arm() {
        Some(_) => format!(" compared with {}", printable(&analysis.baseline)),
        None => String::new(),
    };
    let with = |verdict: Verdict| own.iter().filter(move |(_, c)| c.verdict == verdict);
    let all = count(own.len() as u64, "phase");
    let mut clauses: Vec<String> = Vec::new();
    let in_phases = |verdict: Verdict, is_first: bool| {
        let count = with(verdict).count();
        let phases = if is_first { format!("{count} of {all}") } else { count.to_string() };
        format!("{} in {phases}", name::verdict(verdict))
    };
    for verdict in [Verdict::Slower, Verdict::Faster] {
        let Some((most, comparison)) = with(verdict).next() else { continue };
        let is_one = with(verdict).count() == 1;
        let sign = if is_one { "," } else { ":" };
        let size = size(comparison).map(|size| format!("{sign} {size}")).unwrap_or_default();
        let most = printable(&most.workload);
        let most = if is_one {
            format!("{most}{size}")
        } else {
            format!("largest difference in {most}{size}")
        };
        clauses.push(format!("{} ({most})", in_phases(verdict, clauses.is_empty())));
    }
    let verdicts = own.iter().map(|(_, comparison)| comparison.verdict);
    let others: IndexSet<Verdict> = verdicts.filter(|verdict| !verdict.is_signed()).collect();
    for verdict in others {
        clauses.push(in_phases(verdict, clauses.is_empty()));
    }
    format!("{name}{against}: {}.", name::all(clauses))
}
