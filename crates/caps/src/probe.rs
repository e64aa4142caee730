//! The seam between the search and whoever makes its probes.

use iotax_experiment::Probe;
use iotax_record::{Environment, JobRecord, LoadRecord, SystemCounters, TcpRecord};
use serde::{Deserialize, Serialize};

/// I/Os that a second must have to be a window of its own.
const SECOND_IOS: f64 = 300.0;
/// I/Os that may be in a window or beside it.
const EDGE_IOS: f64 = 1.5;

/// The same of a stream.
const EDGE_BLOCKS: f64 = 5.0;

/// Makes probes.
pub trait Prober {
    /// Drives the load of a probe and returns one observation per place, in their order.
    ///
    /// # Errors
    /// [`Ended`] if there will be no more probes; the search ends with what it has.
    fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended>;

    /// Leaves all targets alone for so long.
    ///
    /// # Errors
    /// As [`Prober::probe`].
    fn pause(&mut self, pause_ns: u64) -> Result<(), Ended>;
}

/// Why there are no more probes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The user stopped it, or the record was cut off.
    Interrupted,
    /// No I/O completed on a target, and none failed.
    Silent { target: String },
    /// A target does not work; as whoever drove it tells it.
    Failed(String),
}

/// What came of a probe on one target.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// I/Os completed in the window.
    pub ios: u64,
    pub bytes: u64,
    /// Length of the window, in nanoseconds.
    pub active_ns: u64,
    /// Mean latency, in nanoseconds.
    pub mean_latency_ns: f64,
    /// I/Os in flight, as counted; 0 if they were not.
    pub in_flight: f64,
    /// Share of its time that the load's busiest thread computed. `None` where waiting computes
    /// too, so that it says nothing.
    pub busy: Option<f64>,
    /// Share of its time that the load's threads were ready to run and had to wait for a CPU, if
    /// the kernel counts that.
    pub cpu_wait: Option<f64>,
    /// The same as `busy` of the far end of a network path, on a host of its own; on this host
    /// `busy` has the busier of both.
    pub far_busy: Option<f64>,
    /// What the kernel knows of its TCP connections.
    pub tcp: Option<TcpRecord>,
    /// What all CPUs did meanwhile. `None` as for `busy`.
    pub processors: Option<Processors>,
    /// I/Os completed in each whole second of the window.
    pub per_second_ios: Vec<u32>,
    /// I/Os that failed.
    pub errors: u64,
    /// The first error, for people.
    pub first_error: Option<String>,
}

impl Observation {
    /// From what a load driver measured on this machine.
    pub fn of(load: &LoadRecord, environment: &Environment) -> Self {
        let Some(job) = load.jobs.first() else { return Self::default() };
        let active_ns = job.active_ns.max(1) as f64;
        let threads = f64::from(job.threads.max(1));
        let cpu_ns = job.cpu_user_ns.saturating_add(job.cpu_system_ns);
        // That engine waits for simulated time by looking at the clock: its CPU time says nothing.
        let is_spinning = job.engine == "vdisk";
        let working = |waiting_ns: u64| 1.0 - (waiting_ns as f64 / (threads * active_ns)).min(1.0);
        let far = load.far_end.map(|far| (far.same_host, far.cpu_ns as f64));
        let far_here_ns = far.filter(|(same_host, _)| *same_host).map_or(0.0, |(_, ns)| ns);
        let processors = || {
            let mut processors = Processors::of(&load.system, load.window_ns, environment)?;
            processors.process += far_here_ns / load.window_ns.max(1) as f64;
            Some(processors)
        };
        // All datagrams come to one thread of the peer; each connection has its own.
        let far_threads = if job.udp.is_some() { 1.0 } else { threads };
        let far_share = |ns: f64| ns / (far_threads * load.window_ns.max(1) as f64);
        let busy = (cpu_ns as f64 / (threads * active_ns)).max(far_share(far_here_ns));
        let (ios, bytes) = arrived(job);
        Self {
            processors: (!is_spinning).then(processors).flatten(),
            ios,
            bytes,
            far_busy: far.filter(|(same_host, _)| !same_host).map(|(_, ns)| far_share(ns)),
            tcp: job.tcp,
            active_ns: job.active_ns,
            mean_latency_ns: job.latency_from(false).mean_ns(),
            in_flight: job.in_flight_io_ns as f64 / active_ns,
            busy: if is_spinning { job.waiting_ns.map(working) } else { Some(busy) },
            cpu_wait: job.cpu_wait_ns.map(|ns| ns as f64 / (threads * active_ns)),
            // What was sent in a second says nothing of what came in it.
            per_second_ios: if job.udp.is_some() { Vec::new() } else { job.per_second_ios() },
            errors: job.errors(),
            first_error: job.first_error.clone(),
        }
    }

