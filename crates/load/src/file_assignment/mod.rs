//! The files of a workload, and the span of each thread in them.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use iotax_experiment::{Files, Job, Workload};

use crate::error::Error;
use crate::target::{IoTarget, shown, with_flags};

/// What kind of thing the target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Test files are laid out in it.
    Directory,
    /// Used as it is.
    File,
    /// Used as it is.
    Device,
    /// A virtual disk.
    Disk,
    /// The far end of a network path: there are no files.
    Peer,
}

impl FileKind {
    /// What is at a path, if it is of any use.
    pub(crate) fn of(facts: &Metadata) -> Option<Self> {
        match facts.file_type() {
            kind if kind.is_dir() => Some(Self::Directory),
            kind if kind.is_file() => Some(Self::File),
            kind if kind.is_block_device() => Some(Self::Device),
            _ => None,
        }
    }
}

/// Where one thread works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePlace {
    /// Indices in [`Places::files`]: usually one, and only 0 for disks.
    pub files: Vec<usize>,
    /// The bytes of each of them that the thread uses.
    pub span: Span,
}

/// A file that the workload uses.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a file")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestFile {
    /// Its path; for a disk, its stack text.
    pub path: PathBuf,
    /// Required size in bytes.
    pub bytes: u64,
    /// Some job reads or trims it: it must contain data, not holes.
    pub read: bool,
    /// The first job that writes to it.
    pub written_by: Option<String>,
    /// Some job needs it out of the page cache.
    pub invalidate: bool,
    /// Some job needs to be the first to write to its blocks.
    pub fresh: bool,
    /// Some job trims it.
    pub trimmed: bool,
    /// It is in a directory where files are laid out.
    pub within: bool,
}

impl TestFile {
    /// To open it, to be completed, with further flags of open(2).
    pub(crate) fn options(&self, flags: i32) -> OpenOptions {
        if self.within {
            return with_flags(flags);
        }
        let mut options = OpenOptions::new();
        options.custom_flags(flags);
        options
    }

    /// Its name in messages.
    pub(crate) fn shown(&self) -> String {
        shown(&self.path).display().to_string()
    }
}

/// All files and places of a workload on a target.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// What the target is.
    pub kind: FileKind,
    /// Distinct files; exactly one unless the target is a directory.
    pub files: Vec<TestFile>,
    /// By job, then by thread.
    pub by_job: Vec<Vec<FilePlace>>,
}

impl Places {
    /// Examines the target, and assigns files and spans to threads. Changes nothing.
    pub(crate) fn resolve(workload: &Workload, target: IoTarget<'_>) -> Result<Self, Error> {
        let (kind, path, capacity_bytes) = examine(target)?;
        let mut places = match kind {
            FileKind::Directory => in_directory(workload, &path),
            FileKind::File | FileKind::Device => {
                if target.may_be_overwritten() {
                    refuse_index(workload, &path)?;
                } else {
                    refuse_writes(workload, &path, kind)?;
                }
                in_one(workload, kind, path, capacity_bytes)?
            }
            FileKind::Disk => {
                let reserved = workload.index.map_or(0, |index| 2 * slot_bytes(index.index_bytes));
                if reserved > 0 && reserved >= capacity_bytes {
                    return Err(Error::SpanTooSmall {
                        job: "index".to_owned(),
                        target: shown(&path).display().to_string(),
                        span_bytes: capacity_bytes,
                        block_bytes: u32::try_from(reserved).unwrap_or(u32::MAX),
                    });
                }
                in_one(workload, kind, path, capacity_bytes - reserved)?
            }
            FileKind::Peer => {
                refuse_index(workload, &path)?;
                in_one(workload, kind, path, capacity_bytes)?
            }
        };
        places.separate_verified_writers(workload)?;
        places.refuse_small(workload)?;
        Ok(places)
    }

