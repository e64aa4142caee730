//! One thread of one job: what it works on, and with what.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use iotax_experiment::{Engine as EngineKind, Job, Pace};
use iotax_record::JobRecord;
use rustix::fs::{Advice, fadvise};
use rustix::io::Errno;

use super::access::Seat;
use super::gate::Gate;
use super::pace::{Groups, Schedule};
use super::stop::{Running, StopFlags, Through};
use super::supplies::Buffers;
use super::window::{Counts, Tally, Window};
use super::{TscClock, io_uring_is_allowed};
use crate::driver::Request;
use crate::error::Error;
use crate::file_assignment::{Span, TestFile};
use crate::target::{IoTarget, Peer, shown};

/// One thread of one job.
#[derive(Clone)]
pub(crate) struct Thread<'a> {
    pub job: &'a Job,
    /// Its position in the workload.
    pub job_index: usize,
    pub index: u32,
    /// What decides which of its job's I/Os are its own.
    pub seat: Seat,
    pub target: IoTarget<'a>,
    /// The engine really used: on a virtual disk, `vdisk` whatever the job says.
    pub engine: EngineKind,
    /// Those it spreads its I/O over: usually one.
    pub files: Vec<&'a TestFile>,
    /// What it uses of each of them.
    pub span: Span,
    /// Of this thread, among all of the run.
    pub number: u16,
    /// Of this thread.
    pub seed: u64,
    /// Of all threads that repeat data of each other.
    pub sharing: Arc<[u64]>,
}

/// Seeds of what must be independent: mixed into the thread's own.
const SEED_OF_PACE: u64 = 0x7061_6365;
pub(crate) const SEED_OF_DATA: u64 = 0x6461_7461;

impl Thread<'_> {
    /// What it is called.
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.job.name, self.index)
    }

    /// I/Os this thread keeps in flight: synchronous engines take one.
    pub(crate) fn depth(&self) -> u32 {
        effective_depth(self.job, self.engine)
    }

    /// The far end of the network path that it works on.
    pub(crate) fn peer(&self) -> Result<&Peer, Error> {
        match self.target {
            IoTarget::Peer(peer) => Ok(peer),
            other => Err(Error::unsuitable(
                self.job,
                format!(
                    "engine `{}` needs a network path, but {other} is storage; name a network path \
                     such as `netns`, or choose another workload",
                    self.engine.name()
                ),
            )),
        }
    }

    /// Buffers for an engine that has none of its own, one for each I/O in flight.
    pub(crate) fn buffers(&self) -> Result<Buffers, Error> {
        self.buffers_for(self.depth())
    }

    /// The same for so many slots.
    pub(crate) fn buffers_for(&self, slots: u32) -> Result<Buffers, Error> {
        let job = self.job;
        let block_bytes = job.max_block_bytes();
        let seed = self.seed ^ SEED_OF_DATA;
        let reads = job.reads() || job.verify || job.pre_read;
        Buffers::new(slots, block_bytes, reads, job.writes_data(), seed)
    }

    /// The thread's files, opened as the job wants them.
    pub(crate) fn open(&self) -> Result<Vec<File>, Error> {
        self.files.iter().map(|file| self.open_one(file)).collect()
    }

    fn open_one(&self, file: &TestFile) -> Result<File, Error> {
        let (job, path) = (self.job, &file.path);
        let direct = if job.direct { libc::O_DIRECT } else { 0 };
        let write_through = if job.write_through { libc::O_SYNC } else { 0 };
        let mut options = file.options(direct | write_through);
        let file =
            options.read(true).write(job.writes()).open(path).map_err(|source| {
                match source.raw_os_error() {
                    Some(libc::EINVAL) if job.direct => {
                        Error::DirectRefused { path: shown(path), job: job.name.clone() }
                    }
                    _ => Error::path("open", path)(source),
                }
            })?;
        if job.advise {
            self.advise(&file, path)?;
        }
        Ok(file)
    }

    fn advise(&self, file: &File, path: &Path) -> Result<(), Error> {
        let advice = if self.job.jumps() { Advice::Random } else { Advice::Sequential };
        match fadvise(file, 0, None, advice) {
            // Devices and file systems that take no advice do without.
            Ok(()) | Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
            Err(errno) => {
                let source = io::Error::from(errno);
                Err(Error::path("advise the kernel about", path)(source))
            }
        }
    }

    /// Files it spreads its I/O over.
    pub(crate) fn file_count(&self) -> u16 {
        u16::try_from(self.files.len()).expect("a thread has at most 65,535 files")
    }

    /// Of its files, for people.
    pub(crate) fn names(&self) -> Vec<String> {
        self.files.iter().map(|file| file.shown()).collect()
    }

    /// Whether datagrams come to it from a peer.
    pub(crate) fn takes_datagrams(&self) -> bool {
        self.engine.is_datagrams() && self.job.reads()
    }

    /// Whether what the thread writes is read back afterwards.
    pub(crate) fn verifies(&self) -> bool {
        self.job.verify && self.job.writes_data() && !self.engine.does_nothing()
    }

    /// Whether another job verifies what it writes.
    pub(crate) fn leaves_verifying(&self) -> bool {
        self.job.verify_apart && self.job.writes()
    }

    /// Whether what it writes can be verified.
    pub(crate) fn marks_writes(&self) -> bool {
        self.verifies() || self.job.verify_apart && self.job.writes_data()
    }

    /// The intended starts from `start_ns` on, in an open loop.
    pub(crate) fn schedule(&self, start_ns: u64) -> Option<Schedule> {
        let threads = self.job.threads;
        match self.job.pace {
            Pace::Closed => None,
            Pace::Even { iops } => Some(Schedule::even(start_ns, iops, self.index, threads)),
            Pace::Poisson { iops } => {
                Some(Schedule::poisson(start_ns, iops, threads, self.seed ^ SEED_OF_PACE))
            }
        }
    }
}

