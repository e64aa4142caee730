use iotax_diagnose::{Certainty, Finding, LayerCoverage};
use iotax_record::Machine;
use iotax_wording::cause::{self, cause};

use super::cause::dated;
use crate::document::{Document, Item, Point, Section};

/// How much is told of findings that are yet to be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// A name and a command each, so that what was seen does not drown in what could be.
    Folded,
    /// As much as of all others.
    Whole,
}

/// Each finding: what, where, how sure, and why; then what was seen, and what to do.
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

/// The same where there are some.
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
        // Of some paths no command can be run on what is there.
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

/// Name, place and first command of each; and how to see more of them.
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
        ("all in full", cause::ALL_IN_FULL.to_owned()),
        ("one cause", "iotax doctor --explain NAME".to_owned()),
    ]);
}
