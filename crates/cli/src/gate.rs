//! From rules to the exit code.

use anyhow::{Context as _, Error, Result};
use clap::ValueEnum as _;
use iotax_analyze::Judgment;
use iotax_report::{Part, rule_sentence};
use iotax_spec::{Rule, Spec};

use crate::args::{Color, Format, GateArgs, Undecided};
use crate::exit::{Exit, Usage};
use crate::output::Printing;

/// The rules asked for, in the place of those that `spec` has.
///
/// # Errors
/// A rule that is none, or about nothing there is; a `format` that tells of rules, without any.
pub(crate) fn set(spec: &mut Spec, args: &GateArgs, format: Format) -> Result<()> {
    if !args.fail_if.is_empty() {
        let rules = args.fail_if.iter().map(|text| Rule::parse(text));
        spec.fail_if = rules.collect::<Result<_, _>>().context("option --fail-if")?;
        spec.validate_rules().context("option --fail-if")?;
    }
    match format {
        Format::Junit | Format::Github if spec.fail_if.is_empty() => Err(no_rules(format)),
        _ => Ok(()),
    }
}

/// Refuses a format that a search for caps has nothing for.
pub(crate) fn refuse_in_search(format: Format) -> Result<()> {
    match format {
        Format::Junit | Format::Github => {
            let problem =
                "junit and github tell what became of rules, and a search for caps has none";
            Err(Usage(problem.to_owned()).into())
        }
        Format::Text | Format::Json | Format::Markdown | Format::Csv => Ok(()),
    }
}

/// A format that tells of rules where there are none.
fn no_rules(format: Format) -> Error {
    let name = format.to_possible_value().map_or_else(String::new, |value| value.get_name().into());
    let problem =
        format!("--format {name} tells what became of rules, and there are none: add --fail-if");
    Usage(problem).into()
}

impl GateArgs {
    /// How results are printed.
    pub(crate) const fn printing(&self, format: Format, color: Color) -> Printing {
        Printing { format, color, undecided: self.undecided }
    }

    fn is_broken(&self, judgment: &Judgment) -> bool {
        judgment.is_fail() || judgment.is_undecided() && self.undecided == Undecided::Fail
    }
}

/// [`Exit::GateFailed`] if a rule is broken, which those who get no text are told on stderr.
pub(crate) fn judged(exit: Exit, parts: &[Part], args: &GateArgs, format: Format) -> Exit {
    if exit != Exit::Done {
        return exit;
    }
    let all = parts.iter().flat_map(|(_, analysis)| &analysis.rules);
    let broken: Vec<_> = all.filter(|judgment| args.is_broken(judgment)).collect();
    if format != Format::Text {
        for judgment in &broken {
            eprintln!("{}", rule_sentence(judgment));
        }
    }
    if broken.is_empty() { exit } else { Exit::GateFailed }
}
