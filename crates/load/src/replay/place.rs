//! Lays out the files of a trace as they were when it began, and restores them before each trial.
//!
//! The files are in a directory of their own, whose name contains the hash of the trace. A mark in
//! it says in which state they are:
//!
//! - `partial`: the layout was interrupted. All files are laid out again.
//! - `ready`: a trial can begin.
//! - `used`: a trial began. What the trace changes is restored; other files stay as they are.
//!
//! Before each trial, iotax drops the files from the page cache. What was cached at the start of the
//! recording is then read back in: all of a file, or what the recorded reads found in the cache. The
//! result reports the number of partly cached files whose reads do not tell.

use std::ffi::CString;
use std::fs::File as OsFile;
use std::io::{ErrorKind, Read as _, Write as _};
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use iotax_trace::{File, FileKind, Unseen};
use rustix::fs::{Advice, FallocateFlags, SeekFrom, fadvise, fallocate, seek, statvfs};
use rustix::io::Errno;

use super::device::{ONLY_IN_A_DIRECTORY, sole_device};
use super::survey::{Cached, FileFacts, Recording};
use crate::driver::LayoutProgress;
use crate::error::Error;
use crate::layout::{drop_cached, fill};
use crate::target::{IoTarget, shown, within};

/// Marker file in a directory that this crate created. A directory without it is not touched.
const MARK: &str = ".iotax-replay";
/// Bytes written by one system call.
const CHUNK_BYTES: u64 = 1 << 20;

/// Where a trace is replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Its files are in this directory, which the replay owns.
    Directory(PathBuf),
    /// Its one block device is this file or device.
    Device { path: PathBuf, file: File },
}

impl Place {
    /// Where each copy of a trace belongs on a target. Touches nothing.
    pub(super) fn of_copies(
        recording: &Recording,
        target: IoTarget<'_>,
    ) -> Result<Vec<Self>, Error> {
        let first = Self::of(recording, target)?;
        let copies = recording.options.copies;
        match &first {
            Self::Directory(path) => {
                let of_copy = |copy: u32| {
                    let mut name = path.as_os_str().to_owned();
                    if copy > 1 {
                        name.push(format!("-{copy}"));
                    }
                    PathBuf::from(name)
                };
                Ok((1..=copies).map(|copy| Self::Directory(of_copy(copy))).collect())
            }
            Self::Device { .. } if copies > 1 => Err(Error::ReplayTarget {
                target: target.to_string(),
                what: "each copy needs its own files; name a directory, or leave out --copies"
                    .to_owned(),
            }),
            Self::Device { .. } => Ok(vec![first]),
        }
    }

    pub(super) fn path(&self) -> &Path {
        let (Self::Directory(path) | Self::Device { path, .. }) = self;
        path
    }

    fn of(recording: &Recording, target: IoTarget<'_>) -> Result<Self, Error> {
        let refuse =
            |what: &str| Error::ReplayTarget { target: target.to_string(), what: what.to_owned() };
        let Some(path) = target.path() else {
            return Err(refuse("recordings are replayed in files; name a directory"));
        };
        let facts = path.metadata().map_err(Error::path("examine", path))?;
        if facts.is_dir() {
            let name = format!("iotax-replay-{}", recording.survey.hash);
            return Ok(Self::Directory(path.join(name)));
        }
        let is_device = facts.file_type().is_block_device();
        if !is_device && !facts.is_file() {
            return Err(Error::NoTarget { path: shown(path) });
        }
        let Some((file, device)) = sole_device(&recording.survey) else {
            return Err(refuse(ONLY_IN_A_DIRECTORY));
        };
        if device.is_written && !target.may_be_overwritten() {
            return Err(refuse(
                "the recording contains writes, and iotax may not overwrite this target; name a \
                 directory, or a device that iotax may overwrite",
            ));
        }
        let bytes = device_bytes(path, facts.len())?;
        let needed = device.extent_bytes;
        if bytes < needed {
            return Err(refuse(&format!(
                "the recording uses {needed} bytes, but the target has only {bytes}; choose a \
                 larger target"
            )));
        }
        Ok(Self::Device { path: path.to_owned(), file })
    }
}

fn device_bytes(path: &Path, file_bytes: u64) -> Result<u64, Error> {
    if file_bytes > 0 {
        return Ok(file_bytes);
    }
    let opened = OsFile::open(path).map_err(Error::path("open", path))?;
    seek(&opened, SeekFrom::End(0)).map_err(Error::path("examine", path))
}

