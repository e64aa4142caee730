//! From rules to the exit code.

use clap::ValueEnum as _;
use iotax_caps::Caps;
use iotax_experiment::rule::UndecidedAs;
use iotax_experiment::{Draft, Rule, SearchDraft};
use iotax_record::{ExperimentHead, Reader, SearchHead};

use crate::args::{Format, GateArgs, Undecided};
use crate::exit::{Context as _, Result, usage};

const OPTION: &str = "option --fail-if";

/// The rules asked for, in the place of those that `spec` has.
///
/// # Errors
/// A rule that is none, or about nothing there is; a `format` that tells of rules, without any.
pub(super) fn set(spec: &mut Draft, args: &GateArgs, format: Format) -> Result<()> {
    if !args.fail_if.is_empty() {
        spec.fail_if = parsed(args)?;
        spec.validate_rules().context(OPTION)?;
    }
    spec.undecided = undecided_as(args).or(spec.undecided);
    refuse_without_rules(args, format, &spec.fail_if)
}

/// A record, with the rules that are asked for now.
///
/// # Errors
/// As for an experiment.
pub(crate) fn of_record(
    mut reader: Reader<ExperimentHead>,
    args: &GateArgs,
    format: Format,
) -> Result<Reader<ExperimentHead>> {
    reader.head.spec = reader.head.spec.try_with(|spec| set(spec, args, format))?;
    Ok(reader)
}

/// A search for caps that was made, held against the rules that are asked for now.
///
/// # Errors
/// As for an experiment.
pub(crate) fn of_caps(
    mut head: SearchHead,
    mut caps: Caps,
    args: &GateArgs,
    format: Format,
) -> Result<(SearchHead, Caps)> {
    head.search = head.search.try_with(|search| set_in_search(search, args, format))?;
    caps.rules = iotax_caps::judge(&head.search.fail_if, &caps);
    Ok((head, caps))
}

/// The same of a search for caps.
pub(super) fn set_in_search(
    search: &mut SearchDraft,
    args: &GateArgs,
    format: Format,
) -> Result<()> {
    if !args.fail_if.is_empty() {
        search.fail_if = parsed(args)?;
        search.validate_rules().context(OPTION)?;
    }
    search.undecided = undecided_as(args).or(search.undecided);
    refuse_without_rules(args, format, &search.fail_if)
}

fn undecided_as(args: &GateArgs) -> Option<UndecidedAs> {
    args.undecided.map(|undecided| match undecided {
        Undecided::Pass => UndecidedAs::Pass,
        Undecided::Fail => UndecidedAs::Fail,
    })
}

fn parsed(args: &GateArgs) -> Result<Vec<Rule>> {
    let rules = args.fail_if.iter().map(|text| Rule::parse(text));
    rules.collect::<Result<_, _>>().context(OPTION)
}

/// `--undecided` and a format that shows the outcome of rules require some.
fn refuse_without_rules(args: &GateArgs, format: Format, rules: &[Rule]) -> Result<()> {
    if rules.is_empty() && args.undecided.is_some() {
        return Err(usage("--undecided is about rules, and there are none: add --fail-if"));
    }
    if !rules.is_empty() || !matches!(format, Format::Junit | Format::Github) {
        return Ok(());
    }
    let name = format.to_possible_value().map_or_else(String::new, |value| value.get_name().into());
    Err(usage(format!(
        "--format {name} tells what became of rules, and there are none: add --fail-if"
    )))
}
