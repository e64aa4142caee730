//! The commands that measure: each resolves its arguments, then runs the same steps.

use crate::args::{CompareArgs, LimitsArgs, MeasureArgs, NetArgs, OutputArgs, PeelArgs, RunArgs};
use crate::exit::{Exit, Result};
use crate::publish::{Extent, Finished, Shown, publish};
use crate::resolve::{self, Comparison, Resolved};
use crate::run::{Asked, Backend, Run};
use crate::session::Destination;

/// The default path, which every machine has.
const HERE: &str = "loopback";

/// `iotax compare`
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit> {
    let asked = args.measure.asked("compare");
    match resolve::compare(args)? {
        Comparison::Targets(resolved) => {
            measured(&resolved, &Backend::from(&args.measure.load), &asked)
        }
        Comparison::Saved(results) => {
            let destination = Destination::new("compare", args.measure.output.out.as_deref());
            publish(results.finished(Some(&destination))?, asked.shown())
        }
    }
}

/// `iotax run WORKLOAD TARGET`
pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    measured(&resolve::run(args, Ok)?, &Backend::from(&args.load), &args.asked("run"))
}

/// `iotax peel [STACK]`
pub(crate) fn peel(args: &PeelArgs) -> Result<Exit> {
    let resolved = resolve::peel(args)?;
    measured(&resolved, &Backend::from(&args.measure.load), &args.measure.asked("peel"))
}

/// `iotax limits`
pub(crate) fn limits(args: &LimitsArgs) -> Result<Exit> {
    let LimitsArgs { documented, output, .. } = args;
    let asked = Asked { command: "limits", documented, output, iostat: false };
    measured(&resolve::limits(args)?, &Backend::from(args), &asked)
}

/// `iotax net`: runs on one path, or compares several.
pub(crate) fn net(args: NetArgs) -> Result<Exit> {
    let NetArgs { paths, workload, trials, matrix, measure } = args;
    if paths.len() > 1 || !matrix.factors.is_empty() {
        return compare(&CompareArgs { matrix, ..CompareArgs::of(paths, workload, measure) });
    }
    let targets = if paths.is_empty() { vec![HERE.to_owned()] } else { paths };
    run(&RunArgs::of(targets, workload, trials, measure))
}

/// Runs the experiment, and publishes the results.
pub(super) fn measured(
    resolved: &Resolved,
    backend: &Backend<'_>,
    asked: &Asked<'_>,
) -> Result<Exit> {
    publish(run_to_end(resolved, backend, asked)?, asked.shown())
}

/// Runs the experiment.
pub(super) fn run_to_end(
    resolved: &Resolved,
    backend: &Backend<'_>,
    asked: &Asked<'_>,
) -> Result<Finished> {
    let mut run = Run::open(resolved, backend, asked)?;
    run.prepare()?;
    run.measure()?;
    run.follow_up();
    Ok(run.finish())
}

impl MeasureArgs {
    pub(super) const fn asked(&self, command: &'static str) -> Asked<'_> {
        let Self { documented, output, load, .. } = self;
        Asked { command, documented, output, iostat: load.iostat }
    }
}

impl RunArgs {
    pub(super) const fn asked(&self, command: &'static str) -> Asked<'_> {
        let Self { documented, output, load, .. } = self;
        Asked { command, documented, output, iostat: load.iostat }
    }
}

impl Asked<'_> {
    fn shown(&self) -> Shown {
        let OutputArgs { format, color, quiet, verbose, .. } = *self.output;
        Shown { format, color, extent: Extent::of(quiet, verbose) }
    }
}
