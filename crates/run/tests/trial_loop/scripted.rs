//! A host that does nothing, in virtual time: what each trial comes to is in a script.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iotax_analyze::{Phases, Sustained, drain_spec, precondition_spec};
use iotax_experiment::plan::Plan;
use iotax_experiment::{Arm, Driver, Spec, Stop, StopMode, Target, Workload};
use iotax_load::{Error as LoadError, LayoutProgress};
use iotax_record::{
    DirectionRecord, End, ExperimentHead, FORMAT, JobRecord, LatencyHistogram, LoadRecord, Reader,
    Site, Trial, Writer,
};
use iotax_run::{
    Arms, Clock, Error, Event, Files, Measured, Observer, Runner, Setup, TrialRequest,
};

/// What an arm takes to come up, and a trial beyond its load.
pub(crate) const UP: Duration = Duration::from_secs(2);

/// What it takes to spend the credits that came back.
pub(crate) const DRAINED: Duration = Duration::from_secs(2);

/// What happens in a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Turn {
    /// So many I/Os per second.
    Rate(f64),
    /// The load fails.
    Fails,
    /// The arm does not come up.
    StaysDown,
    /// The user presses Ctrl-C.
    Interrupted,
}

/// What the host was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    Prepared(usize),
    Trial(Box<TrialRequest>),
}

#[derive(Clone, Default)]
pub(crate) struct Time(Rc<Cell<Duration>>);

impl Clock for Time {
    fn now(&self) -> Duration {
        self.0.get()
    }
}

impl Time {
    pub(crate) fn passes(&self, time: Duration) {
        self.0.set(self.0.get() + time);
    }
}

/// The host; `script` is asked with the arm, and how many trials it has had.
pub(crate) struct Scripted<'a> {
    time: Time,
    stop: &'a AtomicBool,
    script: &'a dyn Fn(usize, u32) -> Turn,
    files: Files,
    turns: Vec<u32>,
    site: Site,
    asked: Rc<RefCell<Vec<Asked>>>,
}

impl Scripted<'_> {
    fn turn(&self, arm: usize) -> Turn {
        (self.script)(arm, self.turns[arm])
    }
}

impl Arms for Scripted<'_> {
    fn up(&mut self, arm: usize) -> Result<Files, Error> {
        self.time.passes(UP);
        if let Turn::StaysDown = self.turn(arm) {
            self.turns[arm] += 1;
            return Err(LoadError::NoProgram { name: "fio" }.into());
        }
        Ok(self.files)
    }

    fn site(&self, _: usize) -> &Site {
        &self.site
    }

    fn is_made_anew(&self, _: usize) -> bool {
        self.files == Files::Missing
    }

    fn down(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

impl Runner for Scripted<'_> {
    fn prepare(
        &mut self,
        arm: usize,
        _: Driver,
        _: &[&Workload],
        _: &LayoutProgress<'_>,
    ) -> Result<(), Error> {
        self.asked.borrow_mut().push(Asked::Prepared(arm));
        Ok(())
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        self.asked.borrow_mut().push(Asked::Trial(Box::new(request.clone())));
        let turn = self.turn(request.arm);
        self.turns[request.arm] += 1;
        let drained = request.sustained_iops.map_or(Duration::ZERO, |_| DRAINED);
        self.time.passes(drained + Duration::from_nanos(request.ramp_ns + request.time_ns));
        let load = match turn {
            Turn::Rate(iops) => Ok(load(iops, request.time_ns)),
            Turn::Fails | Turn::StaysDown => Err("the disk is on fire".to_owned()),
            Turn::Interrupted => {
                self.stop.store(true, Ordering::Relaxed);
                Ok(load(1.0, request.time_ns))
            }
        };
        let drained_ns = drained.as_nanos().try_into().unwrap();
        Ok(Measured { drained_ns, load, counters: None })
    }
}

/// A load at a steady rate, one I/O after the other.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) fn load(rate: f64, window_ns: u64) -> LoadRecord {
    let ios = (rate * window_ns as f64 / 1e9) as u64;
    let mut service = LatencyHistogram::new();
    service.record_many(window_ns / ios.max(1), ios);
    let read = DirectionRecord {
        ios,
        bytes: ios * 4096,
        service,
        per_second_ios: vec![rate as u32; (window_ns / 1_000_000_000) as usize],
        ..DirectionRecord::default()
    };
    let job = JobRecord {
        name: "read".to_owned(),
        engine: "vdisk".to_owned(),
        threads: 1,
        queue_depth: 1,
        active_ns: window_ns,
        in_flight_io_ns: window_ns,
        read,
        ..JobRecord::default()
    };
    LoadRecord { driver: "native".to_owned(), window_ns, jobs: vec![job], ..LoadRecord::default() }
}

