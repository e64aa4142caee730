//! Makes one thread's engine and everything its loop needs, before the start.

use std::fs::File;
use std::io;
use std::path::Path;

use iotax_spec::{Engine as EngineKind, Job, Pace, Pattern};
use iotax_vdisk::VirtualDisk;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::fs::{Advice, fadvise};
use rustix::io::Errno;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::access::{Accesses, Span, granule_bytes};
use super::buffers::Buffers;
use super::drive::{Slots, Worker};
use super::engines::io_uring;
use super::engines::mmap::Mmap;
use super::engines::null::Null;
use super::engines::psync::Psync;
use super::engines::vdisk::Vdisk;
use super::pace::Schedule;
use super::trouble::Trouble;
use super::window::Tally;
use crate::driver::Target;
use crate::error::Error;
use crate::names::shown;
use crate::places::TestFile;
use crate::verify::{Ledger, Scribe};

/// One thread of one job.
#[derive(Clone)]
pub struct Thread<'a> {
    pub job: &'a Job,
    /// Its position in the workload.
    pub job_index: usize,
    pub index: u32,
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
}

/// The kernel registers up to 16384 buffers, two for each I/O in flight.
const MAX_URING_DEPTH: u16 = 8192;

/// Seeds of what must be independent: mixed into the thread's own.
const SEED_OF_PACE: u64 = 0x7061_6365;
const SEED_OF_DATA: u64 = 0x6461_7461;

