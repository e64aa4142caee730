//! From a resolved spec to results on disk and on the screen: the one path of run, compare, peel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result};
use iotax_analyze::Phases;
use iotax_load::LoadProgress;
use iotax_plan::Plan;
use iotax_record::{Experiment, FORMAT, HostRecord, HostRole, Site, Writer, record_id};
use iotax_rig::Progress as Preparing;
use iotax_run::{Arms as _, Hosts, Monotonic, Runner as _, Setup};
use iotax_spec::{Spec, Workload};
use jiff::Timestamp;

use crate::args::{DocumentedArgs, LoadArgs, OutputArgs};
use crate::destination::Destination;
use crate::exit::{Exit, Usage};
use crate::follow_up::SideRunContext;
use crate::hosts;
use crate::iostat::{self, Shown};
use crate::progress::ProgressLine;
use crate::{hung, instance, output, same_storage, signals};

/// Runs `spec` and shows what came of it. `name` is the command, for the default directory.
/// `documented`: how the cloud may be asked which VM this is.
pub(crate) fn measure(
    name: &str,
    spec: Spec,
    (load, args): (&LoadArgs, &OutputArgs),
    documented: Option<&DocumentedArgs>,
) -> Result<Exit> {
    iostat::refuse_unless_text(load.iostat, args.format)?;
    let stop = signals::stop_flag()?;
    let plan = Plan::new(&spec);
    let destination = Destination::new(name, args.out.as_deref());
    // Before the files of the arms are laid out, which may take minutes.
    destination.refuse_unusable()?;
    if load.agent.is_empty() {
        same_storage::warn_in_comparison(&spec.arms);
    }
    say_unheeded(&spec);

    let live = Arc::new(LoadProgress::default());
    let progress = ProgressLine::new(&plan, &live, args.quiet);
    let watch = hung::Watch::over(&stop, spec.arms.iter().map(|arm| &arm.target));
    let mut preparing = |what: &Preparing<'_>| progress.preparing(what);
    let (mut host, known) = hosts::open(&spec, load, (&stop, &live), &mut preparing)?;
    refuse_to_precondition_in_vain(&spec, &host)?;
    if !prepare(&spec, &mut host, &progress, &stop)? {
        return Ok(Exit::Interrupted);
    }

    let experiment = head(spec, (&host, known), load, documented);
    let dir = destination.claim()?;
    let mut writer = Writer::create(&dir, &experiment)?;
    let mut phases = Phases::new(&experiment);
    progress.clear();
    let begun = Instant::now();
    let beside = SideRunContext {
        dir: &dir,
        experiment: &experiment,
        stop: &stop,
        live: &live,
        quiet: args.quiet,
    };
    let sustained = beside.before(&mut host, &plan, &mut phases)?;
    let spent = begun.elapsed();
    let mut progress = ProgressLine::new(&plan, &live, args.quiet);
    let setup = Setup {
        experiment: &experiment,
        plan: &plan,
        host: &mut host,
        stop: &stop,
        clock: &Monotonic::start(),
        sustained: &sustained,
        spent,
    };
    let mut shown = Shown { line: &mut progress, experiment: &experiment, iostat: load.iostat };
    let ended = iotax_run::run(setup, &mut writer, &mut phases, &mut shown);
    progress.clear();
    let followed = ended
        .as_ref()
        .map_or(Ok(false), |end| beside.follow_up(&mut host, spent, &sustained, &mut phases, end));
    drop(watch);

    let parts = phases.finish(ended.as_ref().ok());
    let shown = output::show(&dir, &experiment.spec, &parts, args.format, args.color);
    let end =
        ended.with_context(|| format!("the run stopped early; see {}", dir.shown().display()))?;
    shown?;
    let interrupted =
        followed.with_context(|| format!("what followed failed; see {}", dir.shown().display()))?;
    Box::new(host).down()?;
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
fn refuse_to_precondition_in_vain(spec: &Spec, host: &Hosts) -> Result<()> {
    let mut anew = (0..spec.arms.len()).filter(|arm| host.is_made_anew(*arm));
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
    host: &mut Hosts,
    progress: &ProgressLine,
    stop: &AtomicBool,
) -> Result<bool> {
    let phases: Vec<&Workload> = spec.phases().collect();
    for (at, arm) in spec.arms.iter().enumerate() {
        let show = |done, total| progress.laying_out(done, total);
        host.up(at)?;
        host.prepare(at, arm.driver, &phases, &show)
            .with_context(|| format!("arm {}", arm.name))?;
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn head(
    mut spec: Spec,
    (host, mut hosts): (&Hosts, Vec<HostRecord>),
    load: &LoadArgs,
    documented: Option<&DocumentedArgs>,
) -> Experiment {
    // The metadata service that this process can ask knows nothing of where agents are.
    if let (Some(args), [here]) = (documented, hosts.as_mut_slice())
        && here.role == HostRole::Local
    {
        let targets = spec.arms.iter().map(|arm| &arm.target);
        let told = instance::complete(&mut spec.cloud, args, targets, &load.dir);
        instance::note(here, told);
    }
    let started = Timestamp::now().to_string();
    let site = |arm| Site { host: host.place(arm), ..host.site(arm).clone() };
    Experiment {
        format: FORMAT,
        id: Some(record_id(&hosts, &started)),
        iotax_version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        command: std::env::args().collect(),
        sites: (0..spec.arms.len()).map(site).collect(),
        hosts,
        spec,
    }
}
