//! An analysis as it is printed: its causes are part of it.

use iotax_analyze::{
    Analysis, ArmDepths, ArmDrain, ArmPrecondition, ArmSummary, Attribution, Comparison, Ending,
    FactorEffects, FleetCost, Judgment, Outliers, TrialPoint, Warning,
};
use iotax_diagnose::of_arms;
use iotax_experiment::documented::Documented;
use iotax_record::ExperimentHead;
use iotax_wording::ending::ending;
use iotax_wording::name;
use serde::Serialize;

use crate::doctor::json::DiagnosisJson;

/// Data, and what is said of them.
#[derive(Serialize)]
struct With<'a, T, S> {
    #[serde(flatten)]
    data: &'a T,
    #[serde(flatten)]
    said: S,
}

#[derive(Serialize)]
struct Compared {
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<String>,
}

fn compared(data: &Comparison) -> With<'_, Comparison, Compared> {
    let against = data.against.as_ref().map(name::against);
    With { data, said: Compared { against } }
}

/// The keys, in their order.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    format: u32,
    workload: &'a str,
    primary: &'a str,
    baseline: &'a str,
    margin: f64,
    alpha: f64,
    arms: &'a [ArmSummary],
    comparisons: Vec<With<'a, Comparison, Compared>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<&'a FactorEffects>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outliers: Option<&'a Outliers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<FleetCost>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    rules: &'a [Judgment],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    requirements: &'a [Judgment],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    preconditioned: &'a [ArmPrecondition],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    drained: &'a [ArmDrain],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    depths: &'a [ArmDepths],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    below_cap: Vec<Self>,
    attribution: Option<&'a Attribution>,
    trials: &'a [TrialPoint],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    documented: &'a [Documented],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<DiagnosisJson>,
    warnings: &'a [Warning],
    open_questions: &'a [String],
    ending: ShownEnding<'a>,
}

#[derive(Serialize)]
struct ShownEnding<'a> {
    /// In words, e.g. `every arm has a verdict`.
    reason: String,
    #[serde(flatten)]
    ending: &'a Ending,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(experiment: &'a ExperimentHead, analysis: &'a Analysis) -> Self {
        let below_cap = analysis.below_cap.iter();
        Self {
            format: analysis.format,
            workload: &analysis.workload,
            primary: &analysis.primary,
            baseline: &analysis.baseline,
            margin: analysis.margin,
            alpha: analysis.alpha,
            arms: &analysis.arms,
            comparisons: analysis.comparisons.iter().map(compared).collect(),
            matrix: analysis.matrix.as_ref(),
            outliers: analysis.outliers.as_ref(),
            fleet: analysis.fleet,
            rules: &analysis.rules,
            requirements: &analysis.requirements,
            preconditioned: &analysis.preconditioned,
            drained: &analysis.drained,
            depths: &analysis.depths,
            below_cap: below_cap.map(|(experiment, load)| Self::new(experiment, load)).collect(),
            attribution: analysis.attribution.as_ref(),
            trials: &analysis.trials,
            documented: &analysis.documented,
            causes: of_arms(experiment, analysis).into_iter().map(DiagnosisJson::from).collect(),
            warnings: &analysis.warnings,
            open_questions: &analysis.open_questions,
            ending: ShownEnding {
                reason: ending(&experiment.spec, analysis),
                ending: &analysis.ending,
            },
        }
    }
}
