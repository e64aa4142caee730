//! From arguments as typed to a resolved spec.

use std::path::Path;

use anyhow::{Context as _, Result};
use iotax_spec::units::{parse_duration, parse_share};
use iotax_spec::{
    Arm, Changes, Form, Spec, Stack, Stop, StopMode, Subsets, Target, Workload, parse_arms,
};
use jiff::Timestamp;

use crate::args::{CertaintyArgs, CompareArgs, LoadArgs, PeelArgs, RunArgs};
use crate::exit::Usage;

/// What `iotax peel` takes apart when nothing else is named: double encryption.
const DEFAULT_STACK: &str = "file(size=1G) + aes + aes";
/// Test files on a directory or device whose size only the machine knows.
const UNKNOWN_STACK_BYTES: u64 = 1 << 30;
/// The default peel answers within two minutes, laying out its file included; who asks for more
/// certainty gives it the time.
const DEFAULT_PEEL_TIME_NS: u64 = 95_000_000_000;

/// The spec of `iotax peel`.
pub fn peel(args: &PeelArgs) -> Result<Spec> {
    let text = args.stack.as_deref().unwrap_or(DEFAULT_STACK);
    let Target::Stack(stack) = Target::parse(text)? else {
        return Err(usage(format!(
            "peel takes a stack apart, and `{text}` is a path; write the layers, as in \
             'file(path={text}, size=1G) + aes'"
        )));
    };
    let mut workload = match &args.workload {
        Some(name) => Workload::preset(name)?,
        None => peel_search(&stack),
    };
    changes(&args.measure.load)?.apply(&mut workload)?;
    let mut stop = stop(&args.measure.certainty, Stop::default())?;
    let CertaintyArgs { tight, max_blocks, max_time, .. } = &args.measure.certainty;
    let asks_for_more = *tight || max_blocks.is_some() || max_time.is_some();
    if args.stack.is_none() && !asks_for_more {
        stop.max_time_ns = Some(DEFAULT_PEEL_TIME_NS);
    }
    let spec = Spec::peel(workload, &stack, Subsets::Auto, stop, seed(&args.measure.load))?;
    absolute(spec, Path::new("."))
}

/// The spec of `iotax compare`.
pub fn compare(args: &CompareArgs) -> Result<Spec> {
    if let [file] = args.arms.as_slice()
        && Path::new(file).extension().is_some_and(|extension| extension == "toml")
    {
        return experiment_file(Path::new(file), args);
    }
    let arms = parse_arms(args.arms.iter().map(String::as_str))?;
    let Some(name) = &args.workload else {
        return Err(usage(format!(
            "which workload? name one with --workload, such as {}; `iotax workloads` explains them",
            Workload::preset_names().next().unwrap_or("randread-4k")
        )));
    };
    let mut workload = Workload::preset(name)?;
    changes(&args.measure.load)?.apply(&mut workload)?;
    let stop = stop(&args.measure.certainty, Stop::default())?;
    absolute(Spec::compare(workload, arms, stop, seed(&args.measure.load))?, Path::new("."))
}

/// The spec of `iotax run`.
pub fn run(args: &RunArgs) -> Result<Spec> {
    let mut workload = Workload::preset(&args.workload)?;
    changes(&args.load)?.apply(&mut workload)?;
    let arm = Arm { name: "target".to_owned(), target: Target::parse(&args.target)? };
    let stop = Stop { min_blocks: args.trials, max_blocks: args.trials, ..Stop::default() };
    absolute(Spec::single(workload, arm, stop, seed(&args.load))?, Path::new("."))
}

/// An experiment file; options given beside it win.
fn experiment_file(path: &Path, args: &CompareArgs) -> Result<Spec> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the experiment file {}", path.display()))?;
    let mut spec = Spec::from_toml(&path.display().to_string(), &text)?;
    if let Some(name) = &args.workload {
        spec.workload = Workload::preset(name)?;
    }
    changes(&args.measure.load)?.apply(&mut spec.workload)?;
    spec.stop = stop(&args.measure.certainty, spec.stop)?;
    if let Some(seed) = args.measure.load.seed {
        spec.seed = seed;
    }
    spec.validate()?;
    // The parent of a bare file name is the empty path.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    absolute(spec, parent.unwrap_or(Path::new(".")))
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
        min_blocks: base.min_blocks.min(max_blocks),
        max_time_ns: option("--max-time", args.max_time.as_deref(), parse_duration)?
            .or(base.max_time_ns),
    };
    stop.validate()?;
    Ok(stop)
}

fn option<T>(
    name: &str,
    text: Option<&str>,
    parse: fn(&str) -> Result<T, iotax_spec::Error>,
) -> Result<Option<T>> {
    text.map(parse).transpose().with_context(|| format!("option {name}"))
}

/// The seed asked for, or one from the clock: short enough to be typed again.
fn seed(args: &LoadArgs) -> u64 {
    let nanosecond = Timestamp::now().as_nanosecond();
    args.seed.unwrap_or_else(|| u64::try_from(nanosecond.rem_euclid(1_000_000_007)).unwrap_or(1))
}

/// Paths count from `directory`, so that a record says where it was measured.
fn absolute(mut spec: Spec, directory: &Path) -> Result<Spec> {
    let directory = std::path::absolute(directory)?;
    let home = std::env::home_dir();
    spec.resolve_paths(&directory, home.as_deref());
    Ok(spec)
}

fn usage(text: String) -> anyhow::Error {
    Usage(text).into()
}
