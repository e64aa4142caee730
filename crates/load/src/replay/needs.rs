//! What a replay needs of the machine: memory for buffers, threads and open files. It is checked
//! before the first file is laid out.

use std::fs;
use std::path::{Path, PathBuf};

use iotax_quantity::{grouped, size};
use iotax_vdisk::{AvailableMemory, available_memory};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::commit::COMMIT_BYTES;
use super::survey::{FileFacts, Survey};
use crate::error::Error;

/// The longest I/O that is issued with one system call.
const LONGEST_PIECE_BYTES: u64 = 16 << 20;
/// I/Os are not split further than this.
const LEAST_PIECE_BYTES: u64 = 64 << 10;
/// Maximum size of all buffers of a copy, as long as I/Os can be split: an application with 64 I/Os
/// of 16 MiB in flight would need 2 GiB.
const MOST_BUFFER_BYTES: u64 = 256 << 20;
/// A thread beside its buffers: its stack as far as it is used, and its histograms.
const THREAD_BYTES: u64 = 256 << 10;
/// Nodes that were read ahead, decoded chunks, and events that are sorted.
const READER_BYTES: u64 = 64 << 20;
/// Threads that read the trace: of threads of the application, and of those that live by timers.
const READERS: u64 = 2;
/// File descriptors reserved for other uses.
const OTHER_DESCRIPTORS: u64 = 128;

/// The buffers of one copy of the recorded application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Buffering {
    /// Longer I/Os are issued in pieces of this size.
    pub piece_bytes: u64,
    /// The longest I/O of the recording.
    pub longest_bytes: u64,
    /// Of all buffers together.
    bytes: u64,
    /// Without splitting I/Os.
    unsplit_bytes: u64,
    /// Threads, including those for asynchronous I/Os.
    threads: u64,
}

impl Buffering {
    pub(super) fn of(survey: &Survey) -> Self {
        let with = |piece_bytes: u64| Self::bytes_with(survey, piece_bytes);
        let mut piece_bytes = LONGEST_PIECE_BYTES;
        while piece_bytes > LEAST_PIECE_BYTES && with(piece_bytes) > MOST_BUFFER_BYTES {
            piece_bytes /= 2;
        }
        let longest =
            survey.threads.iter().map(|of| of.longest_read_bytes.max(of.longest_write_bytes));
        let threads = survey.roles.threads.iter().filter(|role| role.has_work);
        Self {
            piece_bytes,
            longest_bytes: longest.max().unwrap_or(0),
            bytes: with(piece_bytes),
            unsplit_bytes: with(LONGEST_PIECE_BYTES),
            threads: threads.map(|role| 1 + u64::from(role.lanes)).sum(),
        }
    }

    fn bytes_with(survey: &Survey, piece_bytes: u64) -> u64 {
        let of = |(thread, role): (&super::survey::ThreadFacts, &super::graph::ThreadRole)| {
            let [reads, writes] = [thread.longest_read_bytes, thread.longest_write_bytes];
            let kinds = u64::from(reads > 0) + u64::from(writes > 0);
            let tracks = if role.has_work { 1 + u64::from(role.lanes) } else { 0 };
            let of_track = kinds * reads.max(writes).min(piece_bytes);
            // A thread that may issue syncs has both buffers.
            let of_commits = 2 * reads.max(writes).max(COMMIT_BYTES).min(piece_bytes);
            tracks * of_track + if role.commits { of_commits } else { 0 }
        };
        survey.threads.iter().zip(&survey.roles.threads).map(of).sum()
    }

    /// Whether I/Os are split to save memory, not because of their length alone.
    pub(super) fn splits(&self) -> bool {
        self.longest_bytes.min(LONGEST_PIECE_BYTES) > self.piece_bytes
    }

    /// For users; `None` if every I/O is issued as it was recorded.
    pub(super) fn note(&self) -> Option<String> {
        self.splits().then(|| {
            format!(
                "I/Os longer than {} are issued in several pieces: buffers for all I/Os in flight \
                 would need {}",
                size(self.piece_bytes),
                size(self.unsplit_bytes)
            )
        })
    }

    /// Refuses copies for which there is not enough memory, or for which the machine does not allow
    /// enough threads.
    pub(super) fn refuse_beyond(&self, copies: u32) -> Result<(), Error> {
        if let Some(available) = available_memory() {
            self.fits_memory(copies, &available)?;
        }
        match thread_limits().into_iter().min_by_key(|limit| limit.left) {
            Some(limit) => self.fits_threads(copies, &limit),
            None => Ok(()),
        }
    }

    fn fits_memory(&self, copies: u32, available: &AvailableMemory) -> Result<(), Error> {
        let copies_wide = u64::from(copies);
        let of_copy = self.bytes.saturating_add(self.threads.saturating_mul(THREAD_BYTES));
        let needed = of_copy.saturating_mul(copies_wide).saturating_add(READER_BYTES);
        // A part is for whatever else there is.
        let room = available.bytes - available.bytes / 8;
        if needed <= room {
            return Ok(());
        }
        let fitting = room.saturating_sub(READER_BYTES) / of_copy.max(1);
        Err(Error::ReplayNeeds {
            what: format!(
                "it needs {} of memory for {}, but only {} is available{}",
                size(needed),
                shown_copies(copies),
                size(available.bytes),
                available.limit
            ),
            advice: fewer(copies, fitting, "free some memory"),
        })
    }

