//! From rules to the exit code.

mod decidable;

use anyhow::{Context as _, Error, Result};
use clap::ValueEnum as _;
use iotax_experiment::rule::RuleOutcome;
use iotax_experiment::{Rule, Search, Spec};
use iotax_report::{Part, Ruling, rulings};

use crate::args::{Color, Format, GateArgs, Undecided};
use crate::exit::{Exit, Usage};
use crate::output::Printing;

pub(crate) use decidable::{refuse_undecidable, refuse_undecided_by};

const OPTION: &str = "option --fail-if";

/// The rules asked for, in the place of those that `spec` has.
///
/// # Errors
/// A rule that is none, or about nothing there is; a `format` that tells of rules, without any.
pub(crate) fn set(spec: &mut Spec, args: &GateArgs, format: Format) -> Result<()> {
    if !args.fail_if.is_empty() {
        spec.fail_if = asked(args)?;
        spec.validate_rules().context(OPTION)?;
    }
    refuse_without_rules(format, &spec.fail_if)
}

/// The same of a search for caps.
pub(crate) fn set_in_search(search: &mut Search, args: &GateArgs, format: Format) -> Result<()> {
    if !args.fail_if.is_empty() {
        search.fail_if = asked(args)?;
        search.validate_rules().context(OPTION)?;
    }
    refuse_without_rules(format, &search.fail_if)
}

fn asked(args: &GateArgs) -> Result<Vec<Rule>> {
    let rules = args.fail_if.iter().map(|text| Rule::parse(text));
    rules.collect::<Result<_, _>>().context(OPTION)
}

fn refuse_without_rules(format: Format, rules: &[Rule]) -> Result<()> {
    match format {
        Format::Junit | Format::Github if rules.is_empty() => Err(no_rules(format)),
        _ => Ok(()),
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

    fn is_broken(&self, ruling: &Ruling) -> bool {
        match ruling.outcome {
            RuleOutcome::Fail => true,
            RuleOutcome::Pass => false,
            RuleOutcome::Undecided => self.undecided == Undecided::Fail,
        }
    }
}

/// [`Exit::GateFailed`] if a rule is broken, which those who get no text are told on stderr.
pub(crate) fn judged(exit: Exit, parts: &[Part], args: &GateArgs, format: Format) -> Exit {
    let all: Vec<Ruling> = parts.iter().flat_map(|(_, analysis)| rulings(analysis)).collect();
    ruled(exit, &all, args, format)
}

/// The same of rules that were held against anything.
pub(crate) fn ruled(exit: Exit, rulings: &[Ruling], args: &GateArgs, format: Format) -> Exit {
    if exit != Exit::Done {
        return exit;
    }
    let broken: Vec<_> = rulings.iter().filter(|ruling| args.is_broken(ruling)).collect();
    if format != Format::Text {
        for ruling in &broken {
            eprintln!("{}", ruling.sentence);
        }
    }
    if !broken.is_empty() {
        return Exit::GateFailed;
    }
    warn_of_undecided(rulings);
    exit
}

/// That an exit code of 0 does not mean that all rules are kept.
fn warn_of_undecided(rulings: &[Ruling]) {
    let undecided = || rulings.iter().filter(|r| r.outcome == RuleOutcome::Undecided);
    let count = undecided().count();
    if count == 0 {
        return;
    }
    for ruling in undecided() {
        eprintln!("{}", ruling.sentence);
    }
    let are = if count == 1 { "rule is" } else { "rules are" };
    eprintln!(
        "warning: {count} {are} undecided, neither broken nor kept: exit code 0 does not mean \
         that nothing got slower. --undecided fail makes it 1."
    );
}
