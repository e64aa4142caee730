//! Side runs of an experiment. Before it: preconditioning and draining. After it, if arms are
//! equal: loads that find a cap above them, and what it hides.

use std::time::Duration;

use iotax_analyze::{Phases, Sustained, below_the_cap, depth_check, drain_spec, precondition_spec};
use iotax_experiment::plan::Plan;
use iotax_experiment::{SideRole, Spec, Workload};
use iotax_record::{End, ExperimentHead, SideRecord, Writer};
use iotax_rig::Held;
use iotax_run::{Hosts, Monotonic, Setup};
use jiff::Timestamp;

use crate::exit::{Context as _, Result};
use crate::progress::ProgressLine;
use crate::session::Session;

/// The main experiment and its directory. The `host` of each step has the arms up and prepared.
pub(crate) struct SideRunContext<'a> {
    pub dir: &'a Held,
    pub experiment: &'a ExperimentHead,
    pub session: &'a Session,
    pub quiet: bool,
}

impl SideRunContext<'_> {
    /// Does the side runs that come first, and adds their results to `phases`. Returns the
    /// sustained rate of each arm, if known. Preconditioning spends burst credits too, so draining
    /// comes last.
    pub(crate) fn before(
        &self,
        host: &mut Hosts,
        measured: &Plan,
        phases: &mut Phases,
    ) -> Result<Sustained> {
        let asked = self.experiment.spec.side_runs;
        if asked.precondition && self.precondition(host, measured, phases)? {
            return Ok(Sustained::default());
        }
        asked
            .drain_ns
            .map_or(Ok(Sustained::default()), |limit_ns| self.drain(host, limit_ns, phases))
    }

    /// Writes the span of all arms, runs their workload until it is steady, and adds the result to
    /// `phases`. Returns whether the user interrupted it. `measured`: the schedule that follows.
    fn precondition(&self, host: &mut Hosts, measured: &Plan, phases: &mut Phases) -> Result<bool> {
        let Some(spec) = precondition_spec(&self.experiment.spec) else { return Ok(false) };
        let workloads: Vec<Workload> = self.experiment.spec.phases().cloned().collect();
        let least_ns = measured.block_ns(measured.arms).saturating_mul(measured.min_blocks.into());
        let reserve = Duration::from_nanos(least_ns);
        let (rounds, end) = self.run(
            host,
            SideRecord::Precondition,
            spec,
            &Sustained::default(),
            Phases::new,
            |setup| iotax_run::precondition(setup, &workloads, reserve),
        )?;
        phases.preconditioned_by(&rounds);
        Ok(end.interrupted)
    }

    /// Spends the burst credits of all arms, each for at most `limit_ns`. Adds the sustained rate
    /// of each to `phases`, and returns it.
    fn drain(&self, host: &mut Hosts, limit_ns: u64, phases: &mut Phases) -> Result<Sustained> {
        let spec = drain_spec(&self.experiment.spec, limit_ns);
        let none = Sustained::default();
        let (stretches, _) =
            self.run(host, SideRecord::Drain, spec, &none, Phases::new, iotax_run::drain)?;
        Ok(phases.drained_by(&stretches))
    }

    /// Does the side runs that the results require, and adds their results to `phases`. Returns
    /// whether the user interrupted them. `spent`: time of the side runs before the main
    /// experiment.
    pub(crate) fn follow_up(
        &self,
        host: &mut Hosts,
        spent: Duration,
        sustained: &Sustained,
        phases: &mut Phases,
        end: &End,
    ) -> Result<bool> {
        let asked = self.experiment.spec.side_runs;
        let over_ns = end.wall_ns.saturating_add(nanos(spent));
        if !asked.depth_check || end.interrupted || end.gave_up {
            return Ok(end.interrupted);
        }
        let measured = phases.as_counted(&self.experiment.spec);
        let Some(spec) = depth_check(&measured, &phases.finish(Some(end))) else {
            return Ok(false);
        };
        if !fits(&self.experiment.spec, over_ns, &spec) {
            return Ok(false);
        }
        let sustained = sustained.of_follow_up(&spec);
        let make = |experiment: &ExperimentHead| Phases::of_depth_check(experiment, phases);
        let what = SideRecord::DepthCheck;
        let (check, ended) = self.run(host, what, spec, &sustained, make, iotax_run::trials)?;
        phases.checked_at_depths(&check);
        if ended.interrupted || !asked.below_cap {
            return Ok(ended.interrupted);
        }
        let Some(spec) = below_the_cap(&measured, &phases.finish(Some(end))) else {
            return Ok(false);
        };
        if !fits(&self.experiment.spec, over_ns.saturating_add(ended.wall_ns), &spec) {
            return Ok(false);
        }
        let (what, none) = (SideRecord::BelowCap, Sustained::default());
        let (loads, ended) =
            self.run(host, what, spec, &none, Phases::of_loads, iotax_run::trials)?;
        phases.measured_below_caps(&loads, Some(&ended));
        Ok(ended.interrupted)
    }

    fn run(
        &self,
        host: &mut Hosts,
        what: SideRecord,
        spec: Spec,
        sustained: &Sustained,
        make: impl Fn(&ExperimentHead) -> Phases,
        run: impl FnOnce(Setup<'_>) -> Result<End, iotax_run::Error>,
    ) -> Result<(Phases, End)> {
        let plan = Plan::new(&spec);
        let started = Timestamp::now().to_string();
        let experiment = ExperimentHead { spec, started, ..self.experiment.clone() };
        let dir = self.dir.enter(what.name());
        let dir = dir.with_context(|| {
            format!("cannot create {} in {}", what.name(), self.dir.shown().display())
        })?;
        let mut writer = Writer::create(&dir, &experiment)?;
        let mut phases = make(&experiment);
        let shown = timed(&plan, &experiment.spec);
        let mut line =
            ProgressLine::new(&shown, &self.session.live, self.quiet).titled(what.name());
        let setup = Setup {
            experiment: &experiment,
            plan: &plan,
            host,
            stop: &self.session.stop,
            clock: &Monotonic::start(),
            sustained,
            spent: Duration::ZERO,
            writer: &mut writer,
            phases: &mut phases,
            observer: &mut line,
        };
        let end = run(setup)?;
        Ok((phases, end))
    }
}

/// The plan without passes over spans, whose duration it does not know.
fn timed(plan: &Plan, spec: &Spec) -> Plan {
    let mut timed = plan.clone();
    let fills = spec.side_phases.iter().take_while(|phase| phase.role == SideRole::Fill);
    timed.phases.drain(..fills.count());
    timed
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Whether `spec` fits into the time limit of the experiment, of which `over_ns` has passed.
fn fits(main: &Spec, over_ns: u64, spec: &Spec) -> bool {
    let (_, longest_ns) = Plan::new(spec).duration_ns();
    main.stop.max_time_ns.is_none_or(|limit| over_ns.saturating_add(longest_ns) <= limit)
}