    /// The directory in which the files are laid out, if the target is one.
    pub(crate) fn directory<'a>(&self, target: IoTarget<'a>) -> Option<&'a Path> {
        target.path().filter(|_| self.kind == FileKind::Directory)
    }

    /// A thread's writes can only be verified if nobody else writes there. So threads of a job that
    /// share a file get parts of it, and other jobs must not write to it.
    fn separate_verified_writers(&mut self, workload: &Workload) -> Result<(), Error> {
        let kind = self.kind;
        let touches = |job: &Job| kind == FileKind::Disk || touches_target(job);
        let verified =
            |job: &Job| (job.verify || job.verify_apart) && job.writes_data() && touches(job);
        let checked = |job: &Job| job.verify_apart && job.reads() && touches(job);
        for (job, places) in workload.jobs.iter().zip(&mut self.by_job) {
            if verified(job) && shared(places) {
                let unit = job.align_bytes.unwrap_or(job.min_block_bytes().into()).max(1);
                let part = places[0].span.bytes / places.len() as u64;
                let part = part - part % unit;
                for (index, place) in (0..).zip(places) {
                    place.span.start += index * part;
                    place.span.bytes = part;
                }
            }
            let granule = job.granule_bytes();
            if (verified(job) || checked(job)) && !can_verify(granule) {
                let what = format!(
                    "block sizes or offsets in multiples of {granule} bytes leave no room for the \
                         header that `verify` needs; use multiples of 512 bytes"
                );
                return Err(Error::unsuitable(job, what));
            }
        }
        let jobs = || workload.jobs.iter().zip(&self.by_job);
        for (job, own) in jobs().filter(|(job, _)| verified(job) || checked(job)) {
            let others = jobs().filter(|(other, _)| other.name != job.name);
            let mut writers = others.filter(|(other, _)| other.writes() && touches(other));
            if let Some((other, _)) = writers.find(|(_, theirs)| overlap(own, theirs)) {
                let what = format!(
                    "`verify` cannot work while job `{}` writes to the same data; give each job \
                     its own files",
                    other.name
                );
                return Err(Error::unsuitable(job, what));
            }
        }
        Ok(())
    }

    fn refuse_small(&self, workload: &Workload) -> Result<(), Error> {
        for (job, places) in workload.jobs.iter().zip(&self.by_job) {
            let block_bytes = job.max_block_bytes();
            for place in places {
                if let Some(align) = job.align_bytes
                    && place.span.bytes < align
                {
                    let what = format!(
                        "`align` is {align} bytes, but the job can use only {} bytes of {}; choose \
                         a smaller `align`",
                        place.span.bytes,
                        self.files[place.files[0]].shown()
                    );
                    return Err(Error::unsuitable(job, what));
                }
                if place.span.bytes < u64::from(block_bytes) {
                    return Err(Error::SpanTooSmall {
                        job: job.name.clone(),
                        target: self.files[place.files[0]].shown(),
                        span_bytes: place.span.bytes,
                        block_bytes,
                    });
                }
            }
        }
        Ok(())
    }
}

fn shared(places: &[FilePlace]) -> bool {
    places.len() > 1 && places.iter().all(|place| *place == places[0])
}

fn overlap(some: &[FilePlace], others: &[FilePlace]) -> bool {
    let end = |span: Span| span.start + span.bytes;
    some.iter().any(|a| {
        others
            .iter()
            .any(|b| share_a_file(a, b) && a.span.start < end(b.span) && b.span.start < end(a.span))
    })
}

fn share_a_file(a: &FilePlace, b: &FilePlace) -> bool {
    a.files.iter().any(|file| b.files.contains(file))
}

/// One version of the index on a disk: whole MiB, so that any block size fits.
pub(crate) fn slot_bytes(index_bytes: u64) -> u64 {
    index_bytes.next_multiple_of(1 << 20)
}

fn examine(target: IoTarget<'_>) -> Result<(FileKind, PathBuf, u64), Error> {
    match target {
        IoTarget::Disk(disk) => Ok((FileKind::Disk, disk.to_string().into(), disk.size_bytes())),
        IoTarget::Peer(peer) => Ok((FileKind::Peer, peer.to_string().into(), u64::MAX / 2)),
        IoTarget::Several(_) => unreachable!("its parts are examined one by one"),
        IoTarget::Path(path) | IoTarget::Own(path) => {
            let facts = path.metadata().map_err(Error::path("find", path))?;
            let kind = FileKind::of(&facts).ok_or_else(|| Error::NoTarget { path: shown(path) })?;
            if kind == FileKind::Directory {
                return Ok((kind, path.to_owned(), 0));
            }
            let mut file = File::open(path).map_err(Error::path("open", path))?;
            // Works for files and block devices alike.
            let bytes =
                file.seek(SeekFrom::End(0)).map_err(Error::path("find the size of", path))?;
            Ok((kind, path.to_owned(), bytes))
        }
    }
}

