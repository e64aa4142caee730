//! Replays the recorded I/O of an application: with its threads, think times, and waits between
//! threads.
//!
//! | file | idea |
//! |---|---|
//! | `survey` | reads the trace once, to decide how to lay out files and replay threads |
//! | `ranges` | sets of byte ranges in bounded memory |
//! | `graph` | events become I/Os, signals and waits of each thread |
//! | `feed` | the trace is read a bounded number of nodes ahead |
//! | `device` | recordings that can be replayed on a block device |
//! | `export` | a recording as a log of fio |
//! | `logs` | logs of fio, which are imported first |
//! | `place` | lays out the files as at the start of the recording |
//! | `files` | descriptors, and one operation: the system calls |
//! | `commit` | threads that wait for a sync share the next one |
//! | `signal` | waits for other threads, for a time, and for the end |
//! | `tally` | what one thread counts |
//! | `parts` | where a recording can be cut, and the events of one part |
//! | `needs` | memory, threads and open files |
//! | `session` | whole replays, and parts one after the other |
//! | `drive` | a replay from its common start to its end |
//! | `origin` | what a recording was imported from |
//! | `outcome` | the record of a replay |
//! | `words` | warnings for users about differences from the application |

mod commit;
mod device;
mod drive;
mod export;
mod feed;
mod files;
mod graph;
mod logs;
mod needs;
mod origin;
mod outcome;
mod parts;
mod place;
mod ranges;
mod session;
mod signal;
mod survey;
mod tally;
mod words;

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{Engine, Job, Pattern, RecordedLoad, Workload};
use iotax_record::LoadRecord;
use iotax_trace::Op;

use crate::driver::{LayoutProgress, LoadDriver, Request};
use crate::error::Error;
use crate::target::IoTarget;
use drive::ReadAhead;
use place::{Layout, Place};
use session::Sessions;

pub use export::{FioLog, LoggedFile};
pub use survey::{Options, Recording};

impl Recording {
    /// The workload that replays it: a trial is the whole recording, or one of its parts.
    pub fn workload(&self, name: &str) -> Workload {
        let of =
            |ops: &[Op]| ops.iter().map(|op| self.survey.operations[*op as usize]).sum::<u64>();
        let (reads, writes) = (of(&[Op::Read, Op::Fault, Op::SendFile]), of(&[Op::Write]));
        let percent = (100 * reads).checked_div(reads + writes).unwrap_or(50);
        let threads = self.survey.roles.threads.iter().filter(|role| role.has_work).count();
        let recording = RecordedLoad {
            path: self.path.clone(),
            hash: self.survey.hash.clone(),
            length_ns: self.survey.length_ns,
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
            requests: self.survey.requests,
            waits_for_syncs: 2 * self.survey.sync_ns > self.survey.io_ns,
            allow_loss: self.options.allow_loss,
            arrivals: self.options.arrivals,
            copies: self.options.copies,
            parts: self.parts(),
            uncut: self.survey.cuts.as_ref().err().copied(),
            writes: self.writes(),
            device_bytes: self.device_bytes(),
            logs: self.origin.as_ref().map(|origin| origin.logs.clone()),
        };
        let bytes = Layout::of(self, Path::new("")).bytes().max(4096);
        let job = Job {
            engine: Engine::Replay,
            read_percent: u8::try_from(percent).unwrap_or(100),
            pattern: Pattern::Random,
            size_bytes: bytes.saturating_mul(self.options.copies.into()),
            advise: false,
            recording: Some(recording),
            ..Job::new("replay")
        };
        let time_ns = self.survey.length_ns.max(1);
        let note = self.origin.as_ref().and_then(origin::Origin::note);
        let notes = words::notes(self).into_iter().chain(note).collect();
        Workload { time_ns, notes, ..Workload::new(name, vec![job]) }.in_slices()
    }

    /// How many parts it has.
    fn parts(&self) -> u32 {
        let cuts = self.survey.cuts.as_ref().map_or(0, Vec::len);
        u32::try_from(cuts + 1).unwrap_or(u32::MAX)
    }
}

/// Lays out the files of a recording. Files that are there already are used.
///
/// # Errors
/// If the target is not suitable, the disk is full, an I/O fails, or the user interrupts
/// ([`Error::Interrupted`]).
fn prepare(
    recording: &Recording,
    target: IoTarget<'_>,
    progress: &LayoutProgress<'_>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    session::prepare(recording, &Place::of_copies(recording, target)?, progress, stop)
}

/// Replays one recording. The workload needs only a job with a name.
///
/// # When a result is too late to be used
///
/// Each operation is due when its think time is over and all its dependencies are done. A later
/// start is caused by the load generator, for example by a busy CPU or a late timer. The recorded
/// threads also waited for CPUs. These run delays are not part of the think times, because the
/// threads of the replay compete for CPUs themselves. So the lateness is compared with the recorded
/// run delays. A trial is marked as too late
///
/// - if the mean lateness exceeds the mean run delay by more than 5 % of the recorded think time and
///   latency of an I/O. The throughput of a thread is off by about that share;
/// - if the 99th percentile exceeds that of the run delays by more than 10 % of the same, and by more
///   than 1 ms. Such delays spread to the
///   threads that wait, and tail latencies no longer describe the storage.
pub struct Replay {
    recording: Recording,
    sessions: Sessions,
}

impl Replay {
    /// Reads a recording once.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn open(path: &Path, options: Options) -> Result<Self, Error> {
        Ok(Self::of(Recording::open(path, options)?))
    }

    pub fn of(recording: Recording) -> Self {
        Self { recording, sessions: Sessions::default() }
    }

    pub const fn recording(&self) -> &Recording {
        &self.recording
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Replay").field(&self.recording.path).finish()
    }
}

impl LoadDriver for Replay {
    fn prepare(
        &self,
        _workload: &Workload,
        target: IoTarget<'_>,
        progress: &LayoutProgress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        prepare(&self.recording, target, progress, stop)
    }

    /// Replays the part of the request, or the whole recording: to its end, for the time of the
    /// request if that is shorter than the recording, or several times if it is longer. The
    /// measured window ends with the last operation of a thread that is not driven by a timer.
    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        session::run(&self.recording, &self.sessions, request, ReadAhead::default())
    }

    fn release(&self) {
        self.sessions.end();
    }
}

#[cfg(test)]
mod tests;
