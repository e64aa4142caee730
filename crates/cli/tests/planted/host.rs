//! A host in virtual time whose trials are those of a [`Disk`].

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use iotax_experiment::{Driver, Job, Workload};
use iotax_load::LayoutProgress;
use iotax_record::{DirectionRecord, JobRecord, LatencyHistogram, LoadRecord, Site};
use iotax_run::{Arms, Clock, Error, Event, Files, Measured, Observer, Runner, Task, TrialRequest};

use super::storage::{Disk, Turn};

#[derive(Clone, Default)]
pub(super) struct Time(Rc<Cell<Duration>>);

impl Clock for Time {
    fn now(&self) -> Duration {
        self.0.get()
    }
}

pub(super) struct Scripted {
    time: Time,
    disk: Disk,
    site: Site,
}

impl Scripted {
    pub(super) fn new(disk: Disk) -> Self {
        Self { time: Time::default(), disk, site: Site::default() }
    }

    pub(super) fn time(&self) -> Time {
        self.time.clone()
    }
}

impl Arms for Scripted {
    fn up(&mut self, _: usize) -> Result<Files, Error> {
        Ok(Files::AreThere)
    }

    fn site(&self, _: usize) -> &Site {
        &self.site
    }

    fn is_made_anew(&self, _: usize) -> bool {
        false
    }

    fn down(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

impl Runner for Scripted {
    fn prepare(
        &mut self,
        _: usize,
        _: Driver,
        _: &[&Workload],
        _: &LayoutProgress<'_>,
    ) -> Result<(), Error> {
        Ok(())
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        let spent = Duration::from_nanos(request.ramp_ns + request.time_ns);
        self.time.0.set(self.time.0.get() + spent);
        let (Task::Run(workload) | Task::Fill(workload)) = &request.task;
        let load =
            match self.disk.trial(request.arm, workload.jobs[0].queue_depth, spent.as_secs_f64()) {
                Turn::Rate(iops) => Ok(load(&workload.jobs[0], iops, request.time_ns)),
                Turn::Dies => Err("the agent was lost: its connection is closed".to_owned()),
            };
        Ok(Measured { drained_ns: 0, load, counters: None })
    }
}

/// A closed loop at this rate, whatever the depth.
fn load(job: &Job, rate: f64, window_ns: u64) -> LoadRecord {
    let ios = (rate * window_ns as f64 / 1e9) as u64;
    let depth = u64::from(job.queue_depth);
    let mut service = LatencyHistogram::new();
    service.record_many(depth * window_ns / ios.max(1), ios);
    let seconds = (window_ns / 1_000_000_000) as usize;
    let read = DirectionRecord {
        ios,
        bytes: ios * 4096,
        service,
        per_second_ios: vec![rate as u32; seconds],
        ..DirectionRecord::default()
    };
    let job = JobRecord {
        name: job.name.clone(),
        engine: "psync".to_owned(),
        threads: 1,
        queue_depth: job.queue_depth,
        active_ns: window_ns,
        in_flight_io_ns: depth * window_ns,
        read,
        ..JobRecord::default()
    };
    LoadRecord { driver: "native".to_owned(), window_ns, jobs: vec![job], ..LoadRecord::default() }
}

pub(super) struct Silent;

impl Observer for Silent {
    fn on(&mut self, _: &Event<'_>) {}
}
