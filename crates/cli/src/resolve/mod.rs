//! From arguments as typed to an experiment with nothing left open. What is resolved stays as it is:
//! it can be read only.

mod arms;
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
    Arm, Changes, Design, Draft, Driver, Factor, Form, Search, SideRuns, Spec, Stack, Stop,
    StopMode, Subsets, Target, WholeTrials, Workload, command_of_arm,
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

/// What `iotax peel` takes apart when nothing else is named: double encryption.
const DEFAULT_STACK: &str = "file(size=1G) + aes + aes";
/// What a network path is taken apart with when nothing else is named.
const NETWORK_SUITE: &str = "network";
/// Test files on a directory or device whose size only the machine knows.
const UNKNOWN_STACK_BYTES: u64 = 1 << 30;
/// The default peel answers within two minutes, laying out its file included; who asks for more
/// certainty gives it the time.
const DEFAULT_PEEL_TIME_NS: u64 = 95_000_000_000;
/// A network path is taken apart within four minutes, likewise.
const NETWORK_PEEL_TIME_NS: u64 = 220_000_000_000;

/// Its trials, where flows reach their speed at once: many short ones tell more than few long ones.
const IMMEDIATE_RAMP_NS: u64 = 300_000_000;
const IMMEDIATE_TIME_NS: u64 = 800_000_000;

/// What is asked for, with nothing left open.
pub(crate) struct Resolved {
    spec: Spec,
    question: Question,
    /// What would do if test files find no room.
    advice: Option<String>,
    /// What is said where jobs for several targets have one.
    one_target: Option<String>,
    /// Why arms do not alternate in slices.
    whole_trials: Option<WholeTrials>,
}

/// What is to be found out.
pub(crate) enum Question {
    /// How the arms do, and differ.
    Trials,
    /// Where the caps of the targets are.
    Caps(Box<Search>),
}

/// What a comparison is of.
pub(crate) enum Comparison {
    Targets(Box<Resolved>),
    Saved(Box<SavedResults>),
}

impl Resolved {
    fn of_caps(search: Search) -> Self {
        let (spec, question) = (search.spec(), Question::Caps(Box::new(search)));
        Self { spec, question, advice: None, one_target: None, whole_trials: None }
    }

    /// What a run does, and a plan says; of a search for caps, what a rig makes its targets for.
    pub(crate) const fn spec(&self) -> &Spec {
        &self.spec
    }

    pub(crate) const fn question(&self) -> &Question {
        &self.question
    }

    /// Why trials are not slices, if they are not.
    pub(crate) const fn whole_trials(&self) -> Option<&WholeTrials> {
        self.whole_trials.as_ref()
    }

    pub(crate) fn one_target(&self) -> Option<&str> {
        self.one_target.as_deref()
    }

    /// An error with the advice behind it, if it is one for want of space.
    pub(crate) fn advised<T>(&self, result: Result<T>) -> Result<T> {
        fit::advised(result, self.advice.as_deref())
    }
}

/// The spec of `iotax peel`.
pub(crate) fn peel(args: &PeelArgs) -> Result<Resolved> {
    let text = args.stack.as_deref().unwrap_or(DEFAULT_STACK);
    let Target::Stack(stack) = Target::parse(text)? else {
        return Err(usage(format!(
            "peel takes a stack apart, and `{text}` is a path; write the layers, as in \
             'file(path={text}, size=1G) + aes'"
        )));
    };
    let mut load = match &args.workload {
        Some(text) => Load::read(text)?,
        None if stack.form().is_network() => Load::read(NETWORK_SUITE)?,
        None => peel_search(&stack).into(),
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

/// As [`compare`], of targets only; `place` gives arms other targets, before anything is looked at.
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
        "--pair is for results that are saved; of targets, compare each pair on its own: \
         interleaved, it tells more",
    ))
}

fn targets(
    written: Written,
    factors: Vec<Factor>,
    args: &CompareArgs,
    place: impl FnOnce(Draft) -> Result<Draft>,
) -> Result<Resolved> {
    refuse_pairs(args)?;
    let mut load = Load::read(args.workload.as_ref().ok_or_else(arms::no_workload)?)?;
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

/// The spec of `iotax run`; `place` as for [`compare_placed`].
pub(crate) fn run(args: &RunArgs, place: impl FnOnce(Draft) -> Result<Draft>) -> Result<Resolved> {
    let mut load = Load::read(&args.workload)?;
    changes(&args.load)?.apply_to(&mut load.phases)?;
    let arm = Arm::new("target", Target::parse_all(args.targets.iter().map(String::as_str))?);
    let is_judged =
        !args.gate.fail_if.is_empty() || load.phases.iter().any(|phase| phase.requires.is_some());
    let stop = match args.trials {
        // Rules say when they have seen enough.
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

/// An experiment file; options given beside it win.
fn experiment_file(
    path: &Path,
    args: &CompareArgs,
    place: impl FnOnce(Draft) -> Result<Draft>,
) -> Result<Resolved> {
    if !args.matrix.factors.is_empty() {
        return Err(usage(
            "the arms are those of the file: write --matrix into it, as [matrix]".to_owned(),
        ));
    }
    let text = read_argument(std::fs::read_to_string(path), || {
        format!("cannot read the experiment file {}", path.display())
    })?;
    let beside = workload::beside(path);
    let mut draft = Draft::from_toml(&path.display().to_string(), &text, &|entry| {
        fio::from_entry(entry, &beside)
    })?;
    if let Some(text) = &args.workload {
        let load = Load::read(text)?;
        draft = load.into_draft(|phases| Ok(Draft { phases, ..draft }))?;
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

/// What `--before` and `--after` say, which win over a file.
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

/// The directory in which commands of an experiment file run.
fn run_in(draft: &mut Draft, directory: &Path) -> Result<()> {
    let commands = draft.arms.iter_mut().filter_map(|arm| arm.host_commands.as_mut());
    for commands in commands {
        commands.directory = std::path::absolute(directory)?;
    }
    Ok(())
}

/// What drives each arm: later options win over earlier ones.
fn engines(arms: &mut [Arm], asked: &[String]) -> Result<()> {
    for text in asked {
        // Names of arms may hold `=`, names of engines do not.
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
                    "--engine {text}: there is no engine `{engine}`; write native, fio or iperf3, \
                     as in --engine fio or --engine ARM=fio"
                )));
            }
        };
        let mut chosen = arms.iter_mut().filter(|arm| name.is_none_or(|name| arm.name == name));
        let Some(first) = chosen.next() else {
            let names: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
            return Err(usage(format!(
                "--engine {text}: there is no such arm; the arms are {}",
                names.join(", ")
            )));
        };
        first.driver = driver;
        chosen.for_each(|arm| arm.driver = driver);
    }
    Ok(())
}