fn refuse_writes(workload: &Workload, path: &Path, kind: FileKind) -> Result<(), Error> {
    let writer = workload.jobs.iter().find(|job| job.writes() && touches_target(job));
    let writer = writer.map(|job| job.name.clone());
    let Some(job) = writer.or_else(|| workload.index.map(|_| "index".to_owned())) else {
        return Ok(());
    };
    let what = if kind == FileKind::Device { "a block device" } else { "an existing file" };
    Err(Error::WouldWrite { path: shown(path), what, job })
}

/// Versions of an index are files, so they need a directory.
fn refuse_index(workload: &Workload, path: &Path) -> Result<(), Error> {
    match workload.index {
        Some(_) => Err(Error::IndexOnDevice { path: shown(path) }),
        None => Ok(()),
    }
}

/// Whether a job on a path does any I/O to files of ours there: trees of files are laid out apart.
fn touches_target(job: &Job) -> bool {
    job.engine.has_span()
}

fn in_directory(workload: &Workload, directory: &Path) -> Places {
    let mut files: Vec<TestFile> = Vec::new();
    let mut of_file = |path: PathBuf, job: &Job, start: u64| {
        let index = files.iter().position(|file| file.path == path).unwrap_or_else(|| {
            files.push(TestFile { path, within: true, ..TestFile::default() });
            files.len() - 1
        });
        let file = &mut files[index];
        if touches_target(job) {
            file.bytes = file.bytes.max(start + bytes_per_file(job));
            file.read |= job.reads() || job.trims.is_some();
            file.trimmed |= job.trims.is_some();
            file.invalidate |= job.invalidate;
            file.fresh |= job.fresh;
            if job.writes() && file.written_by.is_none() {
                file.written_by = Some(job.name.clone());
            }
        }
        index
    };
    let places = workload.jobs.iter().map(|job| {
        let threads = (0..job.threads).map(|thread| {
            let names = job.file_names(thread).into_iter();
            let start = start_of(job, thread);
            let files = names.map(|name| of_file(directory.join(name), job, start)).collect();
            FilePlace { files, span: Span { start, bytes: bytes_per_file(job) } }
        });
        threads.collect()
    });
    let places = places.collect();
    Places { kind: FileKind::Directory, files, by_job: places }
}

/// Where a thread's span begins in its files.
fn start_of(job: &Job, thread: u32) -> u64 {
    job.offset_bytes + u64::from(thread) * job.offset_increment_bytes
}

/// Bytes that each thread uses of each of its files.
fn bytes_per_file(job: &Job) -> u64 {
    job.size_bytes / u64::from(job.files_per_thread.max(1))
}

/// Everything in the first `usable` bytes of one file, device or disk. Each "file" of the
/// workload becomes a region if all of them fit, in order; otherwise each job's threads get
/// regions of their own if those fit; otherwise they share the whole.
fn in_one(
    workload: &Workload,
    kind: FileKind,
    path: PathBuf,
    usable: u64,
) -> Result<Places, Error> {
    for job in &workload.jobs {
        refuse_offsets_and_files(job, kind, &path, usable)?;
    }
    let all: u64 = regions(workload).iter().map(|(_, bytes)| bytes).sum();
    let places = if all <= usable { apart(workload) } else { overlaid(workload, usable) };
    let file = TestFile {
        path,
        bytes: places.iter().flatten().map(|p| p.span.start + p.span.bytes).max().unwrap_or(0),
        read: workload.jobs.iter().any(Job::reads),
        written_by: workload.jobs.iter().find(|job| job.writes()).map(|job| job.name.clone()),
        invalidate: kind != FileKind::Peer && workload.jobs.iter().any(|job| job.invalidate),
        ..TestFile::default()
    };
    Ok(Places { kind, files: vec![file], by_job: places })
}

