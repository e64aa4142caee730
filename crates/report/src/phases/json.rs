//! Several phases as JSON: each one's object, in their order.

use iotax_record::Trial;
use serde::Serialize;

use crate::experiment::AnalyzedPhase;
use crate::json::{COMPARE_FORMAT, Output, Root, json_text};

/// All phases: `phases[]` holds what a comparison of one phase would print.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the keys of the printed object")]
struct Phases<'a> {
    json_format: u32,
    suite: &'a str,
    phases: Vec<Output<'a>>,
}

impl<'a> Phases<'a> {
    fn new(suite: &'a str, parts: &'a [AnalyzedPhase]) -> Self {
        let phases = parts.iter().map(|(experiment, analysis)| Output::new(experiment, analysis));
        Self { json_format: COMPARE_FORMAT, suite, phases: phases.collect() }
    }
}

/// One JSON object for all phases of a comparison.
pub fn phases_json_compare(suite: &str, parts: &[AnalyzedPhase]) -> String {
    json_text(&Phases::new(suite, parts))
}

/// One JSON object in the shape of fio's JSON+ for all phases of a plain run: their jobs one after
/// the other, as fio prints those of a file with `stonewall`.
pub fn phases_json_run(suite: &str, parts: &[AnalyzedPhase], trials: &[Trial]) -> String {
    let mut roots = (0..).zip(parts).map(|(phase, (experiment, analysis))| {
        let own: Vec<&Trial> = trials.iter().filter(|trial| trial.phase == phase).collect();
        Root::new(experiment, analysis, &own, ())
    });
    let first = roots.next().expect("an experiment has at least one phase");
    let joined = roots.fold(first, Root::followed_by);
    json_text(&joined.with(Phases::new(suite, parts)))
}
