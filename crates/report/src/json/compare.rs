//! `compare` and `peel --format json`: one object with `comparisons[]`.

use iotax_analyze::Analysis;
use iotax_record::{Environment, Experiment, Site};
use iotax_spec::Design;
use serde::Serialize;

use crate::sentence;

/// Version of the object that [`json_compare`] prints. New keys do not raise it; changed or
/// removed ones do.
pub const COMPARE_FORMAT: u32 = 1;

/// The printed object: the analysis with what identifies the experiment around it.
#[derive(Serialize)]
struct Output<'a> {
    iotax_version: &'a str,
    kind: &'static str,
    started: &'a str,
    command: &'a [String],
    seed: u64,
    /// The verdict in plain words, as every other format has it.
    verdict: Vec<String>,
    #[serde(flatten)]
    analysis: &'a Analysis,
    /// After `analysis`, whose own version it replaces.
    environment: &'a Environment,
    sites: &'a [Site],
}

/// One JSON object, indented, ending in a newline. Shape: `docs/json.md`; numbers are full
/// precision, in the units their names say, fractions as 0..1.
pub fn json_compare(experiment: &Experiment, analysis: &Analysis) -> String {
    let output = Output {
        iotax_version: &experiment.iotax_version,
        kind: kind(&experiment.spec.design),
        started: &experiment.started,
        command: &experiment.command,
        seed: experiment.spec.seed,
        verdict: sentence::verdict(experiment, analysis),
        analysis,
        environment: &experiment.environment,
        sites: &experiment.sites,
    };
    let mut text = serde_json::to_string_pretty(&output)
        .expect("the output has string keys and no fallible serializer");
    text.push('\n');
    text
}

/// Which command asked for it.
pub(crate) const fn kind(design: &Design) -> &'static str {
    match design {
        Design::Single => "run",
        Design::Compare => "compare",
        Design::Peel { .. } => "peel",
    }
}
