//! From a resolved spec to results on disk and on the screen: the one path of run, compare, peel.

use std::time::Instant;

use anyhow::{Context as _, Result};
use iotax_analyze::Phases;
use iotax_experiment::Spec;
use iotax_experiment::plan::Plan;
use iotax_record::{End, ExperimentHead, FORMAT, HostRecord, HostRole, Site, Writer, record_id};
use iotax_rig::{Held, Progress as Preparing};
use iotax_run::{Arms as _, Hosts, Monotonic, Setup};
use jiff::Timestamp;

use crate::args::{DocumentedArgs, GateArgs, LoadArgs, OutputArgs};
use crate::exit::{Exit, Usage};
use crate::follow_up::SideRunContext;
use crate::hosts::Where;
use crate::iostat::{self, Shown};
use crate::progress::ProgressLine;
use crate::resolve::Resolved;
use crate::session::Session;
use crate::{fit, gate, instance, output, same_storage, stand_in};

/// Runs `spec` and shows what came of it. `name` is the command, for the default directory.
/// `documented`: how the cloud may be asked which VM this is.
pub(crate) fn measure(
    name: &str,
    resolved: Resolved,
    args: (&LoadArgs, &OutputArgs, &GateArgs),
    documented: &DocumentedArgs,
) -> Result<Exit> {
    measure_at(&Where::Asked(args.0), name, resolved, args, documented)
}

/// As [`measure`], with trials performed where it is said.
pub(crate) fn measure_at(
    place: &Where<'_>,
    name: &str,
    Resolved { mut spec, advice, one_target }: Resolved,
    (load, args, gate): (&LoadArgs, &OutputArgs, &GateArgs),
    documented: &DocumentedArgs,
) -> Result<Exit> {
    iostat::refuse_unless_text(load.iostat, args.format)?;
    refuse_host_commands_elsewhere(&spec, place)?;
    let session = place.session(name, args.out.as_deref(), &spec)?;
    if let Some(told) = one_target {
        eprintln!("warning: {told}");
    }
    warn(&spec, place);

    let plan = Plan::new(&spec);
    let line = ProgressLine::new(&plan, &session.live, args.quiet);
    let mut preparing = |what: &Preparing<'_>| line.preparing(what);
    let opened = place.open(&mut spec, session.flags(), &mut preparing);
    let (mut host, known) = fit::advised(opened, advice.as_deref())?;
    refuse_to_precondition_in_vain(&spec, &host)?;
    stand_in::refuse_on_some(&spec, &known)?;
    stand_in::tell(&spec, &known);
    let laid_out = session.lay_out(&spec, &mut host, &|done, total| line.laying_out(done, total));
    if !fit::advised(laid_out, advice.as_deref())? {
        return Ok(Exit::Interrupted);
    }
    drop(line);

    let experiment = head(spec, (&host, known), load, documented);
    let dir = session.results_directory()?;
    let mut phases = Phases::new(&experiment);
    let iostat = load.iostat;
    let what = Measurement { experiment: &experiment, plan: &plan, dir: &dir, iostat };
    let driven = what.drive(&mut host, &session, &mut phases, args.quiet)?;
    session.io_is_over();

    let parts = phases.finish(driven.ended.as_ref().ok());
    let shown =
        output::show(&dir, &experiment.spec, &parts, gate.printing(args.format, args.color));
    let (end, interrupted) = driven.or_stopped_early(&dir)?;
    shown?;
    Box::new(host).down()?;
    let measured = parts.iter().all(|(_, part)| part.arms.iter().any(|arm| arm.trials > 0));
    let exit = if interrupted {
        Exit::Interrupted
    } else if end.gave_up || !measured {
        Exit::Failed
    } else {
        Exit::Done
    };
    Ok(gate::judged(exit, &parts, gate, args.format))
}