    /// I/Os per second.
    pub fn iops(&self) -> f64 {
        self.ios as f64 * 1e9 / self.active_ns.max(1) as f64
    }

    /// I/Os per second of windows as short as they can be: each second, if enough I/Os end in it.
    pub(crate) fn windows(&self) -> Vec<f64> {
        if self.has_seconds() {
            self.per_second_ios.iter().map(|ios| f64::from(*ios)).collect()
        } else {
            vec![self.iops()]
        }
    }

    /// The share of such a window's rate that an I/O at either edge makes.
    pub(crate) fn grain(&self) -> f64 {
        let ios = if self.has_seconds() { self.iops() } else { self.ios as f64 };
        // A connection's buffers take several blocks at once.
        let edge = if self.tcp.is_some() { EDGE_BLOCKS } else { EDGE_IOS };
        edge / ios.max(1.0)
    }

    fn has_seconds(&self) -> bool {
        self.per_second_ios.len() > 1 && self.iops() >= SECOND_IOS
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.active_ns.max(1) as f64
    }
}

/// I/Os and their bytes; of datagrams, those that came.
fn arrived(job: &JobRecord) -> (u64, u64) {
    let (ios, bytes) = (job.ios(), job.bytes());
    match job.udp {
        Some(udp) => (udp.received, udp.received * (bytes / ios.max(1))),
        None => (ios, bytes),
    }
}

/// How much the CPUs worked in the window; in CPUs, so that 1.5 is one and a half of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Processors {
    /// CPUs that this process may use.
    pub usable: f64,
    /// The whole machine, as a share of all its CPUs.
    pub busy: Option<f64>,
    /// CPUs of the machine.
    pub all: f64,
    /// This process, with the kernel's workers that belong to it.
    pub process: f64,
    /// All kernel threads, whomever they serve.
    pub kernel_threads: Option<f64>,
}

impl Processors {
    /// `None` if the system did not tell.
    fn of(counters: &SystemCounters, window_ns: u64, environment: &Environment) -> Option<Self> {
        let in_cpus = |ns: u64| ns as f64 / window_ns.max(1) as f64;
        let all = f64::from(environment.cpus.max(1));
        Some(Self {
            usable: environment.cgroup_cpus.map_or(all, |limit| limit.min(all)),
            busy: counters.cpu_busy_ns.map(|ns| in_cpus(ns) / all),
            all,
            process: in_cpus(counters.process_cpu_ns?),
            kernel_threads: counters.kernel_threads_cpu_ns.map(in_cpus),
        })
    }
}

#[cfg(test)]
mod tests {
    use iotax_record::{DirectionRecord, FarEndRecord, UdpRecord};

    use super::*;

    /// Two threads, half a second of CPU time each in two, on a machine of four CPUs.
    fn job() -> JobRecord {
        let read = DirectionRecord {
            ios: 6000,
            bytes: 6000 * 4096,
            errors: 2,
            per_second_ios: vec![2900, 3100],
            ..DirectionRecord::default()
        };
        JobRecord {
            engine: "io_uring".to_owned(),
            threads: 2,
            active_ns: 2_000_000_000,
            read,
            cpu_user_ns: 300_000_000,
            cpu_system_ns: 700_000_000,
            waiting_ns: Some(1_000_000_000),
            cpu_wait_ns: Some(400_000_000),
            in_flight_io_ns: 64_000_000_000,
            ..JobRecord::default()
        }
    }

