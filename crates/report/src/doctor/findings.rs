use iotax_catalog::cause;
use iotax_diagnose::{Certainty, Finding};
use iotax_record::Machine;

use super::cause::dated;
use crate::page::Page;

/// How much is told of findings that are yet to be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// A name and a command each, so that what was seen does not drown in what could be.
    Folded,
    /// As much as of all others.
    Whole,
}

/// Each finding: what, where, how sure, and why; then what was seen, and what to do.
pub(super) fn write(page: &mut Page, machine: &Machine, findings: &[Finding], detail: Detail) {
    if findings.is_empty() {
        let seen = machine.paths.iter().any(|path| path.top.is_some());
        page.paragraph(match (seen, machine.paths.is_empty()) {
            (true, _) => "Nothing that is known to hurt was seen.",
            (false, false) => "Nothing could be looked at.",
            (false, true) => "It is not recorded what lay under the targets.",
        });
        return;
    }
    let is_folded =
        |finding: &&Finding| detail == Detail::Folded && finding.certainty == Certainty::ToBeTested;
    let (folded, whole): (Vec<_>, Vec<_>) = findings.iter().partition(is_folded);
    for finding in whole {
        write_whole(page, finding);
    }
    write_folded(page, &folded);
}

fn write_whole(page: &mut Page, finding: &Finding) {
    let known = cause(&finding.cause).ok();
    let title = known.map_or(finding.cause.as_str(), |cause| cause.title.as_str());
    let certainty = crate::words::capital(finding.certainty.name());
    let head = format!("{certainty}: {title} ({})", finding.about);
    match finding.certainty {
        Certainty::ToBeTested => page.title(&head),
        Certainty::Likely | Certainty::Seen => page.warning(&head),
    }
    page.indented(&finding.why);
    let seen: Vec<_> = finding.seen.iter().map(|seen| ("seen", seen.to_string())).collect();
    page.facts_below(&seen);
    page.commands_below("test", &finding.commands);
    let mut facts: Vec<(&str, String)> = Vec::new();
    if let Some(known) = known {
        // Of some paths no command can be run on what is there.
        if finding.commands.is_empty() {
            facts.push(("test", known.experiment.clone()));
        }
        facts.push(("remedy", known.remedy.clone()));
        facts.push(("source", dated(&known.sources)));
    }
    facts.push(("more", format!("iotax doctor --explain {}", finding.cause)));
    page.facts_below(&facts);
}

/// Name, place and first command of each; and how to see more of them.
fn write_folded(page: &mut Page, findings: &[&Finding]) {
    if findings.is_empty() {
        return;
    }
    page.title("To be tested: what could hurt here, and a command that shows whether it does");
    let widest = findings.iter().map(|finding| finding.cause.len()).max().unwrap_or_default();
    for finding in findings {
        let Finding { cause, about, commands, .. } = finding;
        page.item(&format!("{cause:widest$}  {about}"), commands.first().map(String::as_str));
    }
    page.facts(&[
        ("all in full".to_owned(), "the same command with --all".to_owned()),
        ("one cause".to_owned(), "iotax doctor --explain NAME".to_owned()),
    ]);
}
