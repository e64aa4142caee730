//! Lays out the test files of a workload: real data, on disk before anything is measured.

use std::borrow::Cow;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use iotax_experiment::{Job, Workload};
use iotax_vdisk::VirtualDisk;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::fs::{Advice, FallocateFlags, SeekFrom, fadvise, fallocate, seek, statvfs};
use rustix::io::Errno;

use crate::driver::LayoutProgress;
use crate::error::Error;
use crate::file_assignment::{FileKind, FilePlace, PAGE_BYTES, Places, TestFile};
use crate::index;
use crate::target::{IoTarget, shown};
use crate::verify::MAGIC;

/// Bytes written by one system call.
const CHUNK_BYTES: usize = 1 << 20;
/// Pages looked at to tell a file that holds data from one that was only allocated.
const SAMPLES: u64 = 64;

/// See [`LoadDriver::prepare`](crate::LoadDriver::prepare).
pub(crate) fn prepare(
    workload: &Workload,
    target: IoTarget<'_>,
    progress: &LayoutProgress<'_>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let places = Places::resolve(workload, target)?;
    let Some(directory) = places.directory(target) else { return Ok(()) };
    refuse_foreign_files(workload, target, &places)?;
    let mut missing = Vec::new();
    for file in places.files.iter().filter(|file| file.bytes > 0) {
        if let Some(from) = first_missing(file)? {
            missing.push((file, from));
        }
    }
    let files: u64 = missing.iter().map(|(file, from)| file.bytes - from).sum();
    check_space(directory, files + index_space(workload, directory))?;
    // All space is allocated before any data is written, so that a lack of space shows at once.
    for (file, _) in &missing {
        allocate(directory, file)?;
    }
    let total = missing.iter().map(|(file, from)| bytes_to_write(file, *from)).sum();
    let mut done = 0;
    for (file, from) in missing {
        write_data(file, from, stop, &mut |bytes| {
            done += bytes;
            progress(done, total);
        })?;
    }
    workload.index.map_or(Ok(()), |loads| index::lay_out(directory, loads))
}

/// Refuses to write to files in a directory target that this crate did not lay out.
pub(crate) fn refuse_foreign_files(
    workload: &Workload,
    target: IoTarget<'_>,
    places: &Places,
) -> Result<(), Error> {
    let Some(directory) = places.directory(target) else { return Ok(()) };
    for file in &places.files {
        if let Some(job) = &file.written_by {
            refuse_foreign(&file.path, job)?;
        }
    }
    if workload.index.is_some() {
        refuse_foreign(&directory.join(index::NAME), "index")
    } else {
        Ok(())
    }
}

/// Marks the files of writing jobs as ours again, after another program wrote over the marks. Only
/// for files that [`refuse_foreign_files`] has let pass.
pub(crate) fn mark_again(places: &Places) -> Result<(), Error> {
    if places.kind != FileKind::Directory {
        return Ok(());
    }
    for file in places.files.iter().filter(|file| file.written_by.is_some()) {
        let opened = match file.options(0).write(true).open(&file.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened.map_err(Error::path("open", &file.path))?,
        };
        opened.write_all_at(&MAGIC, 0).map_err(Error::path("write to", &file.path))?;
    }
    Ok(())
}