/// A search engine in small, of a size that fits the stack.
fn peel_search(stack: &Stack) -> Workload {
    let size_bytes = stack.size_bytes().unwrap_or(UNKNOWN_STACK_BYTES);
    match (stack.is_in_process(), stack.form()) {
        (true, _) => Workload::peel_search(size_bytes),
        // File systems take a part for themselves, and slow down when they are nearly full.
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

/// With what the options say about caps.
fn with_caps(draft: Draft, args: &MeasureArgs) -> Result<Draft> {
    let cloud = documented::choice(&args.documented, draft.targets().count())?;
    let side_runs = side_runs(SideRuns { depth_check: true, ..SideRuns::default() }, args)?;
    Ok(Draft { cloud, side_runs, hold_ns: hold(args)?, ..draft })
}

/// How long each arm is held under load, if that is asked for, in nanoseconds.
fn hold(args: &MeasureArgs) -> Result<Option<u64>> {
    option("--hold", args.hold.hold.as_deref(), parse_duration)
}

/// Refuses to hold arms where that shows nothing, or cannot be done.
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

/// What is run beside the arms: options win over `asked`.
fn side_runs(asked: SideRuns, args: &MeasureArgs) -> Result<SideRuns> {
    let CapArgs { below_cap, no_depth_check } = args.caps;
    Ok(SideRuns {
        depth_check: !no_depth_check && (asked.depth_check || below_cap),
        below_cap: !no_depth_check && (asked.below_cap || below_cap),
        precondition: asked.precondition || args.load.precondition,
        drain_ns: drain(&args.load)?.or(asked.drain_ns),
    })
}

/// How long each arm may be drained, if that is asked for, in nanoseconds.
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

/// The value of an option, whose name is said if it cannot be read.
pub(crate) fn option<T>(
    name: &str,
    text: Option<&str>,
    parse: fn(&str) -> Result<T, iotax_experiment::Error>,
) -> Result<Option<T>> {
    text.map(parse).transpose().with_context(|| format!("option {name}"))
}

/// The seed asked for, or one from the clock: short enough to be typed again.
fn seed(asked: Option<u64>) -> u64 {
    let nanosecond = Timestamp::now().as_nanosecond();
    asked.unwrap_or_else(|| u64::try_from(nanosecond.rem_euclid(1_000_000_007)).unwrap_or(1))
}

/// Names what drives each arm, and fits test files to the room there is. Paths count from
/// `directory`, so that a record says where it was measured.
fn finish(mut draft: Draft, args: &LoadArgs, directory: &Path) -> Result<Resolved> {
    rules::refuse_undecidable(&draft)?;
    let one_target = draft.bind_targets()?;
    engines(&mut draft.arms, &args.engine)?;
    fio::check_drivers(&draft).map_err(|beyond| for_fio(beyond, &draft, args))?;
    draft.validate_precondition()?;
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

/// Recommends fio for what native engines cannot do only where the fio that is here can do it.
fn for_fio(beyond: Beyond, spec: &Draft, args: &LoadArgs) -> Beyond {
    let check = |workload: &Workload, arm: &Arm| {
        let mut workload = workload.clone();
        // That one is left out, says the advice.
        workload.jobs.iter_mut().for_each(|job| job.verify = false);
        // The fio of another machine may be another one.
        if args.agent.is_empty() {
            iotax_load::Fio::find()?.check(&workload, &arm.target)
        } else {
            iotax_load::refuse_with_fio(&workload, &arm.target)
        }
    };
    let arms = || spec.arms.iter().filter(|arm| arm.driver != Driver::Fio);
    let refused = spec.phases().find_map(|phase| arms().find_map(|arm| check(phase, arm).err()));
    match refused {
        // The engines that cannot do it are the native ones.
        Some(iotax_load::Error::NotWithFio { why }) => beyond.without_fio(why),
        Some(other) => beyond.without_fio(other.to_string()),
        None => beyond,
    }
}

/// What another program cannot do, or must not, is known before it is looked for.
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
