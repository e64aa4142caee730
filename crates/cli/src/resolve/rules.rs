//! Rules that nothing could break or keep, because too little would be measured.

use std::collections::BTreeSet;

use clap::ValueEnum as _;
use iotax_analyze::fewest;
use iotax_caps::Caps;
use iotax_experiment::plan::Plan;
use iotax_experiment::rule::{Condition, UndecidedAs};
use iotax_experiment::units::format_duration;
use iotax_experiment::{Bound, Design, Draft, Rule, SearchDraft};
use iotax_record::{ExperimentHead, Reader, SearchHead, Trial};

use crate::args::{Format, GateArgs, Undecided};
use crate::exit::{Context as _, Result, usage};

/// Blocks to advise: the fewest of all decide only on a disk without any noise.
const ENOUGH: u32 = 10;

/// Refuses rules that no outcome of this run decides.
pub(super) fn refuse_undecidable(spec: &Draft) -> Result<()> {
    spec.fail_if.iter().try_for_each(|rule| refuse_with_few_blocks(spec, rule))
}

fn refuse_with_few_blocks(spec: &Draft, rule: &Rule) -> Result<()> {
    let needed = fewest(spec, rule);
    let is_run = spec.design == Design::Single;
    let (unit, option) = if is_run { ("trials", "-n") } else { ("blocks", "--max-blocks") };
    let most = spec.stop.max_blocks;
    if most < needed {
        return Err(usage(format!(
            "`{rule}` can never be decided with {option} {most}: it takes {needed} {unit} at \
             least, and more where trials vary; use {option} {ENOUGH}, or leave {option} out"
        )));
    }
    let Some(limit_ns) = spec.stop.max_time_ns.filter(|_| is_as_long_as_planned(spec)) else {
        return Ok(());
    };
    let block_ns = Plan::new(spec).block_ns(spec.arms.len());
    let shortest_ns = block_ns.saturating_mul(needed.into());
    if shortest_ns > limit_ns {
        let enough_ns = block_ns.saturating_mul(ENOUGH.into());
        return Err(usage(format!(
            "`{rule}` can never be decided within --max-time {}: it takes {needed} {unit} at \
             least, which is {} of load; use --max-time {} or shorter trials (--time)",
            format_duration(limit_ns),
            format_duration(shortest_ns),
            format_duration(whole_seconds(enough_ns))
        )));
    }
    Ok(())
}

/// Whether no job ends a trial before its time.
fn is_as_long_as_planned(spec: &Draft) -> bool {
    let mut jobs = spec.phases().flat_map(|phase| &phase.jobs);
    jobs.all(|job| job.bound == Bound::Time && !job.ends_all)
}

fn whole_seconds(ns: u64) -> u64 {
    const SECOND_NS: u64 = 1_000_000_000;
    ns.div_ceil(SECOND_NS).saturating_mul(SECOND_NS)
}

/// Refuses rules that these results cannot decide, since there are too few of an arm.
pub(super) fn refuse_undecided_by(spec: &Draft, trials: &[Trial]) -> Result<()> {
    spec.fail_if.iter().try_for_each(|rule| {
        let needed = fewest(spec, rule);
        let mut arms = arms_behind(spec, rule).into_iter();
        let few = arms.find_map(|arm| {
            let name = &spec.arms[arm].name;
            let own = trials.iter().filter(|trial| trial.arm == *name);
            let results = own.map(|trial| trial.block).collect::<BTreeSet<_>>().len();
            (results < needed as usize).then_some((name, results))
        });
        let Some((name, results)) = few else { return Ok(()) };
        let results =
            if results == 1 { "one result".to_owned() } else { format!("{results} results") };
        Err(usage(format!(
            "`{rule}` can never be decided with {results} of {name}: it takes {needed} of each arm \
             at least, and more where results vary; measure more often, and name all results of an \
             arm with commas between"
        )))
    })
}

/// The arms that a rule rests on.
fn arms_behind(spec: &Draft, rule: &Rule) -> BTreeSet<usize> {
    match rule.condition {
        Condition::SlowerBy(_) => {
            let pairs = spec.pairs().into_iter();
            pairs.filter(|[_, arm]| rule.is_about(&spec.arms[*arm].name)).flatten().collect()
        }
        Condition::Figure { .. } | Condition::BelowDocumented(_) => {
            (0..spec.arms.len()).filter(|arm| rule.is_about(&spec.arms[*arm].name)).collect()
        }
    }
}

// From rules to the exit code.

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
