//! The printed form of an analysis, including its causes.

use iotax_analyze::{
    Analysis, ArmDepths, ArmDrain, ArmPrecondition, ArmSummary, Check, Comparison, Doubt,
    DoubtKind, Ending, Estimate, FactorEffects, FleetCost, Interaction, Judgment, LayerCost,
    OpenQuestion, Outliers, TrialPoint,
};
use iotax_diagnose::of_arms;
use iotax_record::ExperimentHead;
use iotax_wording::doubt::doubt;
use iotax_wording::ending::ending;
use iotax_wording::question::question;
use iotax_wording::verdict::comparison::hypothesis;
use iotax_wording::{name, rule, trial};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use super::limits::ShownDocumented;
use crate::catalog::catalog_json;
use crate::doctor::json::DiagnosisJson;

/// Data with their text.
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

#[derive(Serialize)]
struct Ruled {
    of: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

fn ruled(data: &Judgment) -> With<'_, Judgment, Ruled> {
    With { data, said: Ruled { of: rule::of(data), why: rule::why(data) } }
}

#[derive(Serialize)]
struct Why {
    why: Option<String>,
}

#[derive(Serialize)]
struct Guess {
    hypothesis: String,
}

/// The cost of each layer.
#[derive(Serialize)]
struct Attributed<'a> {
    bare_ns: f64,
    layers: &'a [LayerCost],
    interactions: Vec<With<'a, Interaction, Guess>>,
    total_ns: Option<Estimate>,
    blocks: u32,
}

/// A warning about the figures, as text and data.
#[derive(Serialize)]
struct Warning<'a> {
    check: Check,
    arm: Option<String>,
    message: String,
    advice: String,
    trials: u32,
    finding: &'a DoubtKind,
}

impl<'a> Warning<'a> {
    fn new(doubted: &'a Doubt, experiment: &ExperimentHead) -> Self {
        let said = doubt(doubted, experiment);
        Self {
            check: doubted.check(),
            arm: doubted.of.as_ref().map(name::subject),
            message: said.message(),
            advice: said.advice,
            trials: doubted.trials,
            finding: &doubted.kind,
        }
    }
}

/// An open question, as text and data.
#[derive(Serialize)]
struct Question<'a> {
    message: String,
    finding: &'a OpenQuestion,
}

/// Arms; the notes of their documented limits are text, as in `iotax catalog`.
fn with_words_of_limits<S: Serializer>(arms: &[ArmSummary], to: S) -> Result<S::Ok, S::Error> {
    if arms.iter().flat_map(|arm| &arm.targets).all(|target| target.documented.is_empty()) {
        return arms.serialize(to);
    }
    let mut arms = serde_json::to_value(arms).map_err(S::Error::custom)?;
    let each = arms.as_array_mut().into_iter().flatten();
    let targets = each.filter_map(|arm| arm.get_mut("targets")?.as_array_mut()).flatten();
    for documented in targets.filter_map(|target| target.get_mut("documented")) {
        *documented = catalog_json(documented.take());
    }
    arms.serialize(to)
}

/// The keys, in order.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    format: u32,
    workload: &'a str,
    primary: &'a str,
    baseline: &'a str,
    margin: f64,
    alpha: f64,
    #[serde(serialize_with = "with_words_of_limits")]
    arms: &'a [ArmSummary],
    comparisons: Vec<With<'a, Comparison, Compared>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<&'a FactorEffects>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outliers: Option<&'a Outliers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<FleetCost>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<With<'a, Judgment, Ruled>>,
    /// Number of undecided rules; `None` without rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    undecided: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requirements: Vec<With<'a, Judgment, Ruled>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    preconditioned: Vec<With<'a, ArmPrecondition, Why>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    drained: &'a [ArmDrain],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    depths: &'a [ArmDepths],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    below_cap: Vec<Self>,
    attribution: Option<Attributed<'a>>,
    trials: Vec<With<'a, TrialPoint, Why>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    documented: Vec<ShownDocumented<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<DiagnosisJson>,
    warnings: Vec<Warning<'a>>,
    open_questions: Vec<Question<'a>>,
    ending: ShownEnding<'a>,
}

#[derive(Serialize)]
struct ShownEnding<'a> {
    /// As text, e.g. `every arm has a verdict`.
    reason: String,
    #[serde(flatten)]
    ending: &'a Ending,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(experiment: &'a ExperimentHead, analysis: &'a Analysis) -> Self {
        let below_cap = analysis.below_cap.iter();
        let workload = experiment.spec.workload();
        let preconditioned = analysis.preconditioned.iter().map(|data| {
            let why = trial::not_preconditioned(data);
            With { data, said: Why { why } }
        });
        let trials = analysis.trials.iter().map(|data| {
            let why = trial::why(data);
            With { data, said: Why { why } }
        });
        let guessed = |data: &'a Interaction| {
            let hypothesis = hypothesis(data, workload);
            With { data, said: Guess { hypothesis } }
        };
        let open_questions = analysis
            .open_questions
            .iter()
            .map(|finding| Question { message: question(finding, experiment), finding });
        let rules = &analysis.rules;
        let undecided = || rules.iter().filter(|rule| rule.is_undecided()).count();
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
            rules: rules.iter().map(ruled).collect(),
            undecided: (!rules.is_empty()).then(undecided),
            requirements: analysis.requirements.iter().map(ruled).collect(),
            preconditioned: preconditioned.collect(),
            drained: &analysis.drained,
            depths: &analysis.depths,
            below_cap: below_cap.map(|(experiment, load)| Self::new(experiment, load)).collect(),
            attribution: analysis.attribution.as_ref().map(|found| Attributed {
                bare_ns: found.bare_ns,
                layers: &found.layers,
                interactions: found.interactions.iter().map(guessed).collect(),
                total_ns: found.total_ns,
                blocks: found.blocks,
            }),
            trials: trials.collect(),
            documented: analysis.documented.iter().map(ShownDocumented::new).collect(),
            causes: of_arms(experiment, analysis).into_iter().map(DiagnosisJson::from).collect(),
            warnings: analysis.warnings.iter().map(|of| Warning::new(of, experiment)).collect(),
            open_questions: open_questions.collect(),
            ending: ShownEnding {
                reason: ending(&experiment.spec, analysis),
                ending: &analysis.ending,
            },
        }
    }
}
