//! From a resolved spec to results on disk and on the screen: the one path of run, compare, peel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use iotax_analyze::Phases;
use iotax_plan::Plan;
use iotax_record::{Experiment, FORMAT, Writer};
use iotax_rig::{Options, Rig};
use iotax_run::{Drivers, Setup};
use iotax_spec::Spec;
use jiff::Timestamp;

use crate::args::{DocumentedArgs, LoadArgs, OutputArgs};
use crate::destination::Destination;
use crate::exit::{Exit, Usage};
use crate::follow_up::Ground;
use crate::iostat::{self, Shown};
use crate::progress::ProgressLine;
use crate::{hung, instance, output, same_storage, seen, signals};

/// Runs `spec` and shows what came of it. `name` is the command, for the default directory.
/// `documented`: how the cloud may be asked which VM this is.
pub fn measure(
    name: &str,
    mut spec: Spec,
    (load, args): (&LoadArgs, &OutputArgs),
    documented: Option<&DocumentedArgs>,
) -> Result<Exit> {
    iostat::refuse_unless_text(load.iostat, args.format)?;
    let stop = signals::stop_flag()?;
    let plan = Plan::new(&spec);
    let destination = Destination::new(name, args.out.as_deref());
    // Before the files of the arms are laid out, which may take minutes.
    destination.refuse_unusable()?;
    let drivers = Drivers::find(&spec)?;
    let progress = ProgressLine::new(&plan, args.quiet);

    same_storage::warn_in_comparison(&spec.arms);
    say_unheeded(&spec);
    let watch = hung::Watch::over(&stop, spec.arms.iter().map(|arm| &arm.target));
    let mut rig = Rig::open(
        &spec,
        Options {
            work_dir: &load.dir,
            state_dir: iotax_rig::state_dir(),
            progress: &mut |what| progress.preparing(what),
            stop: &stop,
            destroy: &load.destroy,
            program: &std::env::current_exe()?,
        },
    )?;
    rig.heed(Arc::clone(&stop));
    refuse_to_precondition_in_vain(&spec, &rig)?;
    if !prepare(&spec, &mut rig, (&drivers, &progress), &stop)? {
        return Ok(Exit::Interrupted);
    }

    let targets = spec.arms.iter().map(|arm| &arm.target);
    let instance =
        documented.and_then(|args| instance::complete(&mut spec.cloud, args, targets, &load.dir));
    let head = head(spec, &rig);
    let targets = head.spec.arms.iter().map(|arm| &arm.target);
    let machine = seen::under(targets, instance.as_ref(), &head.environment).map(Box::new);
    let experiment = Experiment { instance, machine, ..head };
    let dir = destination.claim()?;
    let mut writer = Writer::create(&dir, &experiment)?;
    let mut phases = Phases::new(&experiment);
    progress.clear();
    let begun = Instant::now();
    let sustained = {
        let (dir, experiment) = (&dir, &experiment);
        let (rig, drivers, stop, quiet) = (&mut rig, &drivers, &stop, args.quiet);
        let spent = Duration::ZERO;
        let mut ground = Ground { dir, experiment, rig, drivers, stop, quiet, spent };
        ground.before(&plan, &mut phases)?
    };
    let spent = begun.elapsed();
    let mut progress = ProgressLine::new(&plan, args.quiet);
    let setup = Setup {
        experiment: &experiment,
        plan: &plan,
        rig: &mut rig,
        drivers: &drivers,
        stop: &stop,
        live: None,
        sustained: &sustained,
        spent,
    };
    let mut shown = Shown { line: &mut progress, experiment: &experiment, iostat: load.iostat };
    let ended = iotax_run::run(setup, &mut writer, &mut phases, &mut shown);
    progress.clear();
    let followed = ended.as_ref().map_or(Ok(false), |end| {
        let (dir, experiment) = (&dir, &experiment);
        let (rig, drivers, stop, quiet) = (&mut rig, &drivers, &stop, args.quiet);
        let mut ground = Ground { dir, experiment, rig, drivers, stop, quiet, spent };
        ground.follow_up(&sustained, &mut phases, end)
    });
    drop(watch);

    let parts = phases.finish(ended.as_ref().ok());
    let shown = output::show(&dir, &experiment.spec, &parts, args.format, args.color);
    let end =
        ended.with_context(|| format!("the run stopped early; see {}", dir.shown().display()))?;
    shown?;
    let interrupted =
        followed.with_context(|| format!("what followed failed; see {}", dir.shown().display()))?;
    rig.down()?;
    let measured = parts.iter().all(|(_, part)| part.arms.iter().any(|arm| arm.trials > 0));
    Ok(if interrupted {
        Exit::Interrupted
    } else if end.gave_up || !measured {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// Says what was asked for and has no effect on some arm.
fn say_unheeded(spec: &Spec) {
    for arm in &spec.arms {
        for line in arm.unheeded(&spec.all_at_once()) {
            eprintln!("note: arm {}: {line}", arm.name);
        }
    }
}

/// Files of an arm that is made anew for each of its turns are new in each, whatever was written
/// before.
fn refuse_to_precondition_in_vain(spec: &Spec, rig: &Rig) -> Result<()> {
    let mut anew = (0..spec.arms.len()).filter(|arm| rig.is_made_anew(*arm));
    match anew.next().filter(|_| spec.side_runs.precondition) {
        Some(arm) => Err(Usage(format!(
            "arm {} takes turns with others on its device and is made anew for each of them, so \
             --precondition would be in vain; precondition the device alone before, as in \
             `iotax run --precondition WORKLOAD 'dev(path=...)' --destroy ...`, and leave it out \
             here",
            spec.arms[arm].name
        ))
        .into()),
        None => Ok(()),
    }
}

/// Lays out the files of every arm; false if the user stopped it.
fn prepare(
    spec: &Spec,
    rig: &mut Rig,
    (drivers, progress): (&Drivers, &ProgressLine),
    stop: &Arc<AtomicBool>,
) -> Result<bool> {
    for arm in 0..spec.arms.len() {
        let name = &spec.arms[arm].name;
        let show = |done, total| progress.laying_out(done, total);
        let target = iotax_run::target(rig.up(arm)?);
        for workload in spec.phases() {
            drivers
                .of(&spec.arms[arm])?
                .prepare(workload, target, &show, stop)
                .with_context(|| format!("arm {name}"))?;
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn head(spec: Spec, rig: &Rig) -> Experiment {
    Experiment {
        format: FORMAT,
        iotax_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: Timestamp::now().to_string(),
        command: std::env::args().collect(),
        environment: iotax_inspect::environment(),
        machine: None,
        sites: rig.sites(),
        generator_ns_per_io: iotax_load::calibrate(),
        instance: None,
        spec,
    }
}
