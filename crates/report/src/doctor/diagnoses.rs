use iotax_analyze::Analysis;
use iotax_diagnose::{Confidence, Diagnosis, Reason, Reasons, Suspect, of_arms, reasons};
use iotax_record::ExperimentHead;
use iotax_wording::cause::{self, cause};

use super::cause::dated;
use crate::document::{Document, Item, Point, Section};
use crate::{format, words};

/// What a measurement points to, target by target, the surest first.
pub(super) fn write(page: &mut Document, diagnoses: &[Diagnosis]) {
    if diagnoses.is_empty() {
        page.add_paragraph("The measurement points to no known cause.");
    }
    for diagnosis in diagnoses {
        for (at, suspect) in diagnosis.suspects.iter().enumerate() {
            let head = format!(
                "{}, cause {}: {} ({})",
                diagnosis.of,
                at + 1,
                cause::title(suspect.cause),
                cause::confidence(suspect.confidence)
            );
            let is_alarming = suspect.confidence > Confidence::Possible;
            page.add(Section { is_alarming, ..Section::new(head, [Item::Facts(facts(suspect))]) });
        }
    }
}

fn facts(suspect: &Suspect) -> Vec<Point> {
    let mut facts: Vec<Point> = Vec::new();
    facts.extend(cause::each(&suspect.evidence).into_iter().map(|one| Point::new("for", one)));
    facts.extend(cause::each(&suspect.against).into_iter().map(|one| Point::new("against", one)));
    if let Some(share) = suspect.explains {
        let share = format!("{} of the time of an I/O", format::percent(share));
        facts.push(Point::new("explains", share));
    }
    if let Some(known) = cause(suspect.cause) {
        facts.push(Point::new("test", &known.experiment));
        facts.push(Point::new("remedy", &known.remedy));
        facts.push(Point::new("source", dated(&known.sources)));
    }
    facts.push(Point::new("more", format!("iotax doctor --explain {}", suspect.cause)));
    facts
}

/// What the arms' measurements point to, as [`lines`]: what explains a difference first, then what
/// is the same for all arms, once.
pub(crate) fn causes(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<String> {
    if analysis.arms.len() == 1 {
        return lines(&of_arms(experiment, analysis), 1);
    }
    let Reasons { apart, alike, others } = reasons(experiment, analysis);
    let of_arm = |diagnosis: Diagnosis| {
        let Diagnosis { of, suspects } = diagnosis;
        let reason = move |suspect| {
            let suspect = Some(suspect);
            Reason { of: of.clone(), suspect, put_in: None, evidence_of: None }
        };
        suspects.into_iter().map(reason).collect::<Vec<_>>()
    };
    let others: Vec<Reason> = others.into_iter().flat_map(of_arm).collect();
    let single = [merged(apart, analysis), merged(others, analysis)].concat();
    let alike = alike.iter().map(cause::alike);
    single.iter().map(cause::whole_reason).chain(alike).collect()
}

/// Arms that have a cause in common as one; the evidence is that of the arm in which it explains most.
pub(crate) fn merged(reasons: Vec<Reason>, analysis: &Analysis) -> Vec<Reason> {
    let key = |reason: &Reason| {
        let suspect = reason.suspect.as_ref();
        // What reads the same is said once.
        let put_in = reason.put_in.as_ref().map(cause::put_in);
        (suspect.map(|suspect| (suspect.cause, suspect.confidence)), put_in)
    };
    let mut groups: Vec<Vec<Reason>> = Vec::new();
    for reason in reasons {
        match groups.iter_mut().find(|group| key(&group[0]) == key(&reason)) {
            Some(group) => group.push(reason),
            None => groups.push(vec![reason]),
        }
    }
    groups.into_iter().map(|group| as_one(group, analysis)).collect()
}

fn as_one(group: Vec<Reason>, analysis: &Analysis) -> Reason {
    let mut names: Vec<&str> = group.iter().map(|reason| reason.of.as_str()).collect();
    names.dedup();
    let (of, is_several) = (iotax_wording::arms::label(&names, analysis), names.len() > 1);
    let explains = |reason: &Reason| reason.suspect.as_ref().and_then(|known| known.explains);
    let most = group
        .into_iter()
        .reduce(|most, other| if explains(&other) > explains(&most) { other } else { most });
    let most = most.expect("a group has a member");
    let evidence_of = is_several.then(|| most.of.clone());
    Reason { of, evidence_of, ..most }
}

/// Every suspect in a line or two, for the list of causes in a report of several formats.
pub(crate) fn lines(diagnoses: &[Diagnosis], targets: usize) -> Vec<String> {
    let of_one = |diagnosis: &Diagnosis| -> Vec<String> {
        let of = if targets > 1 { format!("{}: ", diagnosis.of) } else { String::new() };
        diagnosis.suspects.iter().map(|suspect| of.clone() + &cause::suspect(suspect)).collect()
    };
    diagnoses.iter().flat_map(of_one).collect()
}

/// The first suspect in a sentence, if there is reason enough to name one.
pub(crate) fn sentence(diagnosis: &Diagnosis) -> Option<String> {
    Some(words::printable(&cause::leading(diagnosis)?))
}

/// Why an arm is the slower one, in a sentence.
pub(crate) fn reason(reason: &Reason) -> String {
    words::printable(&cause::reason(reason))
}
