//! Runs a resolved experiment: the steps of every command that measures.

mod backend;
mod instance;
mod side_runs;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use iotax_analyze::{Phases, Sustained};
use iotax_caps::{Caps, expected_ns};
use iotax_experiment::plan::Plan;
use iotax_experiment::{Opened, OpenedTarget, Search, Spec, Workload};
use iotax_record::{
    End, ExperimentHead, FORMAT, SEARCH_FORMAT, SearchHead, Site, Writer, record_id,
};
use iotax_rig::Held;
use iotax_run::{Arms as _, Hosts, Monotonic, Runner as _, SearchSetup, Setup};
use iotax_wording::doubt::fitted;
use jiff::Timestamp;

pub(crate) use self::backend::Backend;
use self::side_runs::SideRunContext;
use crate::args::{DocumentedArgs, Format, OutputArgs};
use crate::exit::{Context as _, Exit, Failure, Result, usage};
use crate::progress::{ProgressLine, Shown};
use crate::publish::{Answer, CapsAnswer, Finished};
use crate::resolve::{Question, Resolved, refuse_small, same_storage};
use crate::session::{OpenedHosts, Session};

/// Options of every command that measures.
pub(crate) struct Asked<'a> {
    /// The command's name, for the default directory.
    pub command: &'static str,
    /// Options of documented limits and the metadata service.
    pub documented: &'a DocumentedArgs,
    pub output: &'a OutputArgs,
    /// Whether to print the tables of each trial.
    pub iostat: bool,
}

/// A running measurement.
pub(crate) struct Run<'a> {
    resolved: &'a Resolved,
    backend: &'a Backend<'a>,
    asked: &'a Asked<'a>,
    under_way: Option<UnderWay>,
    opened: OpenedHosts,
    // Dropped last: it watches for hung I/O while hosts go down.
    session: Session,
}

/// The measurement, and the directory of its record.
struct UnderWay {
    dir: Held,
    what: Measured,
}

enum Measured {
    Trials(Box<Trials>),
    Caps(Box<CapSearch>),
}

struct CapSearch {
    head: SearchHead,
    found: Option<(Caps, End)>,
}

struct Trials {
    head: ExperimentHead,
    plan: Plan,
    writer: Writer<ExperimentHead>,
    phases: Phases,
    sustained: Sustained,
    /// Time of the side runs before the trials.
    spent: Duration,
    /// How the trials ended.
    ended: Option<Result<End, iotax_run::Error>>,
    /// Whether the user interrupted the side runs after the trials.
    followed: Result<bool>,
}

impl<'a> Run<'a> {
    /// Checks all targets, and creates what they need.
    ///
    /// # Errors
    /// If the experiment cannot be run.
    pub(crate) fn open(
        resolved: &'a Resolved,
        backend: &'a Backend<'a>,
        asked: &'a Asked<'a>,
    ) -> Result<Self> {
        let spec = resolved.spec();
        refuse_tables_unless_text(asked)?;
        refuse_host_commands_elsewhere(spec, backend)?;
        let session = backend.session(asked.command, asked.output.out.as_deref(), spec)?;
        warn(resolved, backend);
        let line = match resolved.question() {
            Question::Trials => {
                ProgressLine::new(&Plan::new(spec), &session.live, asked.output.quiet)
            }
            Question::Caps(search) => {
                say_how_long(search, asked.output.quiet);
                ProgressLine::of_search(expected(search), &session.live, asked.output.quiet)
            }
        };
        let opened = backend.open(spec, &session, &mut |what| line.preparing(what));
        let opened = resolved.advised(opened)?;
        match resolved.question() {
            Question::Trials => {
                refuse_to_precondition_in_vain(spec, &opened.hosts)?;
                backend::refuse_on_some(spec, &opened.records)?;
            }
            Question::Caps(search) => refuse_small(search)?,
        }
        backend::tell(spec, &opened.records);
        drop(line);
        Ok(Self { resolved, backend, asked, session, opened, under_way: None })
    }

