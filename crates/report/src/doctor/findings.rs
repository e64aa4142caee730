use iotax_analyze::doctor::{Certainty, Finding};
use iotax_catalog::cause;
use iotax_record::Machine;

use super::cause::dated;
use crate::page::Page;

/// Each finding: what, where, how sure, and why; then what was seen, and what to do.
pub(super) fn write(page: &mut Page, machine: &Machine, findings: &[Finding]) {
    if findings.is_empty() {
        let seen = machine.paths.iter().any(|path| path.top.is_some());
        page.paragraph(match (seen, machine.paths.is_empty()) {
            (true, _) => "Nothing that is known to hurt was seen.",
            (false, false) => "Nothing could be looked at.",
            (false, true) => "It is not recorded what lay under the targets.",
        });
        return;
    }
    for finding in findings {
        let known = cause(&finding.cause).ok();
        let title = known.map_or(finding.cause.as_str(), |cause| cause.title.as_str());
        let head = format!(
            "{}: {title} ({})",
            crate::words::capital(finding.certainty.name()),
            finding.about
        );
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
            facts.push(("remedy", known.remedy.clone()));
            facts.push(("source", dated(&known.sources)));
        }
        facts.push(("more", format!("iotax doctor --explain {}", finding.cause)));
        page.facts_below(&facts);
    }
}
