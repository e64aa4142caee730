//! Suspects and reasons for a difference, as sentences.

use iotax_diagnose::{Confidence, Diagnosis, Reason, Suspect};
use iotax_quantity::percent;

use super::{confidence, each, evidence, put_in, title};
use crate::name::printable;

/// A suspect in a line or two:
/// `title (likely, explains 40 % of an I/O's time): evidence. Against it: ...`
pub fn suspect(suspect: &Suspect) -> String {
    line(suspect, None)
}

fn line(suspect: &Suspect, evidence_of: Option<&str>) -> String {
    let share = suspect.explains.map_or_else(String::new, |share| {
        format!(", explains {} of an I/O's time", percent(share))
    });
    let against = if suspect.against.is_empty() {
        String::new()
    } else {
        format!(" Evidence against it: {}.", joined(&each(&suspect.against)))
    };
    format!(
        "{} ({}{share}): {}.{against} More: iotax doctor --explain {}",
        title(suspect.cause),
        confidence(suspect.confidence),
        joined(&speaks_for(suspect, evidence_of)),
        suspect.cause
    )
}

/// Its evidence. If several arms have the cause, the first text names the arm.
fn speaks_for(suspect: &Suspect, of: Option<&str>) -> Vec<String> {
    let mut texts = each(&suspect.evidence);
    if let (Some(first), Some(arm)) = (texts.first_mut(), of) {
        *first = format!("in {arm}, {first}");
    }
    texts
}

/// Joins several texts into one sentence, without a final period.
fn joined(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| text.trim_end_matches('.')).collect();
    texts.join("; ")
}

/// A cause that all arms share, as in [`suspect`].
pub fn alike(one: &Suspect) -> String {
    format!("the same in all arms, so it does not explain a difference: {}", suspect(one))
}

/// The first suspect, if the evidence is strong enough to name one.
pub fn leading(diagnosis: &Diagnosis) -> Option<String> {
    let first = diagnosis.suspects.first()?;
    (first.confidence > Confidence::Possible).then_some(())?;
    let evidence = joined(&[evidence(first.evidence.first()?)]);
    let (sure, title) = (confidence(first.confidence), title(first.cause));
    Some(printable(&format!("{sure} cause: {title} ({evidence}).")))
}

/// Why an arm is the slower one, in full.
pub fn whole_reason(reason: &Reason) -> String {
    let Reason { of, suspect, put_in: layers, evidence_of } = reason;
    let layers = layers.iter().map(|layers| format!("{}.", put_in(layers)));
    let suspect = suspect.iter().map(|suspect| line(suspect, evidence_of.as_deref()));
    format!("{of}: {}", layers.chain(suspect).collect::<Vec<_>>().join(" "))
}

/// The same in a sentence: `encrypted: the second luks (added by iotax) took 49 ms per I/O (between
/// loop1 and vda); sure cause: ...`
pub fn reason(reason: &Reason) -> String {
    let Reason { of, suspect, put_in: layers, evidence_of } = reason;
    let cause = suspect.as_ref().map(|suspect| {
        let first = speaks_for(suspect, evidence_of.as_deref()).into_iter().next();
        let first = first.filter(|_| layers.is_none());
        let first = first.map_or_else(String::new, |text| format!(" ({})", joined(&[text])));
        format!("{} cause: {}{first}", confidence(suspect.confidence), title(suspect.cause))
    });
    let layers = layers.iter().map(put_in);
    printable(&format!("{of}: {}.", layers.chain(cause).collect::<Vec<_>>().join("; ")))
}

#[cfg(test)]
mod tests {
    use iotax_diagnose::evidence::above::CryptEvidence;
    use iotax_diagnose::evidence::{NthLayer, PutIn};

    use super::*;

    #[test]
    fn an_added_layer_is_named_before_the_cause() {
        let suspect = Suspect {
            cause: "encrypted-twice",
            confidence: Confidence::Sure,
            explains: Some(0.93),
            evidence: vec![CryptEvidence::Layers { count: 2 }.into()],
            against: Vec::new(),
        };
        let put_in = PutIn {
            layers: vec![NthLayer { name: "luks", nth: Some(1) }],
            took_ns: 49e6,
            more_than: None,
            upper: "loop1".to_owned(),
            lower: "vda".to_owned(),
        };
        let both = Reason {
            of: "double".to_owned(),
            suspect: Some(suspect),
            put_in: Some(put_in),
            evidence_of: None,
        };
        insta::assert_snapshot!(reason(&both), @"double: the second luks (added by iotax) took 49.0 ms per I/O (between loop1 and vda); sure cause: Two layers on this machine encrypt the same data.");
        let alone = Reason { put_in: None, evidence_of: Some("one".to_owned()), ..both.clone() };
        insta::assert_snapshot!(reason(&alone), @"double: sure cause: Two layers on this machine encrypt the same data (in one, 2 layers encrypt).");
        insta::assert_snapshot!(reason(&Reason { suspect: None, ..both }), @"double: the second luks (added by iotax) took 49.0 ms per I/O (between loop1 and vda).");
    }
}