/// The name of a file in the directory of a replay. Each file has two names: it starts with the
/// first and gets the second when renamed.
pub(super) fn name(file: File, is_second: bool) -> String {
    format!("f{file}{}", if is_second { "r" } else { "" })
}

/// What a file looks like before a trial.
struct Shape<'a> {
    path: PathBuf,
    /// After a trial that renamed it.
    second_path: PathBuf,
    facts: &'a FileFacts,
    size_bytes: u64,
    data: Vec<Range<u64>>,
    /// Allocated, but not written.
    unwritten: Vec<Range<u64>>,
    holes: Vec<Range<u64>>,
}

impl<'a> Shape<'a> {
    fn of(recording: &Recording, directory: &Path, number: File, facts: &'a FileFacts) -> Self {
        let state = &facts.state;
        let is_known = !recording.head.unseen.contains(&Unseen::StartState);
        let read_end = facts.read_first.end();
        let mut size_bytes = state.size_bytes.max(read_end);
        if state.kind == FileKind::BlockDevice {
            size_bytes = size_bytes.max(facts.extent_bytes);
        }
        let (unwritten, holes): (Vec<_>, Vec<_>) =
            state.gaps.iter().partition(|gap| gap.is_unwritten);
        let range = |gap: &iotax_trace::Gap| gap.offset..gap.offset.saturating_add(gap.bytes);
        let data = match state.kind {
            FileKind::Directory => Vec::new(),
            FileKind::BlockDevice => facts.touched.iter().collect(),
            FileKind::Regular => {
                let mut data = between(0..state.size_bytes, state.gaps.iter().map(range));
                let first = if is_known { state.size_bytes } else { 0 };
                let read = facts.read_first.iter();
                data.extend(
                    read.filter(|range| range.end > first)
                        .map(|range| range.start.max(first)..range.end),
                );
                data
            }
        };
        Self {
            path: directory.join(name(number, false)),
            second_path: directory.join(name(number, true)),
            facts,
            size_bytes,
            data,
            unwritten: unwritten.into_iter().map(range).collect(),
            holes: holes.into_iter().map(range).collect(),
        }
    }

    fn is_directory(&self) -> bool {
        self.facts.state.kind == FileKind::Directory
    }

    /// Whether the file must be recreated after a trial, because restoring its length is not
    /// enough.
    fn must_be_new(&self) -> bool {
        self.facts.is_removed || self.facts.is_renamed || self.facts.loses_data
    }

    fn bytes(&self) -> u64 {
        let all = self.data.iter().chain(&self.unwritten);
        all.map(|range| range.end - range.start).fold(0, u64::saturating_add)
    }

    /// Whether it is there with its length.
    fn is_there(&self) -> bool {
        self.path.symlink_metadata().is_ok_and(|facts| {
            if self.is_directory() {
                facts.is_dir()
            } else {
                facts.is_file() && facts.len() == self.size_bytes
            }
        })
    }