    /// Writes test files, starts the record, and does the side runs that come first.
    ///
    /// # Errors
    /// If the user interrupts it, or if files or the record cannot be written.
    pub(crate) fn prepare(&mut self) -> Result<()> {
        let Self { resolved, asked, session, opened, .. } = self;
        let spec = resolved.spec();
        let line = ProgressLine::new(&Plan::new(spec), &session.live, asked.output.quiet);
        let show = |done, total| line.laying_out(done, total);
        resolved.advised(lay_out(spec, &mut opened.hosts, &session.stop, &show))?;
        if spec.may_be_of_slices() {
            line.briefly("choosing the slice length");
        }
        let spec = &iotax_run::pilot(spec, &mut opened.hosts, &session.stop)?;
        drop(line);
        let plan = Plan::new(spec);
        let cloud = self.backend.cloud(resolved, opened, asked);
        let what = match resolved.question() {
            Question::Trials => {
                let head = ExperimentHead {
                    format: FORMAT,
                    id: None,
                    iotax_version: env!("CARGO_PKG_VERSION").to_owned(),
                    started: Timestamp::now().to_string(),
                    command: std::env::args().collect(),
                    sites: sites(&opened.hosts, spec),
                    hosts: std::mem::take(&mut opened.records),
                    spec: spec.clone(),
                    cloud,
                };
                let id = Some(record_id(&head.hosts, &head.started));
                let head = ExperimentHead { id, ..head };
                let dir = session.results_directory()?;
                let writer = Writer::create(&dir, &head)?;
                let phases = Phases::new(&head);
                let (sustained, spent) = (Sustained::default(), Duration::ZERO);
                let (ended, followed) = (None, Ok(false));
                let trials =
                    Trials { head, plan, writer, phases, sustained, spent, ended, followed };
                UnderWay { dir, what: Measured::Trials(Box::new(trials)) }
            }
            Question::Caps(search) => {
                let sites = sites(&opened.hosts, spec);
                let targets = sites.iter().enumerate().map(|(at, site)| OpenedTarget {
                    smallest_io_bytes: smallest_io_bytes(search, site),
                    known: self.backend.limits(&spec.arms[at].target, search, &opened.records),
                });
                let opened_targets = Opened { cloud, targets: targets.collect() };
                let head = SearchHead {
                    format: SEARCH_FORMAT,
                    id: None,
                    iotax_version: env!("CARGO_PKG_VERSION").to_owned(),
                    started: Timestamp::now().to_string(),
                    command: std::env::args().collect(),
                    hosts: std::mem::take(&mut opened.records),
                    sites,
                    search: (**search).clone(),
                    opened: opened_targets,
                };
                let id = Some(record_id(&head.hosts, &head.started));
                let head = SearchHead { id, ..head };
                UnderWay {
                    dir: session.results_directory()?,
                    what: Measured::Caps(Box::new(CapSearch { head, found: None })),
                }
            }
        };
        self.under_way.insert(what).before(session, &mut opened.hosts, asked)
    }

    /// Runs the trial loop, or the search for caps. Keeps the results of trials even if it fails.
    ///
    /// # Errors
    /// If the result of a search cannot be written.
    pub(crate) fn measure(&mut self) -> Result<()> {
        let Self { session, opened, asked, .. } = self;
        let Some(UnderWay { dir, what }) = &mut self.under_way else { return Ok(()) };
        let (hosts, quiet) = (&mut opened.hosts, asked.output.quiet);
        match what {
            Measured::Trials(trials) => {
                let Trials { head, plan, writer, phases, sustained, spent, ended, .. } =
                    &mut **trials;
                let mut line = ProgressLine::new(plan, &session.live, quiet);
                *ended = Some(iotax_run::trials(Setup {
                    experiment: head,
                    plan,
                    host: hosts,
                    stop: &session.stop,
                    clock: &Monotonic::start(),
                    sustained,
                    spent: *spent,
                    writer,
                    phases,
                    observer: &mut Shown {
                        line: &mut line,
                        experiment: head,
                        iostat: asked.iostat,
                    },
                }));
            }
            Measured::Caps(search) => {
                let CapSearch { head, found } = &mut **search;
                let expected = expected(&head.search);
                *found = Some(iotax_run::search(SearchSetup {
                    search: &head.search,
                    opened: &head.opened,
                    environment: &head.host().environment,
                    host: hosts,
                    stop: &session.stop,
                    writer: &mut Writer::create(&*dir, head)?,
                    observer: &mut ProgressLine::of_search(expected, &session.live, quiet),
                })?);
            }
        }
        Ok(())
    }

    /// Runs the follow-ups that the trials require. If one fails, the trials are still reported.
    pub(crate) fn follow_up(&mut self) {
        let Self { session, opened, asked, .. } = self;
        if let Some(UnderWay { dir, what: Measured::Trials(trials) }) = &mut self.under_way {
            let Trials { head, phases, sustained, spent, ended, followed, .. } = &mut **trials;
            let beside =
                SideRunContext { dir, experiment: head, session, quiet: asked.output.quiet };
            if let Some(Ok(end)) = ended {
                *followed = beside.follow_up(&mut opened.hosts, *spent, sustained, phases, end);
            }
        }
        session.io_is_over();
    }

    /// Collects the outcome.
    pub(crate) fn finish(self) -> Finished {
        let Self { opened, under_way, resolved, .. } = self;
        let hosts = Some(opened.hosts);
        let UnderWay { dir, what } = under_way.expect("it was prepared");
        let see = |what: &str| format!("{what}; see {}", dir.shown().display());
        let (answer, ended) = match what {
            Measured::Trials(trials) => {
                let Trials { phases, ended, followed, .. } = *trials;
                let ended = ended.expect("it was measured");
                let parts = phases.finish(ended.as_ref().ok());
                let measured =
                    parts.iter().all(|(_, part)| part.arms.iter().any(|arm| arm.trials > 0));
                let ended = ended.with_context(|| see("the run stopped early"));
                let ended = ended.and_then(|end| {
                    let interrupted = followed.with_context(|| see("the follow-up failed"))?;
                    Ok(Exit::of(interrupted, end.gave_up || !measured))
                });
                (Answer::Trials { name: resolved.spec().name().to_owned(), parts }, ended)
            }
            Measured::Caps(search) => {
                let CapSearch { head, found } = *search;
                let (caps, end) = found.expect("it was measured");
                let exit = Exit::of(end.interrupted, end.gave_up);
                (Answer::Caps(CapsAnswer { head: Box::new(head), caps, end: Some(end) }), Ok(exit))
            }
        };
        Finished { answer, dir: Some(dir), ended, hosts }
    }
}

