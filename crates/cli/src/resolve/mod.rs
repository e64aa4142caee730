//! Turns arguments into a complete experiment, which then cannot change.

mod arms;
pub(crate) mod check;
pub(crate) mod documented;
mod fit;
mod limits;
pub(crate) mod results;
pub(crate) mod rules;
pub(crate) mod same_storage;
pub(crate) mod workload;

use std::path::Path;

use iotax_dialects::fio::{self, Beyond};
use iotax_experiment::units::{parse_duration, parse_share};
use iotax_experiment::{
    Arm, Changes, Design, Draft, Driver, Factor, Form, LayerInfo, Search, SideRuns, Spec, Stack,
    Stop, StopMode, Subsets, Target, WholeTrials, Workload, command_of_arm,
};
use jiff::Timestamp;

use self::arms::Written;
#[cfg(feature = "kubernetes")]
pub(crate) use self::limits::kube_limits;
pub(crate) use self::limits::{limits, refuse_small};
use self::results::SavedResults;
pub(crate) use self::results::report;
use self::workload::Load;
use crate::args::{
    CapArgs, CertaintyArgs, CompareArgs, HostCommandArgs, LoadArgs, MeasureArgs, PeelArgs, RunArgs,
};
use crate::exit::{Context as _, Result, read_argument, usage};

/// The default stacks of `iotax peel`: double encryption, by the kernel or by iotax.
const IN_KERNEL: &str = "file(size=1G) + luks + luks";
const IN_PROCESS: &str = "file(size=1G) + aes + aes";
/// The default suite of `iotax peel` for network paths.
const NETWORK_SUITE: &str = "network";
/// Size of test files for a directory or device whose size is not known yet.
const UNKNOWN_STACK_BYTES: u64 = 1 << 30;
/// With this limit, the default peel ends within two minutes, including the time to write its file.
/// It does not apply if the user asks for more certainty.
const DEFAULT_PEEL_TIME_NS: u64 = 95_000_000_000;
/// Likewise, the peel of a network path ends within four minutes.
const NETWORK_PEEL_TIME_NS: u64 = 220_000_000_000;

/// Times of its trials if flows reach full speed at once: many short trials then show more than few
/// long ones.
const IMMEDIATE_RAMP_NS: u64 = 300_000_000;
const IMMEDIATE_TIME_NS: u64 = 800_000_000;

/// A complete experiment.
pub(crate) struct Resolved {
    spec: Spec,
    question: Question,
    /// Advice for test files that do not fit.
    advice: Option<String>,
    /// Warning if jobs for several targets have only one.
    one_target: Option<String>,
    /// Why arms do not alternate in slices, if they do not.
    whole_trials: Option<WholeTrials>,
}

/// The question that the experiment answers.
pub(crate) enum Question {
    /// How fast the arms are, and how they differ.
    Trials,
    /// The caps of the targets.
    Caps(Box<Search>),
}

/// What a comparison compares.
pub(crate) enum Comparison {
    Targets(Box<Resolved>),
    Saved(Box<SavedResults>),
}

impl Resolved {
    fn of_caps(search: Search) -> Self {
        let (spec, question) = (search.spec(), Question::Caps(Box::new(search)));
        Self { spec, question, advice: None, one_target: None, whole_trials: None }
    }

    /// The experiment; for a search for caps, the one that its targets are set up for.
    pub(crate) const fn spec(&self) -> &Spec {
        &self.spec
    }

    pub(crate) const fn question(&self) -> &Question {
        &self.question
    }

    /// Why trials are not slices, if they are whole.
    pub(crate) const fn whole_trials(&self) -> Option<&WholeTrials> {
        self.whole_trials.as_ref()
    }

    pub(crate) fn one_target(&self) -> Option<&str> {
        self.one_target.as_deref()
    }

    /// Appends the advice to an error that is due to lack of space.
    pub(crate) fn advised<T>(&self, result: Result<T>) -> Result<T> {
        fit::advised(result, self.advice.as_deref())
    }
}

