//! Two containers of one pod that share a workload: a driver that writes, a searcher that reads.

use std::thread;

use iotax_experiment::{Driver, Fault, IndexEnds, Spec, Workload};
use iotax_load::LayoutProgress;
use iotax_record::{LoadRecord, PauseRecord, Site, SystemCounters};
use iotax_run::agent::Remote;
use iotax_run::{AgentError, Arms, Error, Files, Measured, Runner, Task, TrialRequest};

/// An agent in each container, on the one volume of the pod.
pub(crate) struct Pair {
    pub(crate) driver: Remote,
    pub(crate) searcher: Remote,
}

impl Arms for Pair {
    fn up(&mut self, arm: usize) -> Result<Files, Error> {
        let both = [self.driver.up(arm)?, self.searcher.up(arm)?];
        Ok(if both.contains(&Files::Missing) { Files::Missing } else { Files::AreThere })
    }

    fn site(&self, arm: usize) -> &Site {
        self.searcher.site(arm)
    }

    fn is_made_anew(&self, arm: usize) -> bool {
        self.driver.is_made_anew(arm) || self.searcher.is_made_anew(arm)
    }

    fn down(self: Box<Self>) -> Result<(), Error> {
        let Self { driver, searcher } = *self;
        let down = Box::new(searcher).down();
        down.and(Box::new(driver).down())
    }
}

impl Runner for Pair {
    fn prepare(
        &mut self,
        arm: usize,
        driver: Driver,
        workloads: &[&Workload],
        progress: &LayoutProgress<'_>,
    ) -> Result<(), Error> {
        let mut of_driver = Vec::new();
        let mut of_searcher = Vec::new();
        for workload in workloads {
            let [driving, searching] = divided(workload)?;
            of_driver.push(driving);
            // The searcher does not publish.
            of_searcher.push(Workload { index: None, ..searching });
        }
        self.driver.prepare(arm, driver, &of_driver.iter().collect::<Vec<_>>(), progress)?;
        self.searcher.prepare(arm, driver, &of_searcher.iter().collect::<Vec<_>>(), progress)
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        let (whole, [driving, searching]) = match &request.task {
            Task::Run(workload) => (workload, divided(workload)?.map(Task::Run)),
            Task::Fill(workload) => (workload, divided(workload)?.map(Task::Fill)),
        };
        let published_in = self.driver.directory(request.arm).map(ToOwned::to_owned);
        let Some(published_in) = published_in else {
            return Err(failed("an index requires a file system; choose another target"));
        };
        let driving =
            TrialRequest { task: driving, index_ends: IndexEnds::Driver, ..request.clone() };
        let searching = TrialRequest {
            task: searching,
            index_ends: IndexEnds::Searcher { published_in },
            ..request.clone()
        };
        let Self { driver, searcher } = self;
        let (driven, searched) = thread::scope(|scope| {
            let driven = scope.spawn(|| driver.trial(&driving));
            let searched = searcher.trial(&searching);
            (driven.join().expect("a trial does not panic"), searched)
        });
        Ok(together(whole, driven?, searched?))
    }
}

fn divided(workload: &Workload) -> Result<[Workload; 2], Error> {
    workload.driver_and_searcher().ok_or_else(|| {
        failed(&format!(
            "{}: with two containers, the workload needs jobs that write and jobs that only read",
            workload.name
        ))
    })
}

/// The part of each of them.
///
/// # Errors
/// If there is a phase that cannot be divided.
pub(crate) fn divided_spec(spec: &Spec) -> Result<[Spec; 2], Error> {
    let phases: Vec<[Workload; 2]> = spec.phases().map(divided).collect::<Result<_, _>>()?;
    let searching =
        phases.iter().map(|[_, other]| Workload { index: None, ..other.clone() }).collect();
    let driving = phases.into_iter().map(|[one, _]| one).collect();
    Ok([driving, searching].map(|phases| spec.with(|draft| draft.phases = phases)))
}

fn failed(why: &str) -> Error {
    AgentError::Failed { error: why.to_owned(), fault: Fault::Usage }.into()
}

/// The combined result of both. Counters of the node are those of the searcher.
fn together(workload: &Workload, driven: Measured, searched: Measured) -> Measured {
    let of = |who: &str, load: Result<LoadRecord, String>| {
        load.map_err(|error| format!("container {who}: {error}"))
    };
    let loads = of("driver", driven.load).and_then(|driven| {
        let searched = of("searcher", searched.load)?;
        Ok((driven, searched))
    });
    Measured {
        drained_ns: driven.drained_ns.max(searched.drained_ns),
        load: loads.map(|(driven, searched)| merged(workload, driven, searched)),
        counters: searched.counters,
    }
}

fn merged(workload: &Workload, driven: LoadRecord, searched: LoadRecord) -> LoadRecord {
    let mut jobs: Vec<_> = driven.jobs.into_iter().chain(searched.jobs).collect();
    let place = |name: &str| workload.jobs.iter().position(|job| job.name == name);
    jobs.sort_by_key(|job| place(&job.name));
    let (own, other) = (searched.system, driven.system);
    LoadRecord {
        window_ns: searched.window_ns.min(driven.window_ns),
        jobs,
        operations: driven.operations.into_iter().chain(searched.operations).collect(),
        system: SystemCounters {
            process_cpu_ns: sum(own.process_cpu_ns, other.process_cpu_ns),
            device_read_bytes: sum(own.device_read_bytes, other.device_read_bytes),
            device_write_bytes: sum(own.device_write_bytes, other.device_write_bytes),
            ..own
        },
        warnings: driven.warnings.into_iter().chain(searched.warnings).collect(),
        driver: searched.driver,
        far_end: searched.far_end,
        busiest: searched.busiest,
        paused: [searched.paused, driven.paused].into_iter().flatten().reduce(PauseRecord::and),
        replay: None,
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a + b)
}