/// Refuses options that need a directory, or a larger target.
fn refuse_offsets_and_files(
    job: &Job,
    kind: FileKind,
    path: &Path,
    usable: u64,
) -> Result<(), Error> {
    let target = shown(path);
    let target = target.display();
    if kind != FileKind::Disk && !touches_target(job) {
        return Ok(());
    }
    if job.files_per_thread > 1 {
        let files = job.files_per_thread;
        let what = format!(
            "each thread uses {files} files, but {target} is a single file or disk; name a \
             directory, or set `files-per-thread = 1`"
        );
        return Err(Error::unsuitable(job, what));
    }
    if job.offset_bytes > 0 && job.offset_bytes >= usable {
        let offset = job.offset_bytes;
        let what = format!(
            "offset {offset} is beyond the {usable} bytes of {target}; choose a smaller `offset`"
        );
        return Err(Error::unsuitable(job, what));
    }
    Ok(())
}

/// Starts of regions are whole MiB, so that any block size stays aligned.
const REGION_ALIGN: u64 = 1 << 20;

/// (name, bytes) of the files that the workload would have in a directory.
fn regions(workload: &Workload) -> Vec<(String, u64)> {
    let mut regions: Vec<(String, u64)> = Vec::new();
    for job in &workload.jobs {
        for thread in 0..job.threads {
            let name = match &job.files {
                Files::PerThread => format!("{}.{thread}", job.name),
                Files::Shared(name) => name.clone(),
            };
            let bytes = region_bytes(job);
            match regions.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = (*known).max(bytes),
                None => regions.push((name, bytes)),
            }
        }
    }
    regions
}

/// What a job would have of its file in a directory.
fn region_bytes(job: &Job) -> u64 {
    start_of(job, job.threads.saturating_sub(1))
        .saturating_add(job.size_bytes)
        .next_multiple_of(REGION_ALIGN)
}

fn apart(workload: &Workload) -> Vec<Vec<FilePlace>> {
    let regions = regions(workload);
    let region_of = |name: &str| -> u64 {
        regions.iter().take_while(|(known, _)| known != name).map(|(_, bytes)| bytes).sum()
    };
    let of_job = |job: &Job| {
        let threads = (0..job.threads).map(|thread| {
            let start = match &job.files {
                Files::PerThread => region_of(&format!("{}.{thread}", job.name)),
                Files::Shared(name) => region_of(name),
            };
            let start = start + start_of(job, thread);
            FilePlace { files: vec![0], span: Span { start, bytes: job.size_bytes } }
        });
        threads.collect()
    };
    workload.jobs.iter().map(of_job).collect()
}

fn overlaid(workload: &Workload, usable: u64) -> Vec<Vec<FilePlace>> {
    let of_job = |job: &Job| {
        let stride = region_bytes(job);
        let own = job.files == Files::PerThread
            && stride.checked_mul(u64::from(job.threads)).is_some_and(|all| all <= usable);
        let threads = (0..job.threads).map(|thread| {
            let own_start = if own { u64::from(thread) * stride } else { 0 };
            let start = start_of(job, thread) + own_start;
            let bytes = job.size_bytes.min(usable.saturating_sub(start));
            FilePlace { files: vec![0], span: Span { start, bytes } }
        });
        threads.collect()
    };
    workload.jobs.iter().map(of_job).collect()
}

#[cfg(test)]
mod tests;

/// Of memory, and of stamps in written data.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Header of each unit of verified data: magic, run and writer, offset, number of the write, and a
/// checksum of the rest of the unit.
pub(crate) const HEADER_BYTES: usize = 32;

/// A range of the target; a thread's offsets stay in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub start: u64,
    /// Length in bytes; at least the largest block.
    pub bytes: u64,
}

impl Span {
    /// The pages that it touches.
    pub(crate) fn in_pages(self) -> Self {
        let page = PAGE_BYTES as u64;
        let start = self.start - self.start % page;
        Self { start, bytes: (self.start + self.bytes - start).next_multiple_of(page) }
    }
}

/// The largest power of two that divides both a granule and a page.
pub(crate) fn unit_bytes(granule: u64) -> u32 {
    1 << granule.trailing_zeros().min(PAGE_BYTES.trailing_zeros())
}

/// Whether units of such a granule have room for headers.
pub(crate) fn can_verify(granule: u64) -> bool {
    granule > 0 && unit_bytes(granule) as usize > HEADER_BYTES
}