    fn fits_threads(&self, copies: u32, limit: &ThreadLimit) -> Result<(), Error> {
        let of_copy = self.threads;
        let needed =
            of_copy.saturating_mul(copies.into()).saturating_add(READERS * u64::from(copies));
        if needed <= limit.left {
            return Ok(());
        }
        let fitting = limit.left / (of_copy + READERS);
        Err(Error::ReplayNeeds {
            what: format!(
                "it needs {} threads for {}, but {} allows only {} more",
                grouped(needed),
                shown_copies(copies),
                limit.name,
                grouped(limit.left)
            ),
            advice: fewer(copies, fitting, "raise that limit"),
        })
    }
}

fn shown_copies(copies: u32) -> String {
    if copies == 1 { "the recorded threads".to_owned() } else { format!("{copies} copies") }
}

fn fewer(copies: u32, fitting: u64, otherwise: &str) -> String {
    if copies > 1 && fitting > 0 {
        format!("use `--copies {fitting}`, or {otherwise}")
    } else {
        otherwise.to_owned()
    }
}

/// How many more threads something allows.
struct ThreadLimit {
    name: String,
    left: u64,
}

/// Those of the machine, of the control groups of this process, and of its user.
fn thread_limits() -> Vec<ThreadLimit> {
    let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut limits = Vec::new();
    let most = number(Path::new("/proc/sys/kernel/threads-max"));
    let running = fs::read_to_string("/proc/loadavg").ok().and_then(|text| {
        let of_all = text.split(' ').nth(3)?.split_once('/')?.1;
        of_all.parse::<u64>().ok()
    });
    if let Some((most, running)) = most.zip(running) {
        let name = "kernel.threads-max".to_owned();
        limits.push(ThreadLimit { name, left: most.saturating_sub(running) });
    }
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let group = group.map(|group| PathBuf::from("/sys/fs/cgroup").join(group));
    for group in group.iter().flat_map(|group| group.ancestors()) {
        let [most, current] = ["pids.max", "pids.current"].map(|name| number(&group.join(name)));
        if let Some((most, current)) = most.zip(current) {
            let name = format!("pids.max of control group {}", group.display());
            limits.push(ThreadLimit { name, left: most.saturating_sub(current) });
        }
    }
    let of_user = getrlimit(Resource::Nproc).current;
    if let Some(left) = of_user.filter(|_| !rustix::process::geteuid().is_root()) {
        limits.push(ThreadLimit { name: "ulimit -u".to_owned(), left });
    }
    limits
}

/// Lets this process open as many files as `copies` copies use at most.
pub(super) fn raise_file_limit(survey: &Survey, copies: u32) -> Result<(), Error> {
    let of = |file: &FileFacts| {
        let own = u64::from(file.uses > 0);
        own + u64::from(file.uses_direct) + u64::from(file.mapped_bytes > 0)
    };
    // Files that are created and removed during the trace are closed on removal.
    let stays = |file: &&FileFacts| !(file.is_created() && file.is_removed);
    let of_copy = survey.files.iter().filter(stays).map(of).sum::<u64>();
    let needed = of_copy.saturating_mul(copies.into()).saturating_add(OTHER_DESCRIPTORS);
    let limit = getrlimit(Resource::Nofile);
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if is_enough(limit.current) {
        return Ok(());
    }
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    if raised.is_err() || !is_enough(limit.maximum) {
        let most = limit.maximum.unwrap_or(0);
        let fitting = most.saturating_sub(OTHER_DESCRIPTORS) / of_copy.max(1);
        return Err(Error::ReplayNeeds {
            what: format!(
                "it needs {} open files, but the hard limit is {}",
                grouped(needed),
                grouped(most)
            ),
            advice: fewer(copies, fitting, "raise the limit (ulimit -Hn)"),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use iotax_vdisk::MemoryLimit;

    use super::*;

    const COPY: Buffering = Buffering {
        piece_bytes: 1 << 20,
        longest_bytes: 4 << 20,
        bytes: 200 << 20,
        unsplit_bytes: 800 << 20,
        threads: 100,
    };

    #[test]
    fn too_many_copies_are_refused_with_the_number_that_fits() {
        let memory = |bytes| AvailableMemory { bytes, limit: MemoryLimit::Machine };
        assert!(COPY.fits_memory(4, &memory(2 << 30)).is_ok());
        let error = COPY.fits_memory(9, &memory(2 << 30)).unwrap_err().to_string();
        assert!(error.contains("9 copies") && error.contains("`--copies 7`"), "{error}");
        let error = COPY.fits_memory(1, &memory(1 << 20)).unwrap_err().to_string();
        assert!(error.ends_with("free some memory"), "{error}");
        let limit = |left| ThreadLimit { name: "pids.max".to_owned(), left };
        assert!(COPY.fits_threads(2, &limit(204)).is_ok());
        let error = COPY.fits_threads(3, &limit(305)).unwrap_err().to_string();
        assert!(error.contains("306 threads") && error.contains("`--copies 2`"), "{error}");
    }

    #[test]
    fn split_ios_are_noted() {
        assert!(COPY.note().unwrap().contains("longer than 1 MiB"));
        let whole = Buffering { longest_bytes: 1 << 20, ..COPY };
        assert_eq!(whole.note(), None);
    }
}
