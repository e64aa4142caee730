use iotax_diagnose::{Confidence, Diagnosis, Suspect};
use iotax_wording::cause::{self, cause};

use super::cause::dated;
use crate::document::{Document, Item, Point, Section};

/// What a measurement points to, target by target, the surest first.
pub(super) fn write(page: &mut Document, diagnoses: &[Diagnosis]) {
    if diagnoses.is_empty() {
        page.add_paragraph(cause::NO_KNOWN_CAUSE);
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
        facts.push(Point::new("explains", cause::explains(share)));
    }
    if let Some(known) = cause(suspect.cause) {
        facts.push(Point::new("test", &known.experiment));
        facts.push(Point::new("remedy", &known.remedy));
        facts.push(Point::new("source", dated(&known.sources)));
    }
    facts.push(Point::new("more", format!("iotax doctor --explain {}", suspect.cause)));
    facts
}