fn refuse_foreign(path: &Path, job: &str) -> Result<(), Error> {
    match path.symlink_metadata() {
        Ok(facts) if facts.len() > 0 && !index::is_ours(path) => {
            Err(Error::NotOurs { path: shown(path), job: job.to_owned() })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Bytes that the index still needs: two versions, one of which may be there already.
fn index_space(workload: &Workload, directory: &Path) -> u64 {
    let Some(loads) = workload.index else { return 0 };
    let there = match directory.join(index::NAME).metadata() {
        Ok(facts) => facts.len().min(loads.index_bytes),
        Err(_) => 0,
    };
    2 * loads.index_bytes - there
}

/// Where laying out must begin, or `None` if the file is there already.
fn first_missing(file: &TestFile) -> Result<Option<u64>, Error> {
    let path = &file.path;
    let opened = match file.options(0).read(true).open(path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Some(0)),
        Err(source) => return Err(Error::path("open", path)(source)),
    };
    let length = opened.metadata().map_err(Error::path("examine", path))?.len();
    let ours = length == 0 || index::is_ours(path);
    let enough = length >= file.bytes;
    if !ours && !enough {
        return Err(Error::TooShort { path: shown(path), length, wanted: file.bytes });
    }
    if ours && file.read && !holds_data(&opened, length.min(file.bytes)) {
        return Ok(Some(0));
    }
    // The length grows with the data, so a layout that was cut short goes on where it stopped.
    Ok((!enough).then_some(length - length % CHUNK_BYTES as u64))
}

/// Whether sampled pages contain data; a file that a writing job only allocated has none.
fn holds_data(file: &File, bytes: u64) -> bool {
    let pages = bytes / PAGE_BYTES as u64;
    (0..SAMPLES.min(pages)).all(|sample| {
        let page = sample * pages / SAMPLES.min(pages);
        let mut start = [0; 64];
        let at = page * PAGE_BYTES as u64;
        file.read_exact_at(&mut start, at).is_ok() && start.iter().any(|byte| *byte != 0)
    })
}

fn check_space(directory: &Path, wanted: u64) -> Result<(), Error> {
    let facts = statvfs(directory).map_err(Error::path("examine the file system of", directory))?;
    let available = facts.f_bavail.saturating_mul(facts.f_frsize);
    if wanted > available {
        return Err(Error::NoSpace { path: shown(directory), wanted, available });
    }
    Ok(())
}

fn allocate(directory: &Path, file: &TestFile) -> Result<(), Error> {
    let path = &file.path;
    let opened = file
        .options(0)
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(Error::path("create", path))?;
    match fallocate(&opened, FallocateFlags::KEEP_SIZE, 0, file.bytes) {
        // File systems without it find out about a full disk while writing.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(Errno::NOSPC | Errno::DQUOT) => {
            check_space(directory, file.bytes)?;
            Err(Error::path("allocate space for", path)(Errno::NOSPC))
        }
        Err(errno) => Err(Error::path("allocate space for", path)(errno)),
    }
}

/// A file that is only written to needs no data, but its first page is written to mark it as ours.
fn bytes_to_write(file: &TestFile, from: u64) -> u64 {
    if file.read { file.bytes - from } else { (PAGE_BYTES as u64).min(file.bytes) }
}

fn write_data(
    file: &TestFile,
    from: u64,
    stop: &AtomicBool,
    written: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let path = &file.path;
    let write = Error::path("write", path);
    let opened = file.options(0).write(true).open(path).map_err(Error::path("open", path))?;
    let from = if file.read { from } else { 0 };
    let end = from + bytes_to_write(file, from);
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut at = from;
    while at < end {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let len = (end - at).min(CHUNK_BYTES as u64);
        let data = &mut chunk[..usize::try_from(len).expect("at most a chunk")];
        fill(data, at, path);
        if let Err(source) = opened.write_all_at(data, at) {
            return Err(write(source));
        }
        at += len;
        written(len);
    }
    let length = opened.metadata().map_err(Error::path("examine", path))?.len();
    if length < file.bytes {
        opened.set_len(file.bytes).map_err(Error::path("extend", path))?;
    }
    opened.sync_all().map_err(Error::path("fsync", path))
}

/// Random data that differs from chunk to chunk and file to file, each page stamped.
pub(crate) fn fill(data: &mut [u8], offset: u64, path: &Path) {
    use std::hash::{Hash as _, Hasher as _};
    let mut hasher = std::hash::DefaultHasher::new();
    (path, offset).hash(&mut hasher);
    Xoshiro256PlusPlus::seed_from_u64(hasher.finish()).fill_bytes(data);
    for page in data.chunks_mut(PAGE_BYTES) {
        if let Some(stamp) = page.first_chunk_mut::<{ MAGIC.len() }>() {
            *stamp = MAGIC;
        }
    }
}

/// Fills the holes that trims have left in files, so that each trial trims data.
pub(crate) fn refill(
    target: IoTarget<'_>,
    places: &Places,
    stop: &AtomicBool,
) -> Result<(), Error> {
    if places.directory(target).is_none() {
        return Ok(());
    }
    for file in places.files.iter().filter(|file| file.trimmed) {
        let path = &file.path;
        let opened = file.options(0).read(true).open(path).map_err(Error::path("open", path))?;
        // File systems that have no holes say that the first is at the end.
        let hole = seek(&opened, SeekFrom::Hole(0)).unwrap_or(u64::MAX);
        if hole < file.bytes {
            write_data(file, 0, stop, &mut |_| {})?;
        }
    }
    Ok(())
}

/// Frees the space of files whose jobs must be the first to write to it, except the page that marks
/// them as ours, and allocates it again.
pub(crate) fn renew(target: IoTarget<'_>, places: &Places) -> Result<(), Error> {
    let Some(directory) = places.directory(target) else { return Ok(()) };
    for file in places.files.iter().filter(|file| file.fresh) {
        let path = &file.path;
        let opened = file.options(0).write(true).open(path);
        let opened = opened.map_err(Error::path("open", path))?;
        let length = opened.metadata().map_err(Error::path("examine", path))?.len();
        let kept = length.min(PAGE_BYTES as u64);
        for length in [kept, length] {
            opened.set_len(length).map_err(Error::path("reallocate", path))?;
        }
        allocate(directory, file)?;
        opened.sync_all().map_err(Error::path("fsync", path))?;
    }
    Ok(())
}

/// Empties the caches for the jobs that need that.
pub(crate) fn invalidate(target: IoTarget<'_>, places: &Places) -> Result<(), Error> {
    if let IoTarget::Disk(disk) = target {
        let wanted = places.files.iter().any(|file| file.invalidate);
        return if wanted { disk.drop_caches().map_err(cold(disk)) } else { Ok(()) };
    }
    for file in places.files.iter().filter(|file| file.invalidate) {
        let opened = file.options(0).read(true).open(&file.path);
        let opened = opened.map_err(Error::path("open", &file.path))?;
        drop_cached(&opened, &file.path)?;
    }
    Ok(())
}

fn cold(disk: &VirtualDisk) -> impl FnOnce(iotax_vdisk::Error) -> Error {
    let disk = disk.to_string();
    |source| Error::Disk { job: "invalidate".to_owned(), disk, source }
}

/// Writes back and forgets the cached pages of `file`.
pub(crate) fn drop_cached(file: &File, path: &Path) -> Result<(), Error> {
    file.sync_all().map_err(Error::path("fsync", path))?;
    fadvise(file, 0, None, Advice::DontNeed).map_err(Error::path("drop the cached pages of", path))
}

// The jobs of a workload by the target that they work on: one part, or one for each of several.

/// The jobs that work on one target.
pub(crate) struct TargetPart<'a> {
    /// Where they work.
    pub target: IoTarget<'a>,
    /// The workload with these jobs alone.
    pub workload: Cow<'a, Workload>,
    /// Their positions in the whole workload.
    jobs: Vec<usize>,
}