    fn load(job: JobRecord, far_end: Option<FarEndRecord>) -> LoadRecord {
        LoadRecord {
            window_ns: 2_000_000_000,
            jobs: vec![job],
            system: SystemCounters {
                process_cpu_ns: Some(1_500_000_000),
                cpu_busy_ns: Some(4_000_000_000),
                kernel_threads_cpu_ns: Some(500_000_000),
                ..SystemCounters::default()
            },
            far_end,
            ..LoadRecord::default()
        }
    }

    fn observed(load: &LoadRecord) -> Observation {
        Observation::of(load, &Environment { cpus: 4, ..Environment::default() })
    }

    #[test]
    fn an_observation_is_what_was_recorded_per_second_per_thread_and_in_cpus() {
        let seen = observed(&load(job(), None));
        assert_eq!((seen.iops(), seen.bytes_per_s()), (3000.0, 3000.0 * 4096.0));
        assert_eq!((seen.in_flight, seen.errors), (32.0, 2));
        assert_eq!((seen.busy, seen.cpu_wait, seen.far_busy), (Some(0.25), Some(0.1), None));
        assert_eq!(seen.per_second_ios, [2900, 3100]);
        assert_eq!(
            seen.processors,
            Some(Processors {
                usable: 4.0,
                busy: Some(0.5),
                all: 4.0,
                process: 0.75,
                kernel_threads: Some(0.25)
            })
        );
        let limited = Environment { cpus: 4, cgroup_cpus: Some(0.5), ..Environment::default() };
        let seen = Observation::of(&load(job(), None), &limited);
        assert_eq!(seen.processors.map(|cpus| cpus.usable), Some(0.5));
        assert_eq!(Observation::of(&LoadRecord::default(), &limited), Observation::default());
    }

    #[test]
    fn an_engine_that_waits_by_looking_at_the_clock_is_busy_when_it_does_not_wait() {
        let spinning = JobRecord { engine: "vdisk".to_owned(), ..job() };
        let seen = observed(&load(spinning, None));
        assert_eq!((seen.busy, seen.processors), (Some(0.75), None));
    }

    #[test]
    fn the_far_end_counts_here_on_the_same_host_and_there_on_its_own() {
        let far = |same_host, cpu_ns| {
            let far = FarEndRecord { same_host, cpu_ns, ..FarEndRecord::default() };
            observed(&load(job(), Some(far)))
        };
        let here = far(true, 2_000_000_000);
        assert_eq!((here.busy, here.far_busy), (Some(0.5), None));
        assert_eq!(here.processors.map(|cpus| cpus.process), Some(1.75));
        let there = far(false, 2_000_000_000);
        assert_eq!((there.busy, there.far_busy), (Some(0.25), Some(0.5)));
        assert_eq!(there.processors.map(|cpus| cpus.process), Some(0.75));
    }

    #[test]
    fn of_datagrams_those_count_that_came_and_one_thread_of_the_peer_takes_them() {
        let udp = UdpRecord { received: 1000, ..UdpRecord::default() };
        let far = FarEndRecord { cpu_ns: 1_000_000_000, ..FarEndRecord::default() };
        let seen = observed(&load(JobRecord { udp: Some(udp), ..job() }, Some(far)));
        assert_eq!((seen.ios, seen.bytes), (1000, 1000 * 4096));
        assert_eq!((seen.far_busy, seen.per_second_ios.len()), (Some(0.5), 0));
    }

    #[test]
    fn a_second_with_enough_ios_is_a_window_of_its_own() {
        let of = |iops: u64, seconds: u64| {
            let per_second_ios =
                vec![u32::try_from(iops).unwrap(); usize::try_from(seconds).unwrap()];
            let seen = Observation {
                ios: iops * seconds,
                active_ns: seconds * 1_000_000_000,
                per_second_ios,
                ..Observation::default()
            };
            (seen.windows().len(), (seen.grain() * 1e6).round())
        };
        assert_eq!(of(300, 4), (4, 5000.0));
        assert_eq!(of(299, 4), (1, 1254.0));
        assert_eq!(of(600, 1), (1, 2500.0));
        assert_eq!(of(0, 2), (1, 1_500_000.0));
        let tcp = Some(TcpRecord::default());
        let stream =
            Observation { ios: 500, active_ns: 1_000_000_000, tcp, ..Observation::default() };
        assert_eq!(stream.grain(), 0.01);
    }
}