impl Thread<'_> {
    /// I/Os this thread keeps in flight: synchronous engines take one.
    pub fn depth(&self) -> u32 {
        effective_depth(self.job, self.engine)
    }

    /// Buffers for an engine that has none of its own.
    pub fn buffers(&self) -> Result<Buffers, Error> {
        let job = self.job;
        let block_bytes = job.block_sizes.max_bytes();
        let seed = self.seed ^ SEED_OF_DATA;
        let reads = job.reads() || job.verify || job.pre_read;
        Buffers::new(self.depth(), block_bytes, reads, job.writes(), seed)
    }

    /// The thread's files, opened as the job wants them.
    fn open(&self) -> Result<Vec<File>, Error> {
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
        let advice = if self.jumps() { Advice::Random } else { Advice::Sequential };
        match fadvise(file, 0, None, advice) {
            // Devices and file systems that take no advice do without.
            Ok(()) | Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
            Err(errno) => {
                let source = io::Error::from(errno);
                Err(Error::path("advise the kernel about", path)(source))
            }
        }
    }

    /// What fio's `rw=rand...` stands for, whatever else it says about the order.
    fn jumps(&self) -> bool {
        !matches!(
            self.job.pattern,
            Pattern::Sequential | Pattern::Strided(_) | Pattern::Backward(_)
        )
    }

    /// The engine `null`.
    pub fn null(&self) -> Result<Null, Error> {
        Ok(Null::new(self.buffers()?))
    }

    /// The engine `psync`. Only for the thread that will use it, see below.
    pub fn psync(&self) -> Result<Psync, Error> {
        // With a descriptor table of its own, as a process of its own would have (fio forks), the
        // thread looks up its file without atomic operations on a counter: some 20 ns per call.
        //
        // SAFETY: what this thread opens from here on it uses and closes itself, before it ends;
        // what others have opened before stays valid in both tables; it is handed no descriptors
        // later.
        let own_table = unsafe { unshare_unsafe(UnshareFlags::FILES) };
        // A sandbox may forbid it; sharing the table is only slower.
        let _ = own_table;
        Ok(Psync::new(self.open()?, self.buffers()?))
    }

    /// The engine `mmap`.
    pub fn mmap(&self) -> Result<Mmap, Error> {
        let advice = self.job.advise.then_some(if self.jumps() {
            memmap2::Advice::Random
        } else {
            memmap2::Advice::Sequential
        });
        if self.job.direct {
            return Err(Error::unsuitable(
                self.job,
                "engine `mmap` always goes through the page cache; set `direct = false`, or \
                 choose another engine"
                    .to_owned(),
            ));
        }
        Mmap::new(self.open()?, self.span, advice, self.buffers()?)
            .map_err(Error::path("map", &self.files[0].path))
    }

    /// A ring for the engine `io_uring`.
    pub fn io_uring(&self) -> Result<io_uring::Made, Error> {
        let depth = u16::try_from(self.depth()).ok().filter(|depth| *depth <= MAX_URING_DEPTH);
        let Some(depth) = depth else {
            return Err(Error::unsuitable(
                self.job,
                format!(
                    "a queue depth of {} is more than io_uring takes with registered buffers; \
                     the most is {MAX_URING_DEPTH}",
                    self.depth()
                ),
            ));
        };
        let (files, buffers) = (self.open()?, self.buffers()?);
        io_uring::make(files, buffers, depth, self.job.sqpoll).map_err(|source| {
            let advice = io_uring::advice(&source);
            Error::NoIoUring { job: self.job.name.clone(), source, advice }
        })
    }

    /// The engine of every job on a virtual disk.
    pub fn vdisk(&self, disk: &VirtualDisk) -> Result<Vdisk, Error> {
        let job = self.job;
        if job.write_through {
            return Err(Error::unsuitable(
                job,
                format!(
                    "{disk} has no writes that reach the medium before they count; leave out \
                     `write-through`, or use `fsync-every = 1`"
                ),
            ));
        }
        let smallest = granule_bytes(job);
        if !smallest.is_multiple_of(disk.block_bytes().into()) {
            return Err(Error::unsuitable(
                job,
                format!(
                    "blocks or offsets at multiples of {smallest} bytes do not fit the {} bytes that {disk} \
                     reads and writes at a time",
                    disk.block_bytes()
                ),
            ));
        }
        let block_bytes = job.block_sizes.max_bytes();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ SEED_OF_DATA);
        let random = (job.reads() && job.writes()).then(|| {
            let mut data = vec![0; block_bytes as usize].into_boxed_slice();
            rng.fill_bytes(&mut data);
            data
        });
        let mut engine = Vdisk::new(disk, self.depth(), block_bytes, random).map_err(|source| {
            Error::Disk { job: job.name.clone(), disk: disk.to_string(), source }
        })?;
        engine.fill_buffers(|buffer| rng.fill_bytes(buffer));
        Ok(engine)
    }

    /// Everything but the engine. `tally` is made when the start is known.
    pub fn worker<'t>(&self, start_ns: u64, tally: Tally<'t>) -> Worker<'t> {
        Worker {
            accesses: Accesses::new(self.job, self.span, self.seed),
            schedule: self.schedule(start_ns),
            tally,
            scribe: self.scribe(start_ns),
            trouble: Trouble::new(self.names()),
            slots: Slots::new(self.depth()),
            span: self.span,
            think_ns: self.job.think.map_or(0, |think| think.time_ns),
            resume_ns: 0,
        }
    }

    /// Files it spreads its I/O over.
    pub fn file_count(&self) -> u16 {
        u16::try_from(self.files.len()).expect("`Places` gives at most so many")
    }

    /// Of its files, for people.
    fn names(&self) -> Vec<String> {
        self.files.iter().map(|file| file.shown()).collect()
    }

    /// Whether what the thread writes is read back afterwards.
    pub fn verifies(&self) -> bool {
        self.job.verify && self.job.writes() && self.engine != EngineKind::Null
    }

    fn scribe(&self, start_ns: u64) -> Scribe {
        let seed = self.seed ^ SEED_OF_DATA;
        if self.verifies() {
            let granule = granule_bytes(self.job);
            // The start tells this run from earlier ones with the same seed, and the number added
            // to it one file from another.
            let runs = (start_ns..).take(self.files.len());
            let ledger = |run| Ledger::new(run, self.number, self.span, granule);
            Scribe::verifying(seed, runs.map(ledger).collect())
        } else {
            Scribe::new(seed)
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

/// The engine that `job` really uses.
pub fn effective_engine(job: &Job, target: Target<'_>) -> EngineKind {
    match target {
        // Which no disk can do: it is refused by name.
        _ if job.engine == EngineKind::Metadata => EngineKind::Metadata,
        Target::Disk(_) => EngineKind::Vdisk,
        Target::Path(_) | Target::Own(_) => job.engine,
    }
}

/// I/Os that each thread of `job` keeps in flight with `engine`.
pub fn effective_depth(job: &Job, engine: EngineKind) -> u32 {
    if engine.is_async() { job.queue_depth.max(1) } else { 1 }
}
