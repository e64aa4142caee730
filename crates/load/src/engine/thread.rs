//! One thread of one job: what it works on, and with what.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use iotax_experiment::{Engine as EngineKind, Job, Pace};
use rustix::fs::{Advice, fadvise};
use rustix::io::Errno;

use super::access::Seat;
use super::buffers::Buffers;
use super::pace::Schedule;
use super::ring::io_uring_is_allowed;
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
                    "engine `{}` drives load over a network path, and {other} is none; name \
                     one such as `netns`, or choose another workload",
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
        u16::try_from(self.files.len()).expect("`Places` gives at most so many")
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