/// The spec of `iotax peel`.
pub(crate) fn peel(args: &PeelArgs) -> Result<Resolved> {
    let text = match &args.stack {
        Some(text) => text,
        None => default_stack(args.measure.output.quiet)?,
    };
    let Target::Stack(stack) = Target::parse(text)? else {
        return Err(usage(format!(
            "`{text}` is a path, but peel needs a stack of layers; specify one, as in \
             'file(path={text}, size=1G) + aes'"
        )));
    };
    let mut load = if let Some(text) = &args.workload {
        Load::read_with(text, &args.measure.load.recording)?
    } else {
        workload::refuse_for_others(&args.measure.load.recording, "the default workload")?;
        if stack.form().is_network() {
            Load::read(NETWORK_SUITE)?
        } else {
            peel_search(&stack).into()
        }
    };
    let mut changes = changes(&args.measure.load)?;
    let chosen = changes.ramp_ns.or(changes.time_ns).is_some();
    if args.workload.is_none() && changes.scale.is_none() && stack.is_immediate_path() {
        changes.ramp_ns = changes.ramp_ns.or(Some(IMMEDIATE_RAMP_NS));
        changes.time_ns = changes.time_ns.or(Some(IMMEDIATE_TIME_NS));
    }
    changes.apply_to(&mut load.phases)?;
    if !chosen {
        load.phases = load.phases.into_iter().map(Workload::in_slices).collect();
    }
    let mut stop = stop(&args.measure.certainty, Stop::default())?;
    let CertaintyArgs { tight, max_blocks, max_time, .. } = &args.measure.certainty;
    let asks_for_more = *tight || max_blocks.is_some() || max_time.is_some();
    let asks_for_more = asks_for_more || args.measure.hold.hold.is_some();
    if !asks_for_more && args.workload.is_none() {
        stop.max_time_ns = match &args.stack {
            None => Some(DEFAULT_PEEL_TIME_NS),
            Some(_) if stack.form().is_network() => Some(NETWORK_PEEL_TIME_NS),
            Some(_) => stop.max_time_ns,
        };
    }
    let seed = seed(args.measure.load.seed);
    let draft = load.into_draft(|phases| {
        Ok(Draft { stop, seed, ..Draft::peel(phases, &stack, Subsets::Auto)? })
    })?;
    let mut draft = with_caps(draft, &args.measure)?;
    rules::set(&mut draft, &args.measure.gate, args.measure.output.format)?;
    finish(draft, &args.measure.load, Path::new("."))
}

/// What this machine can encrypt with. Unless `quiet`, says which that is.
fn default_stack(quiet: bool) -> Result<&'static str> {
    let missing = iotax_rig::availability(LayerInfo::named("luks")?);
    let (stack, why) = if missing.is_empty() {
        (IN_KERNEL, "encrypts with the kernel's LUKS (dm-crypt)".to_owned())
    } else {
        let missing: Vec<&str> = missing.iter().map(|missing| missing.what.as_str()).collect();
        let why = "encrypts in iotax's own process; the kernel's LUKS is not available here";
        (IN_PROCESS, format!("{why} ({})", missing.join("; ")))
    };
    if !quiet {
        eprintln!("note: `{stack}` {why}");
    }
    Ok(stack)
}

/// The experiment of `iotax compare`.
pub(crate) fn compare(args: &CompareArgs) -> Result<Comparison> {
    if is_experiment_file(args) {
        return Ok(Comparison::Targets(compare_placed(args, Ok)?.into()));
    }
    let factors = arms::factors(&args.matrix.factors)?;
    let written = Written::read(args, &factors)?;
    match results::compare(&written, args)? {
        Some(saved) => Ok(Comparison::Saved(saved.into())),
        None => Ok(Comparison::Targets(targets(written, factors, args, Ok)?.into())),
    }
}

/// Like [`compare`], for targets only; `place` replaces the targets of arms before they are
/// examined.
pub(crate) fn compare_placed(
    args: &CompareArgs,
    place: impl FnOnce(Draft) -> Result<Draft>,
) -> Result<Resolved> {
    if let (true, [file]) = (is_experiment_file(args), args.arms.as_slice()) {
        refuse_pairs(args)?;
        return experiment_file(Path::new(file), args, place);
    }
    let factors = arms::factors(&args.matrix.factors)?;
    targets(Written::read(args, &factors)?, factors, args, place)
}

fn is_experiment_file(args: &CompareArgs) -> bool {
    let is_toml = |file: &String| Path::new(file).extension().is_some_and(|end| end == "toml");
    matches!(args.arms.as_slice(), [file] if is_toml(file))
}

fn refuse_pairs(args: &CompareArgs) -> Result<()> {
    if args.pair.is_empty() {
        return Ok(());
    }
    Err(usage(
        "--pair is only for saved results; to compare targets, run iotax compare once for each \
         pair, so that the trials of a pair are interleaved",
    ))
}