/// What came of an experiment.
pub(crate) struct Ran {
    pub end: End,
    pub trials: Vec<Trial>,
    pub asked: Vec<Asked>,
    pub plan: Plan,
}

/// An experiment on so many arms, of 10 s windows.
pub(crate) struct Bench {
    pub spec: Spec,
    pub files: Files,
    pub sustained: Sustained,
    pub spent: Duration,
}

impl Bench {
    pub(crate) fn new(arms: usize, change: impl FnOnce(&mut Stop)) -> Self {
        let mut workload = Workload::preset("randread-4k").unwrap();
        (workload.ramp_ns, workload.time_ns) = (1_000_000_000, 10_000_000_000);
        "read".clone_into(&mut workload.jobs[0].name);
        "read".clone_into(&mut workload.primary);
        let arm = |number| Arm::new(format!("arm {number}"), Target::Path("/".into()));
        let arms = (0..arms).map(arm).collect();
        let mut stop = Stop {
            mode: StopMode::Quick,
            max_blocks: 12,
            max_blocks_asked: true,
            ..Stop::default()
        };
        change(&mut stop);
        let spec = Spec::compare(workload, arms, stop, 7).unwrap();
        let sustained = Sustained::default();
        Self { spec, files: Files::AreThere, sustained, spent: Duration::ZERO }
    }

    /// One that ends after so many blocks, whatever they show.
    pub(crate) fn of_blocks(arms: usize, blocks: u32) -> Self {
        Self::new(arms, |stop| (stop.min_blocks, stop.max_blocks) = (blocks, blocks))
    }

    /// The same after its arms were drained, for so long at most; the script is of that.
    pub(crate) fn drained(self, limit: Duration, script: impl Fn(usize, u32) -> Turn) -> Self {
        let spec = drain_spec(&self.spec, u64::try_from(limit.as_nanos()).unwrap());
        let mut phases = Phases::new(&experiment(self.spec.clone()));
        let bench = Self { spec, sustained: Sustained::default(), ..self };
        let (_, stretches) = bench.performed(&script, iotax_run::drain);
        let sustained = phases.drained_by(&stretches);
        Self { sustained, ..self }
    }

    /// What comes of preconditioning its arms, if they are written.
    pub(crate) fn preconditioned(mut self, script: &dyn Fn(usize, u32) -> Turn) -> Ran {
        self.spec = self.spec.with(|spec| spec.phases[0].jobs[0].read_percent = 0);
        let measured = [self.spec.workload().clone()];
        let spec = precondition_spec(&self.spec).unwrap();
        let bench = Self { spec, ..self };
        let perform = |setup: Setup<'_>| iotax_run::precondition(setup, &measured, Duration::ZERO);
        bench.performed(script, perform).0
    }

    pub(crate) fn run(self, script: impl Fn(usize, u32) -> Turn) -> Ran {
        self.performed(&script, iotax_run::trials).0
    }

    /// What comes of `perform`, and what is seen in its trials.
    fn performed(
        &self,
        script: &dyn Fn(usize, u32) -> Turn,
        perform: impl FnOnce(Setup<'_>) -> Result<End, Error>,
    ) -> (Ran, Phases) {
        let (time, stop) = (Time::default(), AtomicBool::new(false));
        let asked = Rc::default();
        let mut host = Scripted {
            time: time.clone(),
            stop: &stop,
            script,
            files: self.files,
            turns: vec![0; self.spec.arms.len()],
            site: Site::default(),
            asked: Rc::clone(&asked),
        };
        let plan = Plan::new(&self.spec);
        let experiment = experiment(self.spec.clone());
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("record");
        let mut writer = Writer::create(&dir, &experiment).unwrap();
        let mut phases = Phases::new(&experiment);
        let setup = Setup {
            experiment: &experiment,
            plan: &plan,
            host: &mut host,
            stop: &stop,
            clock: &time,
            sustained: &self.sustained,
            spent: self.spent,
            writer: &mut writer,
            phases: &mut phases,
            observer: &mut Silent,
        };
        let end = perform(setup).unwrap();
        // What is on disk, not what was said.
        let reader = Reader::<ExperimentHead>::open(&dir).unwrap();
        assert_eq!(reader.end.as_ref(), Some(&end));
        let trials = reader.lines().unwrap().map(Result::unwrap).collect();
        drop(host);
        let asked = asked.take();
        (Ran { end, trials, asked, plan }, phases)
    }
}

pub(crate) fn experiment(spec: Spec) -> ExperimentHead {
    ExperimentHead {
        cloud: iotax_experiment::CloudChoice::default(),
        format: FORMAT,
        id: None,
        iotax_version: "0".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        command: Vec::new(),
        hosts: Vec::new(),
        sites: vec![Site::default(); spec.arms.len()],
        spec,
    }
}

pub(crate) struct Silent;

impl Observer for Silent {
    fn on(&mut self, _: &Event<'_>) {}
}