/// The engine that `job` really uses.
pub(crate) fn effective_engine(job: &Job, target: IoTarget<'_>) -> EngineKind {
    match target {
        // No disk can do trees: that is refused by name.
        IoTarget::Disk(_) if !job.engine.has_tree() => EngineKind::Vdisk,
        // Buffered, libaio does one I/O at a time, which is another load.
        _ if job.may_be_stood_in_for() && !io_uring_is_allowed() => EngineKind::Libaio,
        _ => job.engine,
    }
}

/// Whether `engine` drives a job because a sandbox forbids the one that it asks for.
pub(crate) fn stands_in(job: &Job, engine: EngineKind) -> bool {
    engine == EngineKind::Libaio && job.engine == EngineKind::IoUring
}

/// I/Os that each thread of `job` keeps in flight with `engine`.
pub(crate) fn effective_depth(job: &Job, engine: EngineKind) -> u32 {
    if engine.is_async() { job.queue_depth.max(1) } else { 1 }
}

// What one thread did.

/// What one thread did.
pub(crate) struct ThreadRecord {
    /// As the part of its job that it is, without what all threads of a job have alike.
    pub job: JobRecord,
    pub cpu_ns: u64,
    /// The part of the window in which it ran.
    pub active: (u64, u64),
}

impl ThreadRecord {
    /// The facts that were counted, and the first failure.
    pub(crate) fn of_tally(
        thread: &Thread<'_>,
        tally: &mut Tally<'_>,
        first_error: Option<String>,
        window: Window,
        start_ns: u64,
    ) -> Self {
        let (active, usage) = (tally.active, tally.usage);
        // Counted on a second copy of the schedule: the arrivals that the loop never got to are
        // offered too.
        let offered_ios = thread.schedule(start_ns).map(|mut schedule| {
            let before = schedule.count_before(window.open_ns);
            schedule.count_before(active.1.max(window.open_ns)) - before
        });
        let [read, write, trim, sync] = tally.counts.each_mut().map(Counts::take);
        let job = JobRecord {
            read,
            write,
            trim: thread.job.trims.map(|_| trim),
            sync: sync.service,
            cpu_user_ns: usage.user_ns,
            cpu_system_ns: usage.system_ns,
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            context_switches: usage.context_switches,
            cpu_wait_ns: usage.cpu_wait_ns,
            in_flight_io_ns: tally.in_flight_io_ns,
            waiting_ns: Some(tally.waiting_ns).filter(|ns| *ns > 0),
            max_slip_ns: tally.max_slip_ns,
            offered_ios,
            first_error,
            ..JobRecord::default()
        };
        Self { job, cpu_ns: usage.cpu_ns, active }
    }
}

// What all threads of a run share: its request, its clock, and who is through.

/// How often the coordinator looks whether to end early.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// What all threads of a run share.
pub(crate) struct SharedState<'a> {
    pub request: &'a Request<'a>,
    pub clock: TscClock,
    pub gate: Gate,
    /// Those that keep their I/Os in proportion.
    pub flows: Groups,
    pub running: Running,
}

impl<'a> SharedState<'a> {
    /// For so many threads of each job, and those of the index if the workload has one.
    pub(crate) fn new(request: &'a Request<'a>, jobs: &[usize]) -> Self {
        let index = if request.workload.index.is_some() { 2 } else { 0 };
        Self {
            request,
            clock: TscClock::anchored_now(),
            gate: Gate::new(),
            flows: Groups::of(request.workload, jobs),
            running: Running::new(jobs, index),
        }
    }

    pub(crate) fn flags(&self) -> StopFlags<'_> {
        self.running.flags(self.request.stop)
    }

    pub(crate) fn window(&self, start_ns: u64) -> Window {
        let open_ns = start_ns + self.request.ramp_ns;
        Window { open_ns, close_ns: open_ns + self.request.time_ns }
    }

    pub(crate) fn through(&self, job: usize) -> Through<'_> {
        self.running.through(job, self.request.workload.jobs[job].ends_all)
    }
}
