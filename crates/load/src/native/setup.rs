//! Makes one thread's engine and everything its loop needs, before the start.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use iotax_spec::{Engine as EngineKind, Job, Pace, Pattern};
use rustix::fs::{Advice, fadvise};
use rustix::io::Errno;

use super::access::{Accesses, Span};
use super::buffers::Buffers;
use super::drive::{Slots, Worker};
use super::pace::Schedule;
use super::trouble::Trouble;
use super::window::Tally;
use crate::error::Error;
use crate::places::TestFile;
use crate::verify::Scribe;

/// One thread of one job.
#[derive(Clone, Copy)]
pub struct Thread<'a> {
    pub job: &'a Job,
    pub index: u32,
    pub file: &'a TestFile,
    pub span: Span,
    /// Of this thread.
    pub seed: u64,
}

/// Seeds of what must be independent: XORed into the thread's own.
const SEED_OF_PACE: u64 = 0x7061_6365;
const SEED_OF_DATA: u64 = 0x6461_7461;

impl<'a> Thread<'a> {
    /// I/Os this thread keeps in flight: synchronous engines take one.
    pub fn depth(&self) -> u32 {
        effective_depth(self.job, self.job.engine)
    }

    /// Buffers for an engine that has none of its own.
    pub fn buffers(&self) -> Result<Buffers, Error> {
        let job = self.job;
        let block_bytes = job.block_sizes.max_bytes();
        let seed = self.seed ^ SEED_OF_DATA;
        Buffers::new(self.depth(), block_bytes, job.reads() || job.verify, job.writes(), seed)
    }

    /// The thread's file, opened as the job wants it.
    pub fn open(&self) -> Result<File, Error> {
        let (job, path) = (self.job, &self.file.path);
        let mut options = OpenOptions::new();
        options.read(true).write(job.writes());
        if job.direct {
            options.custom_flags(libc::O_DIRECT);
        }
        let file = options.open(path).map_err(|source| match source.raw_os_error() {
            Some(libc::EINVAL) if job.direct => {
                Error::DirectRefused { path: path.clone(), job: job.name.clone() }
            }
            _ => Error::path("open", path)(source),
        })?;
        if job.advise {
            self.advise(&file)?;
        }
        Ok(file)
    }

    fn advise(&self, file: &File) -> Result<(), Error> {
        let advice = match self.job.pattern {
            Pattern::Random => Advice::Random,
            Pattern::Sequential => Advice::Sequential,
        };
        match fadvise(file, 0, None, advice) {
            // Devices and file systems that take no advice do without.
            Ok(()) | Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
            Err(errno) => {
                let source = io::Error::from(errno);
                Err(Error::path("advise the kernel about", &self.file.path)(source))
            }
        }
    }

    /// Everything but the engine. `tally` is made when the start is known.
    pub fn worker<'t>(&self, start_ns: u64, tally: Tally<'t>) -> Worker<'t> {
        Worker {
            accesses: Accesses::new(self.job, self.span, self.seed),
            schedule: self.schedule(start_ns),
            tally,
            scribe: Scribe::new(self.seed ^ SEED_OF_DATA),
            trouble: Trouble::new(self.file.path.display().to_string()),
            slots: Slots::new(self.depth()),
        }
    }

    /// The intended starts from `start_ns` on, in an open loop.
    pub fn schedule(&self, start_ns: u64) -> Option<Schedule> {
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

/// I/Os that each thread of `job` keeps in flight with `engine`.
pub fn effective_depth(job: &Job, engine: EngineKind) -> u32 {
    if engine.is_async() { job.queue_depth.max(1) } else { 1 }
}
