//! Rules as annotations of a workflow of GitHub.

use iotax_experiment::rule::{RuleOutcome, UndecidedAs};

use iotax_wording::rule::Ruling;

/// A workflow command for each rule and what it was held against
/// (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions>). One that is
/// undecided is a warning, or an error if it counts as broken.
pub fn github<'a>(
    rulings: impl IntoIterator<Item = &'a Ruling>,
    undecided: Option<UndecidedAs>,
) -> String {
    rulings.into_iter().map(|ruling| annotation(ruling, undecided)).collect()
}

fn annotation(ruling: &Ruling, undecided: Option<UndecidedAs>) -> String {
    let level = match ruling.outcome {
        RuleOutcome::Pass => "notice",
        RuleOutcome::Undecided if undecided != Some(UndecidedAs::Fail) => "warning",
        RuleOutcome::Fail | RuleOutcome::Undecided => "error",
    };
    format!("::{level} title=iotax::{}\n", escaped(&ruling.sentence))
}

/// As the runner wants it: a line is one command, whatever it says.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
