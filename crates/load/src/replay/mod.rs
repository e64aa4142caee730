//! Replays the recorded I/O of an application: with its threads, think times, and waits between
//! threads.
//!
//! | file | idea |
//! |---|---|
//! | `survey` | reads the trace once, to decide how to lay out files and replay threads |
//! | `ranges` | sets of byte ranges in bounded memory |
//! | `graph` | events become I/Os, signals and waits of each thread |
//! | `feed` | the trace is read a bounded number of nodes ahead |
//! | `place` | lays out the files as at the start of the recording |
//! | `files` | descriptors, and one operation: the system calls |
//! | `commit` | threads that wait for a sync share the next one |
//! | `signal` | waits for other threads, for a time, and for the end |
//! | `tally` | what one thread counts |
//! | `drive` | a trial from its common start to its record |
//! | `words` | warnings for users about differences from the application |

mod commit;
mod drive;
mod feed;
mod files;
mod graph;
mod place;
mod ranges;
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

pub use survey::{Arrivals, Options, Recording};

impl Recording {
    /// The workload that replays it: one trial is the whole recording.
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
            waits_for_syncs: 2 * self.survey.sync_ns > self.survey.io_ns,
        };
        let job = Job {
            engine: Engine::Replay,
            read_percent: u8::try_from(percent).unwrap_or(100),
            pattern: Pattern::Random,
            size_bytes: Layout::of(self, Path::new("")).bytes().max(4096),
            advise: false,
            recording: Some(recording),
            ..Job::new("replay")
        };
        let time_ns = self.survey.length_ns.max(1);
        Workload { time_ns, notes: words::notes(self), ..Workload::new(name, vec![job]) }
    }
}

/// Lays out the files of a recording. Files that are there already are used.
///
/// # Errors
/// If the target is not suitable, the disk is full, an I/O fails, or the user interrupts
/// ([`Error::Interrupted`]).
pub fn prepare(
    recording: &Recording,
    target: IoTarget<'_>,
    progress: &LayoutProgress<'_>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    match Place::of(recording, target)? {
        Place::Directory(directory) => Layout::of(recording, &directory).make_ready(progress, stop),
        Place::Device { .. } => Ok(()),
    }
}

/// Replays a recording once: to its end, or for the time of the request if that is shorter than the
/// recording. The measured window ends with the last operation of a thread that is not driven by a
/// timer.
///
/// # Errors
/// As [`prepare`]; also if a thread cannot start or the trace is damaged.
pub fn replay(recording: &Recording, request: &Request<'_>) -> Result<LoadRecord, Error> {
    drive::run(recording, request, ReadAhead::default())
}

/// Replays one recording. The workload needs only a job with a name.
///
/// # When a result is too late to be used
///
/// Each operation is due when its think time is over and all its dependencies are done. A later
/// start is caused by the load generator, for example by a busy CPU or a late timer. A trial is
/// marked as too late
///
/// - if the mean lateness is above 5 % of the recorded think time and latency of an I/O. The
///   throughput of a thread is off by about that share;
/// - if the 99th percentile is above 10 % of the same, and above 1 ms. Such delays spread to the
///   threads that wait, and tail latencies no longer describe the storage.
pub struct Replay {
    recording: Recording,
}

impl Replay {
    /// Reads the trace once.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn open(path: &Path, options: Options) -> Result<Self, Error> {
        Ok(Self { recording: Recording::open(path, options)? })
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

    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        replay(&self.recording, request)
    }
}

#[cfg(test)]
mod tests;
