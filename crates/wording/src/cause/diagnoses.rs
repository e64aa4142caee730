//! Causes that measurements point to, for one arm or several.

use iotax_analyze::Analysis;
use iotax_diagnose::{Diagnosis, Reason, Reasons, of_arms, reasons};
use iotax_record::ExperimentHead;

use super::{put_in, suspect};
use crate::arms;

/// Causes that the arms' measurements point to, as [`lines`]: first those that explain a
/// difference, then those that all arms share, once.
pub fn causes(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<String> {
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
    let alike = alike.iter().map(suspect::alike);
    single.iter().map(suspect::whole_reason).chain(alike).collect()
}

/// Merges arms that share a cause; the evidence is from the arm in which it explains most.
pub fn merged(reasons: Vec<Reason>, analysis: &Analysis) -> Vec<Reason> {
    let key = |reason: &Reason| {
        let suspect = reason.suspect.as_ref();
        // Texts that read the same are printed once.
        let put_in = reason.put_in.as_ref().map(put_in);
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
    let (of, is_several) = (arms::label(&names, analysis), names.len() > 1);
    let explains = |reason: &Reason| reason.suspect.as_ref().and_then(|known| known.explains);
    let most = group
        .into_iter()
        .reduce(|most, other| if explains(&other) > explains(&most) { other } else { most });
    let most = most.expect("a group has a member");
    let evidence_of = is_several.then(|| most.of.clone());
    Reason { of, evidence_of, ..most }
}

/// Every suspect in a line or two, for the list of causes in reports.
pub fn lines(diagnoses: &[Diagnosis], targets: usize) -> Vec<String> {
    let of_one = |diagnosis: &Diagnosis| -> Vec<String> {
        let of = if targets > 1 { format!("{}: ", diagnosis.of) } else { String::new() };
        diagnosis.suspects.iter().map(|suspect| of.clone() + &suspect::suspect(suspect)).collect()
    };
    diagnoses.iter().flat_map(of_one).collect()
}