fn targets(
    written: Written,
    factors: Vec<Factor>,
    args: &CompareArgs,
    place: impl FnOnce(Draft) -> Result<Draft>,
) -> Result<Resolved> {
    refuse_pairs(args)?;
    let text = args.workload.as_ref().ok_or_else(arms::no_workload)?;
    let mut load = Load::read_with(text, &args.measure.load.recording)?;
    changes(&args.measure.load)?.apply_to(&mut load.phases)?;
    let arms = written.targets(args, factors, &mut load)?;
    let stop = stop(&args.measure.certainty, Stop::default())?;
    let seed = seed(args.measure.load.seed);
    let mut draft =
        load.into_draft(|phases| Ok(Draft { stop, seed, ..Draft::compare(phases, arms)? }))?;
    set_host_commands(&mut draft, &args.host)?;
    let mut draft = with_caps(place(draft)?, &args.measure)?;
    rules::set(&mut draft, &args.measure.gate, args.measure.output.format)?;
    finish(draft, &args.measure.load, Path::new("."))
}

/// The spec of `iotax run`; `place` as in [`compare_placed`].
pub(crate) fn run(args: &RunArgs, place: impl FnOnce(Draft) -> Result<Draft>) -> Result<Resolved> {
    refuse_swapped(args)?;
    let mut load = Load::read_with(&args.workload, &args.load.recording)?;
    changes(&args.load)?.apply_to(&mut load.phases)?;
    let arm = Arm::new("target", Target::parse_all(args.targets.iter().map(String::as_str))?);
    let is_judged =
        !args.gate.fail_if.is_empty() || load.phases.iter().any(|phase| phase.requires.is_some());
    let stop = match args.trials {
        // Rules decide when there are enough trials.
        None if is_judged => Stop::default(),
        trials => {
            let trials = trials.unwrap_or(1);
            Stop { min_blocks: trials, max_blocks: trials, ..Stop::default() }
        }
    };
    let seed = seed(args.load.seed);
    let mut draft = place(load.into_draft(|phases| {
        Ok(Draft { stop, seed, ..Draft::new(phases, vec![arm], Design::Single) })
    })?)?;
    draft.side_runs.drain_ns = drain(&args.load)?;
    draft.side_runs.precondition = args.load.precondition;
    draft.cloud = documented::choice(&args.documented, draft.targets().count())?;
    rules::set(&mut draft, &args.gate, args.output.format)?;
    finish(draft, &args.load, Path::new("."))
}

/// Refuses a target before the workload.
fn refuse_swapped(args: &RunArgs) -> Result<()> {
    let RunArgs { workload, targets, .. } = args;
    match targets.as_slice() {
        [target] if !workload::is_workload(workload) && workload::is_workload(target) => {
            Err(usage(format!(
                "`{workload}` is not a workload; put the workload first: iotax run {target} \
                 {workload}"
            )))
        }
        _ => Ok(()),
    }
}

/// Reads an experiment file; options take precedence over it.
fn experiment_file(
    path: &Path,
    args: &CompareArgs,
    place: impl FnOnce(Draft) -> Result<Draft>,
) -> Result<Resolved> {
    if !args.matrix.factors.is_empty() {
        return Err(usage(
            "--matrix does not apply to an experiment file; specify the factors in its [matrix] \
             table"
                .to_owned(),
        ));
    }
    let text = read_argument(std::fs::read_to_string(path), || {
        format!("cannot read the experiment file {}", path.display())
    })?;
    let beside = workload::beside(path);
    let mut draft = Draft::from_toml(&path.display().to_string(), &text, &|elsewhere| {
        beside.phases(elsewhere)
    })?;
    match &args.workload {
        Some(text) => {
            let load = Load::read_with(text, &args.measure.load.recording)?;
            draft = load.into_draft(|phases| Ok(Draft { phases, ..draft }))?;
        }
        None => workload::refuse_for_others(
            &args.measure.load.recording,
            "the workload of the experiment file",
        )?,
    }
    changes(&args.measure.load)?.apply_to(&mut draft.phases)?;
    draft.stop = stop(&args.measure.certainty, draft.stop)?;
    if let Some(seed) = args.measure.load.seed {
        draft.seed = seed;
    }
    draft.validate()?;
    let mut draft = place(draft)?;
    // The parent of a bare file name is the empty path.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    run_in(&mut draft, parent)?;
    set_host_commands(&mut draft, &args.host)?;
    rules::set(&mut draft, &args.measure.gate, args.measure.output.format)?;
    draft.side_runs = side_runs(draft.side_runs, &args.measure)?;
    draft.hold_ns = hold(&args.measure)?.or(draft.hold_ns);
    let targets = draft.targets().count();
    draft.cloud = documented::beside_file(draft.cloud, &args.measure.documented, targets)
        .map_err(|refused| refused.placed(path, &text))?;
    finish(draft, &args.measure.load, parent)
}