    fn remove(&self) -> Result<(), Error> {
        for path in [&self.path, &self.second_path] {
            let removed = match path.symlink_metadata() {
                Ok(facts) if facts.is_dir() => fs::remove_dir(path),
                Ok(_) => fs::remove_file(path),
                Err(error) => Err(error),
            };
            match removed {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::path("remove", path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn lay_out(&self, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.remove()?;
        if self.facts.is_created() {
            return Ok(());
        }
        let path = &self.path;
        if self.is_directory() {
            return fs::create_dir(path).map_err(Error::path("create", path));
        }
        let mut options = within();
        let file = options.write(true).create_new(true).open(path);
        let file = file.map_err(Error::path("create", path))?;
        for range in &self.unwritten {
            self.allocate(&file, range, progress)?;
        }
        for range in &self.data {
            self.write(&file, range, progress)?;
        }
        // The length is set last, so that an interrupted layout is detected.
        self.seal(&file)
    }

    /// Undoes what a trial did.
    fn restore(&self, progress: &mut Progress<'_>) -> Result<(), Error> {
        if self.facts.is_created() {
            return self.remove();
        }
        if self.must_be_new() || !self.facts.is_written && !self.is_there() {
            return self.lay_out(progress);
        }
        let path = &self.path;
        if !self.facts.is_written || self.is_directory() {
            return Ok(());
        }
        let file = match within().write(true).open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return self.lay_out(progress),
            opened => opened.map_err(Error::path("open", path))?,
        };
        let length = file.metadata().map_err(Error::path("examine", path))?.len();
        if length < self.size_bytes {
            return self.lay_out(progress);
        }
        file.set_len(self.size_bytes).map_err(Error::path("truncate", path))?;
        for range in self.holes.iter().chain(&self.unwritten) {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            match fallocate(&file, hole, range.start, range.end - range.start) {
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => return self.lay_out(progress),
                punched => punched.map_err(Error::path("punch holes in", path))?,
            }
        }
        for range in &self.unwritten {
            self.allocate(&file, range, progress)?;
        }
        self.seal(&file)
    }

    fn seal(&self, file: &OsFile) -> Result<(), Error> {
        let length = file.metadata().map_err(Error::path("examine", &self.path))?.len();
        if length != self.size_bytes {
            file.set_len(self.size_bytes).map_err(Error::path("truncate", &self.path))?;
        }
        file.sync_all().map_err(Error::path("fsync", &self.path))
    }

    /// A file system that cannot allocate without writing gets data: it is allocated at least.
    fn allocate(
        &self,
        file: &OsFile,
        range: &Range<u64>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        let bytes = range.end - range.start;
        match fallocate(file, FallocateFlags::KEEP_SIZE, range.start, bytes) {
            Ok(()) => progress.add(bytes),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.write(file, range, progress),
            Err(errno) => Err(Error::path("allocate space for", &self.path)(errno)),
        }
    }

    fn write(
        &self,
        file: &OsFile,
        range: &Range<u64>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        let mut at = range.start;
        while at < range.end {
            let bytes = (range.end - at).min(CHUNK_BYTES);
            let chunk = usize::try_from(bytes).expect("at most a chunk");
            progress.chunk.resize(chunk, 0);
            fill(&mut progress.chunk, at, &self.path);
            file.write_all_at(&progress.chunk, at).map_err(Error::path("write", &self.path))?;
            at += bytes;
            progress.add(bytes)?;
        }
        Ok(())
    }

    /// Whether there is a file before the replay begins.
    fn is_a_file(&self) -> bool {
        !self.is_directory() && !self.facts.is_created()
    }

    /// Drops it from the page cache.
    fn cool(&self) -> Result<(), Error> {
        let path = &self.path;
        let file = within().read(true).open(path).map_err(Error::path("open", path))?;
        drop_cached(&file, path)
    }

    /// Reads what was cached into the page cache. Returns bytes read.
    fn warm(&self, stop: &AtomicBool) -> Result<u64, Error> {
        if self.cached_bytes() == 0 {
            return Ok(0);
        }
        let path = &self.path;
        let file = within().read(true).open(path).map_err(Error::path("open", path))?;
        let mut buffer = vec![0; usize::try_from(CHUNK_BYTES).expect("a chunk")];
        let mut warmed = 0;
        let mut read = |range: Range<u64>| {
            let mut at = range.start;
            while at < range.end {
                refuse_stopped(stop)?;
                let most = usize::try_from((range.end - at).min(CHUNK_BYTES)).expect("a chunk");
                match file.read_at(&mut buffer[..most], at).map_err(Error::path("read", path))? {
                    0 => break,
                    bytes => at += bytes as u64,
                }
            }
            warmed += at - range.start;
            Ok(())
        };
        match self.facts.cached() {
            Cached::Nothing | Cached::SomeParts => {}
            Cached::All => {
                let _ = fadvise(&file, 0, None, Advice::Sequential);
                read(0..u64::MAX)?;
            }
            Cached::Parts(parts) => {
                // Nothing around them, and many at a time.
                let _ = fadvise(&file, 0, None, Advice::Random);
                for part in parts.iter() {
                    refuse_stopped(stop)?;
                    let length = NonZeroU64::new(part.end - part.start);
                    let _ = fadvise(&file, part.start, length, Advice::WillNeed);
                }
                parts.iter().try_for_each(read)?;
            }
        }
        Ok(warmed)
    }

    /// How much of it was in the page cache, as far as is known where.
    fn cached_bytes(&self) -> u64 {
        match self.facts.cached() {
            Cached::Nothing | Cached::SomeParts => 0,
            Cached::All => self.size_bytes,
            Cached::Parts(parts) => parts.bytes(),
        }
    }
}

/// What was read into the page cache before a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Warmed {
    pub bytes: u64,
    /// Nothing was read because the files would need this much memory.
    pub too_large: Option<TooLarge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge {
    pub cached_bytes: u64,
    pub available_bytes: u64,
}

/// Drops the files from the page cache, then reads those into it that were there when the recording
/// began: either all of them or, if they do not fit into `available_bytes`, none, because reading
/// one would evict another.
pub(super) fn cool_or_warm(
    layouts: &[Layout<'_>],
    available_bytes: impl Fn() -> Option<u64>,
    stop: &AtomicBool,
) -> Result<Warmed, Error> {
    let files = || layouts.iter().flat_map(|of| &of.shapes).filter(|shape| shape.is_a_file());
    for shape in files() {
        refuse_stopped(stop)?;
        shape.cool()?;
    }
    let cached_bytes = files().map(Shape::cached_bytes).fold(0, u64::saturating_add);
    if cached_bytes == 0 {
        return Ok(Warmed::default());
    }
    if let Some(available_bytes) = available_bytes().filter(|bytes| cached_bytes > *bytes) {
        let too_large = Some(TooLarge { cached_bytes, available_bytes });
        return Ok(Warmed { bytes: 0, too_large });
    }
    let mut bytes = 0;
    for shape in files() {
        bytes += shape.warm(stop)?;
    }
    Ok(Warmed { bytes, too_large: None })
}

fn refuse_stopped(stop: &AtomicBool) -> Result<(), Error> {
    if stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// The parts of `whole` between ranges that are in order.
fn between(whole: Range<u64>, ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut at = whole.start;
    let mut parts = Vec::new();
    for range in ranges.chain(std::iter::once(whole.end..whole.end)) {
        let end = range.start.min(whole.end);
        if at < end {
            parts.push(at..end);
        }
        at = at.max(range.end);
    }
    parts
}

struct Progress<'a> {
    done: u64,
    total: u64,
    shows: &'a LayoutProgress<'a>,
    stop: &'a AtomicBool,
    chunk: Vec<u8>,
}

impl Progress<'_> {
    fn add(&mut self, bytes: u64) -> Result<(), Error> {
        self.done += bytes;
        (self.shows)(self.done.min(self.total), self.total);
        refuse_stopped(self.stop)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Missing,
    Partial,
    Ready,
    Used,
}

/// The files of a trace in a directory.
pub(super) struct Layout<'a> {
    directory: &'a Path,
    shapes: Vec<Shape<'a>>,
}

impl<'a> Layout<'a> {
    pub(super) fn of(recording: &'a Recording, directory: &'a Path) -> Self {
        let shape = |(number, facts)| Shape::of(recording, directory, number, facts);
        let shapes = (0..).zip(&recording.survey.files).map(shape).collect();
        Self { directory, shapes }
    }

    /// What the files take, with what the replay adds to them.
    pub(super) fn bytes(&self) -> u64 {
        let grown = |shape: &Shape<'_>| shape.bytes().saturating_add(shape.facts.growth_bytes());
        self.shapes.iter().map(grown).fold(0, u64::saturating_add)
    }

    fn is_ready(shape: &Shape<'_>) -> bool {
        shape.facts.is_created() || shape.is_there()
    }

    /// What must be done before a replay can begin.
    fn work(&self) -> Result<Work, Error> {
        let state = self.state()?;
        if state == State::Ready && self.shapes.iter().all(Self::is_ready) {
            return Ok(Work { state, restores: true, ..Work::default() });
        }
        let restores = matches!(state, State::Ready | State::Used);
        let is_made =
            |shape: &&Shape<'_>| !restores || shape.must_be_new() || !Self::is_ready(shape);
        let made = || self.shapes.iter().filter(is_made);
        let total_bytes = made().map(Shape::bytes).fold(0, u64::saturating_add);
        let replaced = made().filter_map(|shape| shape.path.symlink_metadata().ok());
        let replaced_bytes = replaced.map(|facts| facts.blocks().saturating_mul(512)).sum();
        let growth = self.shapes.iter().map(|shape| shape.facts.growth_bytes());
        let needed_bytes = growth.fold(total_bytes, u64::saturating_add);
        Ok(Work { state, restores, is_needed: true, total_bytes, needed_bytes, replaced_bytes })
    }

    fn perform(&self, work: &Work, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.begin(work.state)?;
        for shape in &self.shapes {
            if work.restores {
                shape.restore(progress)?;
            } else {
                shape.lay_out(progress)?;
            }
        }
        self.set(State::Ready)
    }

    /// A trial begins.
    pub(super) fn use_now(&self) -> Result<(), Error> {
        self.set(State::Used)
    }

    fn state(&self) -> Result<State, Error> {
        let directory = self.directory;
        match directory.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(State::Missing),
            Err(error) => return Err(Error::path("examine", directory)(error)),
            Ok(facts) if facts.is_dir() && facts.uid() == own_user() => {}
            Ok(_) => return Err(self.not_ours()),
        }
        let mut text = String::new();
        let mark = within().read(true).open(directory.join(MARK));
        match mark.and_then(|file| file.take(64).read_to_string(&mut text)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let is_empty = fs::read_dir(directory).is_ok_and(|mut all| all.next().is_none());
                return if is_empty { Ok(State::Partial) } else { Err(self.not_ours()) };
            }
            Err(error) => return Err(Error::path("read", &directory.join(MARK))(error)),
        }
        Ok(match text.trim_end() {
            "ready" => State::Ready,
            "used" => State::Used,
            _ => State::Partial,
        })
    }

    fn not_ours(&self) -> Error {
        Error::ReplayTarget {
            target: shown(self.directory).display().to_string(),
            what: "the directory exists and was not created by iotax; move it away, or choose \
                   another directory"
                .to_owned(),
        }
    }

    fn begin(&self, state: State) -> Result<(), Error> {
        if state == State::Missing {
            let created = fs::create_dir(self.directory);
            created.map_err(Error::path("create", self.directory))?;
        }
        if matches!(state, State::Missing | State::Partial) {
            self.set(State::Partial)?;
        } else {
            self.set(State::Used)?;
        }
        Ok(())
    }

    /// The mark is synced after the files that it covers.
    fn set(&self, state: State) -> Result<(), Error> {
        let word = match state {
            State::Missing | State::Partial => "partial",
            State::Ready => "ready",
            State::Used => "used",
        };
        let path = self.directory.join(MARK);
        let write = || -> io::Result<()> {
            let mut file = within().write(true).create(true).truncate(true).open(&path)?;
            writeln!(file, "{word}")?;
            file.sync_all()?;
            OsFile::open(self.directory)?.sync_all()
        };
        write().map_err(Error::path("write", &path))
    }
}

/// What must be done before a replay can begin in a directory.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    state: State,
    /// Instead of laying out all files.
    restores: bool,
    is_needed: bool,
    /// To be written.
    total_bytes: u64,
    /// The same, and what the replay adds to the files.
    needed_bytes: u64,
    /// What is freed on the way.
    replaced_bytes: u64,
}

