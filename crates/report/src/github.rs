//! Rules as annotations of a workflow of GitHub.

use iotax_analyze::{Judgment, RuleOutcome};

use crate::experiment::Part;
use crate::rules;

/// A workflow command for each rule and arm
/// (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions>). One that is
/// undecided is a warning, or an error if `undecided_fails`.
pub fn github(parts: &[Part], undecided_fails: bool) -> String {
    let rules = parts.iter().flat_map(|(_, analysis)| &analysis.rules);
    rules.map(|judgment| annotation(judgment, undecided_fails)).collect()
}

fn annotation(judgment: &Judgment, undecided_fails: bool) -> String {
    let level = match judgment.outcome {
        RuleOutcome::Pass => "notice",
        RuleOutcome::Undecided if !undecided_fails => "warning",
        RuleOutcome::Fail | RuleOutcome::Undecided => "error",
    };
    format!("::{level} title=iotax::{}\n", escaped(&rules::sentence(judgment)))
}

/// As the runner wants it: a line is one command, whatever it says.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