/// Sets the commands of `--before` and `--after`, which take precedence over a file.
fn set_host_commands(draft: &mut Draft, args: &HostCommandArgs) -> Result<()> {
    if args.before.is_empty() && args.after.is_empty() {
        return Ok(());
    }
    let arms = draft.arms.clone();
    let before = args.before.iter().map(|text| command_of_arm(&arms, text));
    let before: Vec<_> = before.collect::<Result<_, _>>().context("option --before")?;
    let after = args.after.iter().map(|text| command_of_arm(&arms, text));
    let after: Vec<_> = after.collect::<Result<_, _>>().context("option --after")?;
    Ok(draft.set_host_commands(before, after, &std::env::current_dir()?)?)
}

/// Sets the directory in which commands of an experiment file run.
fn run_in(draft: &mut Draft, directory: &Path) -> Result<()> {
    let commands = draft.arms.iter_mut().filter_map(|arm| arm.host_commands.as_mut());
    for commands in commands {
        commands.directory = std::path::absolute(directory)?;
    }
    Ok(())
}

/// Sets the load generator of each arm; later options take precedence.
fn engines(arms: &mut [Arm], asked: &[String]) -> Result<()> {
    for text in asked {
        // Names of arms may contain `=`, names of engines do not.
        let (name, engine) = match text.rsplit_once('=') {
            Some((name, engine)) => (Some(name), engine),
            None => (None, text.as_str()),
        };
        let driver = match engine {
            "native" => Driver::Native,
            "fio" => Driver::Fio,
            "iperf3" => Driver::Iperf3,
            _ => {
                return Err(usage(format!(
                    "--engine {text}: unknown engine `{engine}`; use native, fio or iperf3, as in \
                     --engine fio or --engine ARM=fio"
                )));
            }
        };
        let mut chosen = arms.iter_mut().filter(|arm| name.is_none_or(|name| arm.name == name));
        let Some(first) = chosen.next() else {
            let names: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
            return Err(usage(format!(
                "--engine {text}: unknown arm; the arms are {}",
                names.join(", ")
            )));
        };
        first.driver = driver;
        chosen.for_each(|arm| arm.driver = driver);
    }
    Ok(())
}

/// A small search engine workload, of a size that fits the stack.
fn peel_search(stack: &Stack) -> Workload {
    let size_bytes = stack.size_bytes().unwrap_or(UNKNOWN_STACK_BYTES);
    match (stack.is_in_process(), stack.form()) {
        (true, _) => Workload::peel_search(size_bytes),
        // File systems use some of the space, and slow down when they are nearly full.
        (false, Form::Directory) => Workload::peel_search_in_system(size_bytes / 4 * 3),
        (false, _) => Workload::peel_search_in_system(size_bytes),
    }
}

fn changes(args: &LoadArgs) -> Result<Changes> {
    Ok(Changes {
        scale: args.scale,
        time_ns: option("--time", args.time.as_deref(), parse_duration)?,
        ramp_ns: option("--ramp", args.ramp.as_deref(), parse_duration)?,
        set: args.set.clone(),
    })
}

/// Applies the options about caps.
fn with_caps(draft: Draft, args: &MeasureArgs) -> Result<Draft> {
    let cloud = documented::choice(&args.documented, draft.targets().count())?;
    let side_runs = side_runs(SideRuns { depth_check: true, ..SideRuns::default() }, args)?;
    Ok(Draft { cloud, side_runs, hold_ns: hold(args)?, ..draft })
}

/// The time of `--hold` in nanoseconds, if given.
fn hold(args: &MeasureArgs) -> Result<Option<u64>> {
    option("--hold", args.hold.hold.as_deref(), parse_duration)
}

/// Refuses `--hold` if it would show nothing or is not possible.
fn refuse_hold(draft: &Draft, whole: Option<&WholeTrials>) -> Result<()> {
    if draft.hold_ns.is_some()
        && let Some(whole) = whole
    {
        let why = iotax_wording::slices::why_whole(whole);
        let why = why.unwrap_or_else(|| "Arms are not compared with a baseline.".to_owned());
        return Err(usage(format!("--hold needs arms that alternate in short slices. {why}")));
    }
    Ok(draft.validate_hold()?)
}

/// The side runs; options take precedence over `asked`.
fn side_runs(asked: SideRuns, args: &MeasureArgs) -> Result<SideRuns> {
    let CapArgs { below_cap, no_depth_check } = args.caps;
    Ok(SideRuns {
        depth_check: !no_depth_check && (asked.depth_check || below_cap),
        below_cap: !no_depth_check && (asked.below_cap || below_cap),
        precondition: asked.precondition || args.load.precondition,
        drain_ns: drain(&args.load)?.or(asked.drain_ns),
    })
}

