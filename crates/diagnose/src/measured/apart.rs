//! What explains the difference between arms: what sets one apart from the baseline and points the
//! way of the verdict. What holds for all of them alike explains none.

use iotax_analyze::{Analysis, Verdict};
use iotax_experiment::{Design, Does, Layer, Subject};
use iotax_record::ExperimentHead;
use serde::Serialize;

use super::case::Case;
use crate::measured::suspect::{Confidence, Diagnosis, Reason, Reasons, Suspect};

/// Causes that lie in the load: all arms have the same, whether or not it stands out on each.
const OF_THE_LOAD: [&str; 1] = ["too-little-parallelism"];
/// Less of a difference is not explained.
const SHARE: f64 = 0.25;

/// An arm that was measured, and what is suspected of it.
pub(super) struct Judged<'a> {
    pub(super) case: Case<'a>,
    pub(super) suspects: Vec<Suspect>,
}

impl Judged<'_> {
    fn name(&self) -> &str {
        &self.case.summary.name
    }

    fn suspect(&self, cause: &str) -> Option<&Suspect> {
        self.suspects.iter().find(|suspect| suspect.cause == cause)
    }

    /// Time of an I/O that it explains, in milliseconds.
    fn explained_ms(&self, suspect: &Suspect) -> Option<f64> {
        Some(suspect.explains? * self.case.latency_ms())
    }
}

/// What is suspected of the arms, told apart by what it explains.
pub(super) fn reasons(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    arms: &[Judged<'_>],
) -> Reasons {
    let mut reasons = Reasons::default();
    if let [base, others @ ..] = arms
        && base.name() == analysis.baseline
    {
        for arm in others {
            let found = match way(experiment, analysis, arm) {
                Some(Verdict::Slower) => explain(arm, base),
                Some(Verdict::Faster) => explain(base, arm),
                _ => None,
            };
            reasons.apart.extend(found.filter(|found| !reasons.apart.contains(found)));
        }
    }
    let leads = |arm: &Judged<'_>, suspect: &Suspect| {
        let of_arm = reasons.apart.iter().filter(|reason| reason.of == arm.name());
        of_arm.filter_map(|reason| reason.suspect.as_ref()).any(|lead| lead.cause == suspect.cause)
    };
    let is_leading = |cause: &str| {
        let mut leading = reasons.apart.iter().filter_map(|reason| reason.suspect.as_ref());
        leading.any(|lead| lead.cause == cause)
    };
    let is_alike = |suspect: &Suspect| {
        let everywhere = arms.iter().all(|arm| arm.suspect(suspect.cause).is_some());
        arms.len() > 1
            && !is_leading(suspect.cause)
            && (everywhere || OF_THE_LOAD.contains(&suspect.cause))
    };
    let mut alike: Vec<Suspect> = Vec::new();
    for suspect in arms.iter().flat_map(|arm| &arm.suspects).filter(|known| is_alike(known)) {
        match alike.iter_mut().find(|known| known.cause == suspect.cause) {
            Some(known) => known.confidence = known.confidence.min(suspect.confidence),
            None => alike.push(suspect.clone()),
        }
    }
    let rest = |arm: &Judged<'_>| {
        let own = arm.suspects.iter().filter(|known| !leads(arm, known) && !is_alike(known));
        Diagnosis::of(arm.name(), own.cloned().collect())
    };
    reasons.others = arms.iter().filter_map(rest).collect();
    reasons.alike = alike;
    reasons
}

/// Which way the arm differs from the baseline, in the first of its speeds that says so.
fn way(experiment: &ExperimentHead, analysis: &Analysis, arm: &Judged<'_>) -> Option<Verdict> {
    let is_full = match &experiment.spec.design {
        Design::Peel { masks, .. } => {
            let all = masks.iter().fold(0, |all, mask| all | mask);
            masks.get(arm.case.arm) == Some(&all)
        }
        _ => false,
    };
    let comparisons = analysis.comparisons.iter().filter(|comparison| {
        let is_total = is_full && comparison.subject == Subject::Total;
        comparison.subject.arm() == Some(arm.name()) || is_total
    });
    let mut signed = comparisons.filter(|c| c.metric.is_speed() && c.verdict.is_signed());
    signed.next().map(|comparison| comparison.verdict)
}