/// Commands of the host are run by this process: no agent, and no pod, runs what it is sent.
fn refuse_host_commands_elsewhere(spec: &Spec, place: &Where<'_>) -> Result<()> {
    match spec.with_host_commands().filter(|_| !place.is_here()) {
        None => Ok(()),
        Some(arm) => Err(Usage(format!(
            "arm {} has --before and --after commands, which run on this machine only, and agents or pods measure: run \
             iotax on the machine itself, without --agent",
            arm.name
        ))
        .into()),
    }
}

/// What is run, and where its record goes.
struct Measurement<'a> {
    experiment: &'a ExperimentHead,
    plan: &'a Plan,
    dir: &'a Held,
    /// Whether the tables of each trial are printed.
    iostat: bool,
}

impl Measurement<'_> {
    /// What is asked for before the trials, the trials, and what they call for. What was measured is
    /// in `phases`, whatever fails.
    fn drive(
        &self,
        host: &mut Hosts,
        session: &Session,
        phases: &mut Phases,
        quiet: bool,
    ) -> Result<Driven> {
        let Self { experiment, plan, dir, iostat } = *self;
        let mut writer = Writer::create(dir, experiment)?;
        let begun = Instant::now();
        let Session { stop, live, .. } = session;
        let beside = SideRunContext { dir, experiment, stop, live, quiet };
        let sustained = beside.before(host, plan, phases)?;
        let spent = begun.elapsed();
        let mut line = ProgressLine::new(plan, live, quiet);
        let setup = Setup {
            experiment,
            plan,
            host,
            stop,
            clock: &Monotonic::start(),
            sustained: &sustained,
            spent,
        };
        let mut shown = Shown { line: &mut line, experiment, iostat };
        let ended = iotax_run::run(setup, &mut writer, phases, &mut shown);
        line.clear();
        let followed = ended
            .as_ref()
            .map_or(Ok(false), |end| beside.follow_up(host, spent, &sustained, phases, end));
        Ok(Driven { ended, followed })
    }
}

struct Driven {
    /// The trials.
    ended: Result<End, iotax_run::Error>,
    /// What followed them: whether the user stopped it.
    followed: Result<bool>,
}

impl Driven {
    /// How the trials ended, and whether the user stopped them or what followed.
    fn or_stopped_early(self, dir: &Held) -> Result<(End, bool)> {
        let see = |what: &str| format!("{what}; see {}", dir.shown().display());
        let end = self.ended.with_context(|| see("the run stopped early"))?;
        let interrupted = self.followed.with_context(|| see("what followed failed"))?;
        Ok((end, interrupted))
    }
}

/// Says what may not be expected: smaller test files, arms that are the same storage, and what was
/// asked for and has no effect on some arm.
fn warn(spec: &Spec, place: &Where<'_>) {
    if let Some(told) = spec.told_fit() {
        eprintln!("note: {told}");
    }
    if place.is_here() {
        same_storage::warn_in_comparison(&spec.arms);
        same_storage::warn_of_targets(spec);
    }
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

fn head(
    spec: Spec,
    (host, mut hosts): (&Hosts, Vec<HostRecord>),
    load: &LoadArgs,
    documented: &DocumentedArgs,
) -> ExperimentHead {
    // The metadata service that this process can ask knows nothing of where agents are.
    let mut cloud = spec.cloud.clone();
    if let [here] = hosts.as_mut_slice()
        && here.role == HostRole::Local
    {
        let told = instance::complete(&mut cloud, documented, spec.targets(), &load.dir);
        instance::note(here, told);
    }
    let started = Timestamp::now().to_string();
    let site = |arm| Site { host: host.place(arm), ..host.site(arm).clone() };
    ExperimentHead {
        format: FORMAT,
        id: Some(record_id(&hosts, &started)),
        iotax_version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        command: std::env::args().collect(),
        sites: (0..spec.arms.len()).map(site).collect(),
        hosts,
        spec,
        cloud,
    }
}