/// The time of `--drain` in nanoseconds, if given.
fn drain(args: &LoadArgs) -> Result<Option<u64>> {
    option("--drain", args.drain.as_deref(), parse_duration)
}

fn stop(args: &CertaintyArgs, base: Stop) -> Result<Stop> {
    let mode = match (args.quick, args.tight) {
        (true, _) => StopMode::Quick,
        (_, true) => StopMode::Tight,
        _ => base.mode,
    };
    let max_blocks = args.max_blocks.unwrap_or(base.max_blocks);
    let stop = Stop {
        mode,
        margin: option("--margin", args.margin.as_deref(), parse_share)?.unwrap_or(base.margin),
        alpha: base.alpha,
        simultaneous: base.simultaneous || args.simultaneous,
        max_blocks,
        max_blocks_asked: base.max_blocks_asked || args.max_blocks.is_some(),
        min_blocks: base.min_blocks.min(max_blocks),
        max_time_ns: option("--max-time", args.max_time.as_deref(), parse_duration)?
            .or(base.max_time_ns),
    };
    stop.validate()?;
    Ok(stop)
}

/// Parses the value of an option; errors name the option.
pub(crate) fn option<T>(
    name: &str,
    text: Option<&str>,
    parse: fn(&str) -> Result<T, iotax_experiment::Error>,
) -> Result<Option<T>> {
    text.map(parse).transpose().with_context(|| format!("option {name}"))
}

/// The given seed, or one from the clock that is short enough to type.
fn seed(asked: Option<u64>) -> u64 {
    let nanosecond = Timestamp::now().as_nanosecond();
    asked.unwrap_or_else(|| u64::try_from(nanosecond.rem_euclid(1_000_000_007)).unwrap_or(1))
}

/// Completes the draft: engines, absolute paths, and test files that fit the available space.
/// Relative paths start at `directory`.
fn finish(mut draft: Draft, args: &LoadArgs, directory: &Path) -> Result<Resolved> {
    rules::refuse_undecidable(&draft)?;
    let one_target = draft.bind_targets()?;
    engines(&mut draft.arms, &args.engine)?;
    fio::check_drivers(&draft).map_err(|beyond| for_fio(beyond, &draft, args))?;
    draft.validate_precondition()?;
    draft.validate_recordings()?;
    refuse_with_programs(&draft)?;
    let directory = std::path::absolute(directory)?;
    let home = std::env::home_dir();
    draft.resolve_paths(&directory, home.as_deref());
    if args.agent.is_empty() {
        results::refuse_targets(draft.arms.iter().map(|arm| &arm.target), &args.dir)?;
    }
    let whole_trials = draft.alternate();
    refuse_hold(&draft, whole_trials.as_ref())?;
    let advice = fit::fit(&mut draft, args);
    let (spec, question) = (draft.resolve()?, Question::Trials);
    Ok(Resolved { spec, question, advice, one_target, whole_trials })
}

/// Removes the advice to use fio if the installed fio cannot run the workload either.
fn for_fio(beyond: Beyond, spec: &Draft, args: &LoadArgs) -> Beyond {
    let check = |workload: &Workload, arm: &Arm| {
        let mut workload = workload.clone();
        // The advice says to leave out verify.
        workload.jobs.iter_mut().for_each(|job| job.verify = false);
        // Another machine may have another version of fio.
        if args.agent.is_empty() {
            iotax_load::Fio::find()?.check(&workload, &arm.target)
        } else {
            iotax_load::refuse_with_fio(&workload, &arm.target)
        }
    };
    let arms = || spec.arms.iter().filter(|arm| arm.driver != Driver::Fio);
    let refused = spec.phases().find_map(|phase| arms().find_map(|arm| check(phase, arm).err()));
    match refused {
        // The advice is about native engines.
        Some(iotax_load::Error::NotWithFio { why }) => beyond.without_fio(why),
        Some(other) => beyond.without_fio(other.to_string()),
        None => beyond,
    }
}

/// Refuses what fio or iperf3 cannot or must not do, before looking for the program.
fn refuse_with_programs(spec: &Draft) -> Result<()> {
    for arm in &spec.arms {
        for workload in spec.phases() {
            let refused = match arm.driver {
                Driver::Native => Ok(()),
                Driver::Fio => iotax_load::refuse_with_fio(workload, &arm.target),
                Driver::Iperf3 => iotax_load::refuse_with_iperf3(workload),
            };
            refused.with_context(|| format!("arm {}", arm.name))?;
        }
    }
    Ok(())
}