impl UnderWay {
    fn before(&mut self, session: &Session, hosts: &mut Hosts, asked: &Asked<'_>) -> Result<()> {
        let Measured::Trials(trials) = &mut self.what else { return Ok(()) };
        let begun = Instant::now();
        let Trials { head, plan, phases, .. } = &mut **trials;
        let quiet = asked.output.quiet;
        let beside = SideRunContext { dir: &self.dir, experiment: head, session, quiet };
        trials.sustained = beside.before(hosts, plan, phases)?;
        trials.spent = begun.elapsed();
        Ok(())
    }
}

/// Brings up every arm and writes its files; `show` gets the bytes written and the total.
fn lay_out(
    spec: &Spec,
    hosts: &mut Hosts,
    stop: &AtomicBool,
    show: &dyn Fn(u64, u64),
) -> Result<()> {
    let phases: Vec<&Workload> = spec.phases().collect();
    for (at, arm) in spec.arms.iter().enumerate() {
        hosts.up(at)?;
        hosts
            .prepare(at, arm.driver, &phases, show)
            .with_context(|| format!("arm {}", arm.name))?;
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::stopped());
        }
    }
    Ok(())
}

fn sites(hosts: &Hosts, spec: &Spec) -> Vec<Site> {
    let site = |arm| Site { host: hosts.place(arm), ..hosts.site(arm).clone() };
    (0..spec.arms.len()).map(site).collect()
}

/// The smallest I/O to use: for smaller writes, a disk may read, change and write its whole block.
fn smallest_io_bytes(search: &Search, site: &Site) -> Option<u32> {
    site.smallest_io_bytes.filter(|_| !search.writes || site.kind == "vdisk")
}

fn expected(search: &Search) -> Duration {
    Duration::from_nanos(expected_ns(search))
}

/// Prints how long the search may wait for bursts to end.
fn say_how_long(search: &Search, quiet: bool) {
    if search.burst.is_some() && !quiet {
        let most = iotax_quantity::span(expected(search).as_secs());
        eprintln!("waiting at most {most} for bursts to end");
    }
}

/// Refuses tables in the middle of another format than text.
fn refuse_tables_unless_text(asked: &Asked<'_>) -> Result<()> {
    if !asked.iostat || asked.output.format == Format::Text {
        return Ok(());
    }
    Err(usage(
        "--iostat works only with --format text; leave out --format or --iostat (the record contains \
         the samples in any case)",
    ))
}

/// Refuses commands of the host if agents or pods measure: only this process runs commands.
fn refuse_host_commands_elsewhere(spec: &Spec, backend: &Backend<'_>) -> Result<()> {
    match spec.with_host_commands().filter(|_| !backend.is_here()) {
        None => Ok(()),
        Some(arm) => Err(usage(format!(
            "arm {} has --before and --after commands, which agents and pods cannot run; run iotax \
             on the target machine itself, without --agent",
            arm.name
        ))),
    }
}

/// Prints warnings and notes: smaller test files, arms on the same storage, options without effect
/// on an arm.
fn warn(resolved: &Resolved, backend: &Backend<'_>) {
    if matches!(resolved.question(), Question::Caps(_)) {
        return;
    }
    let spec = resolved.spec();
    if let Some(told) = resolved.one_target() {
        eprintln!("warning: {told}");
    }
    if let Some(told) = fitted(spec) {
        eprintln!("note: {told}");
    }
    if backend.is_here() {
        same_storage::warn_in_comparison(&spec.arms);
        same_storage::warn_of_targets(spec);
    }
    for arm in &spec.arms {
        for line in arm.unheeded(&spec.all_at_once()) {
            eprintln!("note: arm {}: {line}", arm.name);
        }
    }
}

/// Refuses to precondition arms that are created anew for each turn, and whose files are therefore
/// new.
fn refuse_to_precondition_in_vain(spec: &Spec, hosts: &Hosts) -> Result<()> {
    let mut anew = (0..spec.arms.len()).filter(|arm| hosts.is_made_anew(*arm));
    match anew.next().filter(|_| spec.side_runs.precondition) {
        Some(arm) => Err(usage(format!(
            "arm {} shares its device with other arms and is re-created for each turn, so \
             --precondition would have no effect; precondition the device first, as in \
             `iotax run --precondition WORKLOAD 'dev(path=...)' --destroy ...`, and then leave out \
             --precondition here",
            spec.arms[arm].name
        ))),
        None => Ok(()),
    }
}
