//! Reads rules, and refuses those that could never be decided because too little is measured.

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

/// Blocks to recommend: the minimum decides only on a disk without noise.
const ENOUGH: u32 = 10;

/// Refuses rules that this run cannot decide.
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
            "`{rule}` can never be decided with {option} {most}: it needs at least {needed} \
             {unit}, and more if trials vary; use {option} {ENOUGH}, or leave {option} out"
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
            "`{rule}` can never be decided within --max-time {}: it needs at least {needed} \
             {unit}, which take {}; use --max-time {} or shorter trials (--time)",
            format_duration(limit_ns),
            format_duration(shortest_ns),
            format_duration(whole_seconds(enough_ns))
        )));
    }
    Ok(())
}

/// Whether every trial lasts for its planned time.
fn is_as_long_as_planned(spec: &Draft) -> bool {
    let mut jobs = spec.phases().flat_map(|phase| &phase.jobs);
    jobs.all(|job| job.bound == Bound::Time && !job.ends_all)
}

fn whole_seconds(ns: u64) -> u64 {
    const SECOND_NS: u64 = 1_000_000_000;
    ns.div_ceil(SECOND_NS).saturating_mul(SECOND_NS)
}

/// Refuses rules that these results cannot decide because an arm has too few.
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
            "`{rule}` can never be decided with {results} of {name}: it needs at least {needed} of \
             each arm, and more if results vary; measure more often, and list all results of an \
             arm, separated by commas"
        )))
    })
}

/// The arms that a rule depends on.
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

/// Replaces the rules of `spec` by those of the options, if there are any.
///
/// # Errors
/// If a rule cannot be read or applies to nothing, or if `format` needs rules and there are none.
pub(super) fn set(spec: &mut Draft, args: &GateArgs, format: Format) -> Result<()> {
    if !args.fail_if.is_empty() {
        spec.fail_if = parsed(args)?;
        spec.validate_rules().context(OPTION)?;
    }
    spec.undecided = undecided_as(args).or(spec.undecided);
    refuse_without_rules(args, format, &spec.fail_if)
}

/// Applies the rules of the options to a record.
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

/// Judges a recorded search for caps by the rules of the options.
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

/// Like [`set`], for a search for caps.
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
        return Err(usage("--undecided needs a rule; add --fail-if"));
    }
    if !rules.is_empty() || !matches!(format, Format::Junit | Format::Github) {
        return Ok(());
    }
    let name = format.to_possible_value().map_or_else(String::new, |value| value.get_name().into());
    Err(usage(format!(
        "--format {name} shows the outcome of rules, but there are none; add --fail-if"
    )))
}
