use iotax_analyze::Analysis;
use iotax_catalog::cause;
use iotax_diagnose::{Confidence, Diagnosis, Reason, Reasons, Suspect, of_arms, reasons};
use iotax_record::ExperimentHead;

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
                title(&suspect.cause),
                suspect.confidence.name()
            );
            let is_alarming = suspect.confidence > Confidence::Possible;
            page.add(Section { is_alarming, ..Section::new(head, [Item::Facts(facts(suspect))]) });
        }
    }
}

fn facts(suspect: &Suspect) -> Vec<Point> {
    let mut facts: Vec<Point> = Vec::new();
    facts.extend(suspect.evidence.iter().map(|text| Point::new("for", text)));
    facts.extend(suspect.against.iter().map(|text| Point::new("against", text)));
    if let Some(share) = suspect.explains {
        let share = format!("{} of the time of an I/O", format::percent(share));
        facts.push(Point::new("explains", share));
    }
    if let Ok(known) = cause(&suspect.cause) {
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
        let reason = move |suspect| Reason { of: of.clone(), suspect: Some(suspect), put_in: None };
        suspects.into_iter().map(reason).collect::<Vec<_>>()
    };
    let others: Vec<Reason> = others.into_iter().flat_map(of_arm).collect();
    let own = |reason: &Reason| {
        let put_in = reason.put_in.iter().map(|put_in| words::sentence(put_in));
        let said: Vec<String> = put_in.chain(reason.suspect.as_ref().map(line)).collect();
        format!("{}: {}", reason.of, said.join(" "))
    };
    let of_all = |suspect: &Suspect| {
        format!("all arms alike, so it explains no difference: {}", line(suspect))
    };
    let single = [merged(apart, analysis), merged(others, analysis)].concat();
    single.iter().map(own).chain(alike.iter().map(of_all)).collect()
}

/// Arms that have a cause in common as one; the evidence is that of the arm in which it explains most.
pub(crate) fn merged(reasons: Vec<Reason>, analysis: &Analysis) -> Vec<Reason> {
    let key = |reason: &Reason| {
        let suspect = reason.suspect.as_ref();
        (suspect.map(|suspect| (suspect.cause.clone(), suspect.confidence)), reason.put_in.clone())
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
    let names: Vec<&str> = group.iter().map(|reason| reason.of.as_str()).collect();
    let of = iotax_wording::arms::label(&names, analysis);
    let explains = |reason: &Reason| reason.suspect.as_ref().and_then(|known| known.explains);
    let is_several = group.len() > 1;
    let most = group
        .into_iter()
        .reduce(|most, other| if explains(&other) > explains(&most) { other } else { most });
    let Reason { of: arm, mut suspect, put_in } = most.expect("a group has a member");
    if is_several && let Some(first) = suspect.as_mut().and_then(|s| s.evidence.first_mut()) {
        *first = format!("in {arm}, {first}");
    }
    Reason { of, suspect, put_in }
}

/// Every suspect in a line or two, for the list of causes in a report of several formats.
pub(crate) fn lines(diagnoses: &[Diagnosis], targets: usize) -> Vec<String> {
    let of_one = |diagnosis: &Diagnosis| -> Vec<String> {
        let of = if targets > 1 { format!("{}: ", diagnosis.of) } else { String::new() };
        diagnosis.suspects.iter().map(|suspect| of.clone() + &line(suspect)).collect()
    };
    diagnoses.iter().flat_map(of_one).collect()
}

fn line(suspect: &Suspect) -> String {
    let Suspect { cause, confidence, explains, evidence, against } = suspect;
    let share = explains.map_or_else(String::new, |share| {
        format!(", explains {} of an I/O's time", format::percent(share))
    });
    let mut line = format!("{} ({}{share}): {}.", title(cause), confidence.name(), plain(evidence));
    if !against.is_empty() {
        line.push_str(&format!(" Against it: {}.", plain(against)));
    }
    line.push_str(&format!(" iotax doctor --explain {cause}"));
    line
}

/// Several things in one sentence, whose end the sentence has.
fn plain(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| text.trim_end_matches('.')).collect();
    texts.join("; ")
}

/// The first suspect in a sentence, if there is reason enough to name one.
pub(crate) fn sentence(diagnosis: &Diagnosis) -> Option<String> {
    let first = diagnosis.suspects.first()?;
    (first.confidence > Confidence::Possible).then_some(())?;
    let evidence = first.evidence.first()?.trim_end_matches('.');
    let (confidence, title) = (first.confidence.name(), title(&first.cause));
    Some(words::printable(&format!("{confidence} cause: {title} ({evidence}).")))
}

/// Why an arm is the slower one, in a sentence: `encrypted: the second luks, which iotax put in: 49 ms
/// of its device's time per I/O (loop1 above vda); sure cause: ...`
pub(crate) fn reason(reason: &Reason) -> String {
    let Reason { of, suspect, put_in } = reason;
    let cause = suspect.as_ref().map(|suspect| {
        let (confidence, title) = (suspect.confidence.name(), title(&suspect.cause));
        let evidence = suspect.evidence.first().filter(|_| put_in.is_none());
        let evidence = evidence.map(|evidence| format!(" ({})", evidence.trim_end_matches('.')));
        format!("{confidence} cause: {title}{}", evidence.unwrap_or_default())
    });
    let said: Vec<String> = put_in.clone().into_iter().chain(cause).collect();
    words::printable(&format!("{of}: {}.", said.join("; ")))
}

fn title(id: &str) -> &str {
    cause(id).map_or(id, |cause| cause.title.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_that_was_put_in_is_named_before_the_cause() {
        let suspect = Suspect {
            cause: "encrypted-twice".to_owned(),
            confidence: Confidence::Sure,
            explains: Some(0.93),
            evidence: vec!["93 % passed in between".to_owned()],
            against: Vec::new(),
        };
        let put_in = "the second luks, which iotax put in: 49 ms of its device's time per I/O";
        let both = Reason {
            of: "double".to_owned(),
            suspect: Some(suspect),
            put_in: Some(put_in.to_owned()),
        };
        insta::assert_snapshot!(reason(&both), @"double: the second luks, which iotax put in: 49 ms of its device's time per I/O; sure cause: Two layers of this machine encrypt the same data.");
        insta::assert_snapshot!(reason(&Reason { put_in: None, ..both.clone() }), @"double: sure cause: Two layers of this machine encrypt the same data (93 % passed in between).");
        insta::assert_snapshot!(reason(&Reason { suspect: None, ..both }), @"double: the second luks, which iotax put in: 49 ms of its device's time per I/O.");
    }
}