/// Makes the files of all copies as they were when the recording began. Nothing is written if there
/// is not enough space for all of them.
pub(super) fn make_ready(
    layouts: &[Layout<'_>],
    progress: &LayoutProgress<'_>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let all = layouts.iter().map(Layout::work).collect::<Result<Vec<Work>, Error>>()?;
    let needed: Vec<(&Layout<'_>, Work)> =
        layouts.iter().zip(all).filter(|(_, work)| work.is_needed).collect();
    let sum =
        |of: fn(&Work) -> u64| needed.iter().map(|(_, work)| of(work)).fold(0, u64::saturating_add);
    let Some((first, _)) = needed.first() else { return Ok(()) };
    let copies = u32::try_from(needed.len()).unwrap_or(u32::MAX);
    let replaced_bytes = sum(|work| work.replaced_bytes);
    first.check_space(copies, sum(|work| work.needed_bytes), replaced_bytes)?;
    let total = sum(|work| work.total_bytes);
    let mut progress = Progress { done: 0, total, shows: progress, stop, chunk: Vec::new() };
    needed.iter().try_for_each(|(layout, work)| layout.perform(work, &mut progress))
}

impl Layout<'_> {
    /// Whether there is space for all copies. `replaced_bytes` are freed on the way.
    fn check_space(
        &self,
        copies: u32,
        wanted_bytes: u64,
        replaced_bytes: u64,
    ) -> Result<(), Error> {
        let path = self.directory.parent().unwrap_or(self.directory);
        let facts = statvfs(path).map_err(Error::path("examine the file system of", path))?;
        let free = facts.f_bavail.saturating_mul(facts.f_frsize);
        let available_bytes = free.saturating_add(replaced_bytes);
        if wanted_bytes > available_bytes {
            let path = shown(path);
            return Err(Error::ReplaySpace { path, copies, wanted_bytes, available_bytes });
        }
        Ok(())
    }
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// For system calls.
pub(super) fn c_name(file: File, is_second: bool) -> CString {
    CString::new(name(file, is_second)).expect("a name without zeros")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between_is_found() {
        let gaps = [10..20, 20..30, 50..200];
        assert_eq!(between(0..100, gaps.clone().into_iter()), [0..10, 30..50]);
        assert_eq!(between(0..40, gaps.into_iter()), [0..10, 30..40]);
        assert_eq!(between(0..0, std::iter::empty()), []);
    }
}
