//! What is run beside an experiment: its arms drained before, and, where they turn out equal, other
//! loads after it. Is there a cap above them, and what does it hide?

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use iotax_analyze::{Phases, Sustained, below_the_cap, depth_check, drain_spec};
use iotax_plan::Plan;
use iotax_record::{End, Experiment, SideRecord, Writer};
use iotax_rig::Rig;
use iotax_run::{Drivers, Setup};
use iotax_spec::Spec;
use jiff::Timestamp;

use crate::progress::ProgressLine;

/// The arms, up and prepared, and where the main experiment's record is.
pub struct Ground<'a> {
    pub dir: &'a Path,
    pub experiment: &'a Experiment,
    pub rig: &'a mut Rig,
    pub drivers: &'a Drivers,
    pub stop: &'a Arc<AtomicBool>,
    pub quiet: bool,
}

impl Ground<'_> {
    /// Spends the burst credits of all arms, each for at most `limit_ns`. Returns what each then
    /// keeps up, and adds it to `phases`.
    pub fn drain(&mut self, limit_ns: u64, phases: &mut Phases) -> Result<Sustained> {
        let spec = drain_spec(&self.experiment.spec, limit_ns);
        let (stretches, _) =
            self.run(SideRecord::Drain, spec, &Sustained::default(), Phases::new)?;
        Ok(phases.drained_by(&stretches))
    }

    /// Runs what the results so far call for, and adds it to `phases`. Returns whether the user
    /// stopped it.
    pub fn follow_up(
        &mut self,
        sustained: &Sustained,
        phases: &mut Phases,
        end: &End,
    ) -> Result<bool> {
        let asked = self.experiment.spec.side_runs;
        if !asked.depth_check || end.interrupted || end.gave_up {
            return Ok(end.interrupted);
        }
        let Some(spec) = depth_check(&self.experiment.spec, &phases.finish(Some(end))) else {
            return Ok(false);
        };
        if !fits(&self.experiment.spec, end.wall_ns, &spec) {
            return Ok(false);
        }
        let sustained = sustained.of_follow_up(&self.experiment.spec, &spec);
        let make = |experiment: &Experiment| Phases::of_depth_check(experiment, phases);
        let (check, ended) = self.run(SideRecord::DepthCheck, spec, &sustained, make)?;
        phases.checked_at_depths(&check);
        if ended.interrupted || !asked.unmask {
            return Ok(ended.interrupted);
        }
        let Some(spec) = below_the_cap(&self.experiment.spec, &phases.finish(Some(end))) else {
            return Ok(false);
        };
        if !fits(&self.experiment.spec, end.wall_ns.saturating_add(ended.wall_ns), &spec) {
            return Ok(false);
        }
        let (loads, ended) =
            self.run(SideRecord::Unmask, spec, &Sustained::default(), Phases::of_loads)?;
        phases.unmasked_by(&loads, Some(&ended));
        Ok(ended.interrupted)
    }

    fn run(
        &mut self,
        what: SideRecord,
        spec: Spec,
        sustained: &Sustained,
        make: impl Fn(&Experiment) -> Phases,
    ) -> Result<(Phases, End)> {
        let plan = Plan::new(&spec);
        let started = Timestamp::now().to_string();
        let experiment = Experiment { spec, started, ..self.experiment.clone() };
        let mut writer = Writer::create(&what.directory(self.dir), &experiment)?;
        let mut phases = make(&experiment);
        let mut line = ProgressLine::new(&plan, self.quiet).titled(what.name());
        let run = if what == SideRecord::Drain { iotax_run::drain } else { iotax_run::run };
        let setup = Setup {
            experiment: &experiment,
            plan: &plan,
            rig: self.rig,
            drivers: self.drivers,
            stop: self.stop,
            live: None,
            sustained,
        };
        let end = run(setup, &mut writer, &mut phases, &mut line)?;
        Ok((phases, end))
    }
}

/// Whether the time that the experiment was given, of which so much is over, is enough for this, too.
fn fits(main: &Spec, over_ns: u64, spec: &Spec) -> bool {
    let (_, longest_ns) = Plan::new(spec).duration_ns();
    main.stop.max_time_ns.is_none_or(|limit| over_ns.saturating_add(longest_ns) <= limit)
}
