use iotax_diagnose::{Certainty, Confidence, Diagnosis, Finding, LayerCoverage, Suspect};
use iotax_record::Machine;
use iotax_wording::cause::{self, Cause, CauseSource, EXPLAIN_ONE, cause, causes};

use crate::document::{Document, Item, Point, Section};
use crate::json::text::json_text;

/// How much to show of findings that are to be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// A name and a command each, so that they do not hide the confirmed findings.
    Folded,
    /// As much as for all others.
    Whole,
}

/// Writes each finding: what, where, how certain, why, the evidence, and what to do.
pub(super) fn write(
    page: &mut Document,
    machine: &Machine,
    coverage: &[LayerCoverage],
    findings: &[Finding],
    detail: Detail,
) {
    if findings.is_empty() {
        page.add_paragraph(cause::nothing_found(machine, coverage));
    } else {
        write_found(page, &cause::in_order(findings), detail);
    }
    page.add_list("Not checked", cause::not_checked(coverage));
}

/// Writes findings, of which there is at least one.
pub(super) fn write_found(page: &mut Document, findings: &[&Finding], detail: Detail) {
    let is_folded = |finding: &&&Finding| {
        detail == Detail::Folded && finding.certainty == Certainty::ToBeTested
    };
    let (folded, whole): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(is_folded);
    for finding in whole {
        page.add(whole_section(finding));
    }
    write_folded(page, &folded);
}

fn whole_section(finding: &Finding) -> Section {
    let known = cause(finding.cause);
    let title = cause::title(finding.cause);
    let certainty = iotax_quantity::capital(cause::certainty(finding.certainty));
    let mut facts: Vec<Point> = Vec::new();
    facts.extend(finding.seen.iter().map(|seen| Point::new("seen", cause::seen(seen))));
    facts.extend(finding.commands.iter().map(|command| Point::command("test", command)));
    if let Some(known) = known {
        // For some paths, no command can test what is there.
        if finding.commands.is_empty() {
            facts.push(Point::new("test", &known.experiment));
        }
        facts.push(Point::new("remedy", &known.remedy));
        facts.push(Point::new("source", dated(&known.sources)));
    }
    facts.push(Point::new("more", format!("iotax doctor --explain {}", finding.cause)));
    let heading = format!("{certainty}: {title} ({})", cause::components(&finding.about));
    let items = [Item::Paragraph(cause::why(finding)), Item::Facts(facts)];
    Section {
        is_alarming: finding.certainty != Certainty::ToBeTested,
        ..Section::new(heading, items)
    }
}

/// Writes name, place and first command of each, and how to see more.
fn write_folded(page: &mut Document, findings: &[&Finding]) {
    if findings.is_empty() {
        return;
    }
    let point = |Finding { cause, about, commands, .. }: &&Finding| Point {
        name: (*cause).to_owned(),
        text: cause::components(about),
        command: commands.first().cloned().unwrap_or_default(),
    };
    let heading = cause::TO_BE_TESTED;
    page.add(Section::new(heading, [Item::List(findings.iter().map(point).collect())]));
    page.add_facts([
        ("full details", cause::ALL_IN_FULL.to_owned()),
        ("one cause", "iotax doctor --explain NAME".to_owned()),
    ]);
}

/// Writes the causes that a measurement points to, by target and confidence.
pub(super) fn write_diagnoses(page: &mut Document, diagnoses: &[Diagnosis]) {
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

/// Explains a known cause.
pub fn explained(cause: &Cause) -> Document {
    let Cause { id, number, title, mechanism, detection, experiment, remedy, magnitude, sources } =
        cause;
    let parts = [
        ("mechanism", mechanism),
        ("detection", detection),
        ("experiment", experiment),
        ("remedy", remedy),
        ("magnitude", magnitude),
        ("name", id),
    ];
    let source =
        |source: &CauseSource| format!("{}, {}: {}", source.title, source.date, source.place);
    let sources = sources.iter().map(source).collect();
    let mut page = Document::default();
    page.add(Section::new(format!("{number} {title}"), []));
    page.add_facts(parts.map(|(name, text)| (name, text.clone())));
    page.add(Section::new("Sources", [Item::Sources(sources)]));
    page
}

/// Lists all known causes, one per line.
pub fn known_causes() -> Document {
    let mut page = Document::default();
    page.add(Section::new("Known causes of slow I/O", []));
    let line = |cause: &Cause| (cause.id.clone(), cause.title.clone());
    page.add_facts(causes().iter().map(line));
    page.add_paragraph(EXPLAIN_ONE);
    page
}

/// One cause, or all, as JSON.
pub fn cause_json(causes: &[&Cause]) -> String {
    let document = serde_json::json!({ "causes": causes });
    json_text(&document)
}

/// `Cloudflare, Speeding up Linux disk encryption (2020-03-25); 2 more`.
fn dated(sources: &[CauseSource]) -> String {
    let Some((first, others)) = sources.split_first() else { return String::new() };
    let more = if others.is_empty() { String::new() } else { format!("; {} more", others.len()) };
    format!("{} ({}){more}", first.title, first.date)
}