/// What makes the one slower than the other, as far as that was measured.
fn explain(slow: &Judged<'_>, fast: &Judged<'_>) -> Option<Reason> {
    let sets_apart = |suspect: &&Suspect| {
        suspect.confidence > Confidence::Possible
            && !OF_THE_LOAD.contains(&suspect.cause)
            && match fast.suspect(suspect.cause) {
                None => true,
                Some(there) => costs_more(slow, suspect, fast, there),
            }
    };
    let suspect = slow.suspects.iter().find(sets_apart).cloned();
    let put_in = put_in(&slow.case, &fast.case);
    (suspect.is_some() || put_in.is_some()).then(|| Reason {
        of: slow.name().to_owned(),
        suspect,
        put_in,
        evidence_of: None,
    })
}

/// Whether a cause that both have takes so much more time of the slow one that it explains a part
/// of the difference.
fn costs_more(slow: &Judged<'_>, here: &Suspect, fast: &Judged<'_>, there: &Suspect) -> bool {
    let (Some(here), Some(there)) = (slow.explained_ms(here), fast.explained_ms(there)) else {
        return false;
    };
    let difference = slow.case.latency_ms() - fast.case.latency_ms();
    difference > 0.0 && here - there > SHARE * difference
}

/// Layers of a stack in which it differs from another one, and what they took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PutIn {
    pub layers: Vec<NthLayer>,
    /// Time of their devices per I/O.
    pub took_ns: f64,
    /// The arm in which it was less, where that has the same layers.
    pub more_than: Option<String>,
    pub upper: String,
    pub lower: String,
}

/// A layer, and which of several of its kind, counted from 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NthLayer {
    pub name: &'static str,
    pub nth: Option<usize>,
}

/// What the layers took in which the stacks differ.
fn put_in(slow: &Case<'_>, fast: &Case<'_>) -> Option<PutIn> {
    let (own, others) = (slow.layers()?, fast.layers()?);
    let (layers, more_than) = match added(others, own) {
        Some(added) => (added, None),
        None => (changed(others, own)?, Some(fast.summary.name.clone())),
    };
    let [upper, .., lower] = slow.devices() else { return None };
    let took_ms = slow.between_devices_ms()? - fast.between_devices_ms().unwrap_or(0.0);
    let difference = slow.latency_ms() - fast.latency_ms();
    (difference > 0.0 && took_ms > SHARE * difference).then(|| PutIn {
        layers,
        took_ns: took_ms * 1e6,
        more_than,
        upper: upper.name.clone(),
        lower: lower.name.clone(),
    })
}

/// The layers that one stack has more than another, from bottom to top; `None` if that is not all
/// in which they differ.
fn added(fewer: &[Layer], more: &[Layer]) -> Option<Vec<NthLayer>> {
    let mut rest = fewer.iter().peekable();
    let mut added = Vec::new();
    for (at, layer) in more.iter().enumerate() {
        if rest.next_if(|known| *known == layer).is_none() && layer.info().does != Does::Carries {
            added.push(called(more, at));
        }
    }
    (rest.peek().is_none() && !added.is_empty()).then_some(added)
}

/// The layers that are set up otherwise in two stacks of the same ones, from bottom to top.
fn changed(one: &[Layer], other: &[Layer]) -> Option<Vec<NthLayer>> {
    let names = |layers: &[Layer]| layers.iter().map(|layer| layer.info().name).collect::<Vec<_>>();
    let differs = |at: &usize| one[*at] != other[*at];
    (names(one) == names(other)).then_some(())?;
    let changed: Vec<usize> = (0..one.len()).filter(differs).collect();
    (!changed.is_empty()).then(|| changed.iter().map(|at| called(other, *at)).collect())
}

fn called(layers: &[Layer], at: usize) -> NthLayer {
    let name = layers[at].info().name;
    let of_kind = |layers: &[Layer]| layers.iter().filter(|one| one.info().name == name).count();
    let nth = (of_kind(layers) > 1).then(|| of_kind(&layers[..at]));
    NthLayer { name, nth }
}