/// Divides a workload; parts without a job are left out.
///
/// # Errors
/// If a job calls its target by a name that none has.
pub(crate) fn parts<'a>(
    workload: &'a Workload,
    target: IoTarget<'a>,
) -> Result<Vec<TargetPart<'a>>, Error> {
    let IoTarget::Several(targets) = target else {
        let jobs = (0..workload.jobs.len()).collect();
        return Ok(vec![TargetPart { target, workload: Cow::Borrowed(workload), jobs }]);
    };
    let names: Vec<&str> = targets.iter().map(|(name, _)| *name).collect();
    let is_known = |job: &Job| job.target.as_deref().is_some_and(|name| names.contains(&name));
    if let Some(job) = workload.jobs.iter().find(|job| !is_known(job)) {
        let what = format!(
            "the job does not name any of the targets ({}); set its target, for example target = \
             \"{}\"",
            names.join(", "),
            names.first().unwrap_or(&"e")
        );
        return Err(Error::unsuitable(job, what));
    }
    let part = |(name, target): &(&str, IoTarget<'a>)| {
        let at = |(at, job): (usize, &Job)| (job.target.as_deref() == Some(name)).then_some(at);
        let jobs = workload.jobs.iter().enumerate().filter_map(at).collect();
        TargetPart { target: *target, workload: Cow::Owned(workload.on(name)), jobs }
    };
    Ok(targets.iter().map(part).filter(|part| !part.jobs.is_empty()).collect())
}

/// A part, and who works where in it.
pub(crate) struct PlacedPart<'a> {
    pub part: TargetPart<'a>,
    /// Its files and places.
    pub places: Places,
}

/// All parts of a workload.
pub(crate) struct PlacedParts<'a>(pub Vec<PlacedPart<'a>>);

impl<'a> PlacedParts<'a> {
    /// Looks at all targets, and decides who works where. Touches nothing.
    pub(crate) fn resolve(workload: &'a Workload, target: IoTarget<'a>) -> Result<Self, Error> {
        let placed = |part: TargetPart<'a>| {
            Ok(PlacedPart { places: Places::resolve(&part.workload, part.target)?, part })
        };
        Ok(Self(parts(workload, target)?.into_iter().map(placed).collect::<Result<_, Error>>()?))
    }

    /// One part, with these places.
    pub(crate) fn of(workload: &'a Workload, target: IoTarget<'a>, places: Places) -> Self {
        let jobs = (0..workload.jobs.len()).collect();
        let part = TargetPart { target, workload: Cow::Borrowed(workload), jobs };
        Self(vec![PlacedPart { part, places }])
    }

    /// The target of a job of the whole workload, by its position there, and where its threads work
    /// on it.
    pub(crate) fn of_job(&self, job: usize) -> (IoTarget<'a>, &Places, &[FilePlace]) {
        let found = self.0.iter().find_map(|PlacedPart { part, places }| {
            let at = part.jobs.iter().position(|other| *other == job)?;
            Some((part.target, places, places.by_job[at].as_slice()))
        });
        found.expect("every job belongs to a part")
    }

    /// The first directory in which files are laid out, if there is one.
    pub(crate) fn directory(&self) -> Option<&'a Path> {
        self.0.iter().find_map(|PlacedPart { part, places }| places.directory(part.target))
    }

    /// Refuses to write to files in directories that this crate did not lay out.
    pub(crate) fn refuse_foreign_files(&self) -> Result<(), Error> {
        self.0.iter().try_for_each(|PlacedPart { part, places }| {
            refuse_foreign_files(&part.workload, part.target, places)
        })
    }

    /// Renews files that must be new, refills trimmed ones, and drops cached pages that must be
    /// cold.
    pub(crate) fn make_ready(&self, stop: &AtomicBool) -> Result<(), Error> {
        self.0.iter().try_for_each(|PlacedPart { part, places }| {
            refill(part.target, places, stop)?;
            renew(part.target, places)?;
            invalidate(part.target, places)
        })
    }

    /// See [`mark_again`].
    pub(crate) fn mark_again(&self) -> Result<(), Error> {
        self.0.iter().try_for_each(|PlacedPart { places, .. }| mark_again(places))
    }
}
