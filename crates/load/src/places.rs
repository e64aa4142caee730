//! Which thread works where: the files of a workload, and the span of each thread in them.

use std::fs::{File, Metadata};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use iotax_spec::{Engine, Files, Job, Workload};

use crate::driver::Target;
use crate::error::Error;
use crate::native::access::Span;

/// What kind of thing the target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Test files are laid out in it.
    Directory,
    /// Used as it is.
    File,
    /// Used as it is.
    Device,
    /// A virtual disk.
    Disk,
}

/// Where one thread works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Index in [`Places::files`]; 0 for disks.
    pub file: usize,
    /// The bytes of it that the thread uses.
    pub span: Span,
}

/// A file that the workload uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFile {
    /// Its path; for a disk, its stack text.
    pub path: PathBuf,
    /// Bytes that have to be there.
    pub bytes: u64,
    /// Some job reads it: it must hold data, not holes.
    pub read: bool,
    /// The first job that writes to it.
    pub written_by: Option<String>,
    /// Some job wants it out of the page cache.
    pub invalidate: bool,
}

/// All files and places of a workload on a target.
#[derive(Debug, Clone)]
pub struct Places {
    /// What the target is.
    pub kind: Kind,
    /// Distinct files; exactly one unless the target is a directory.
    pub files: Vec<TestFile>,
    /// By job, then by thread.
    pub places: Vec<Vec<Place>>,
    /// Size of a file, device or disk target.
    pub capacity_bytes: u64,
}

impl Places {
    /// Looks at the target, and decides who works where. Touches nothing.
    pub fn resolve(workload: &Workload, target: Target<'_>) -> Result<Self, Error> {
        let (kind, path, capacity_bytes) = examine(target)?;
        let places = match kind {
            Kind::Directory => in_directory(workload, &path),
            Kind::File | Kind::Device => {
                refuse_writes(workload, &path, kind)?;
                in_one(workload, kind, path, capacity_bytes, 0)
            }
            Kind::Disk => {
                let reserved = workload.index.map_or(0, |index| 2 * slot_bytes(index.index_bytes));
                if reserved > 0 && reserved >= capacity_bytes {
                    return Err(Error::SpanTooSmall {
                        job: "index".to_owned(),
                        target: path.display().to_string(),
                        span_bytes: capacity_bytes,
                        block_bytes: u32::try_from(reserved).unwrap_or(u32::MAX),
                    });
                }
                in_one(workload, kind, path, capacity_bytes, reserved)
            }
        };
        places.refuse_small(workload)?;
        Ok(places)
    }

    fn refuse_small(&self, workload: &Workload) -> Result<(), Error> {
        for (job, places) in workload.jobs.iter().zip(&self.places) {
            let block_bytes = job.block_sizes.max_bytes();
            for place in places {
                if place.span.bytes < u64::from(block_bytes) {
                    return Err(Error::SpanTooSmall {
                        job: job.name.clone(),
                        target: self.files[place.file].path.display().to_string(),
                        span_bytes: place.span.bytes,
                        block_bytes,
                    });
                }
            }
        }
        Ok(())
    }
}

/// One version of the index on a disk: whole MiB, so that any block size fits.
pub fn slot_bytes(index_bytes: u64) -> u64 {
    index_bytes.next_multiple_of(1 << 20)
}

fn examine(target: Target<'_>) -> Result<(Kind, PathBuf, u64), Error> {
    match target {
        Target::Disk(disk) => Ok((Kind::Disk, disk.to_string().into(), disk.size_bytes())),
        Target::Path(path) => {
            let facts = path.metadata().map_err(Error::path("find", path))?;
            if facts.is_dir() {
                return Ok((Kind::Directory, path.to_owned(), 0));
            }
            let kind =
                file_kind(&facts).ok_or_else(|| Error::NoTarget { path: path.to_owned() })?;
            let mut file = File::open(path).map_err(Error::path("open", path))?;
            // Works for files and block devices alike.
            let bytes = file.seek(SeekFrom::End(0)).map_err(Error::path("measure", path))?;
            Ok((kind, path.to_owned(), bytes))
        }
    }
}

fn file_kind(facts: &Metadata) -> Option<Kind> {
    if facts.is_file() {
        Some(Kind::File)
    } else if facts.file_type().is_block_device() {
        Some(Kind::Device)
    } else {
        None
    }
}

fn refuse_writes(workload: &Workload, path: &Path, kind: Kind) -> Result<(), Error> {
    let writer = workload.jobs.iter().find(|job| job.writes() && touches_target(job));
    let writer = writer.map(|job| job.name.clone());
    let Some(job) = writer.or_else(|| workload.index.map(|_| "index".to_owned())) else {
        return Ok(());
    };
    let what = if kind == Kind::Device { "a block device" } else { "an existing file" };
    Err(Error::WouldWrite { path: path.to_owned(), what, job })
}

fn touches_target(job: &Job) -> bool {
    job.engine != Engine::Null
}

fn in_directory(workload: &Workload, directory: &Path) -> Places {
    let mut files: Vec<TestFile> = Vec::new();
    let mut of_file = |path: PathBuf, job: &Job| {
        let index = files.iter().position(|file| file.path == path).unwrap_or_else(|| {
            files.push(TestFile {
                path,
                bytes: 0,
                read: false,
                written_by: None,
                invalidate: false,
            });
            files.len() - 1
        });
        let file = &mut files[index];
        if touches_target(job) {
            file.bytes = file.bytes.max(job.size_bytes);
            file.read |= job.reads();
            file.invalidate |= job.invalidate;
            if job.writes() && file.written_by.is_none() {
                file.written_by = Some(job.name.clone());
            }
        }
        index
    };
    let places = workload.jobs.iter().map(|job| {
        let threads = (0..job.threads).map(|thread| {
            let name = match &job.files {
                Files::PerThread => format!("{}.{thread}", job.name),
                Files::Shared(name) => name.clone(),
            };
            let file = of_file(directory.join(name), job);
            Place { file, span: Span { start: 0, bytes: job.size_bytes } }
        });
        threads.collect()
    });
    let places = places.collect();
    Places { kind: Kind::Directory, files, places, capacity_bytes: 0 }
}

/// Everything in one file, device or disk, without the last `reserved` bytes. Each "file" of the
/// workload becomes a region if all of them fit, in order; otherwise each job's threads get
/// regions of their own if those fit; otherwise they share the whole.
fn in_one(
    workload: &Workload,
    kind: Kind,
    path: PathBuf,
    capacity_bytes: u64,
    reserved: u64,
) -> Places {
    let usable = capacity_bytes - reserved;
    let all: u64 = regions(workload).iter().map(|(_, bytes)| bytes).sum();
    let places = if all <= usable { apart(workload) } else { overlaid(workload, usable) };
    let file = TestFile {
        path,
        bytes: places.iter().flatten().map(|p| p.span.start + p.span.bytes).max().unwrap_or(0),
        read: workload.jobs.iter().any(Job::reads),
        written_by: workload.jobs.iter().find(|job| job.writes()).map(|job| job.name.clone()),
        invalidate: workload.jobs.iter().any(|job| job.invalidate),
    };
    Places { kind, files: vec![file], places, capacity_bytes }
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
            let bytes = job.size_bytes.next_multiple_of(REGION_ALIGN);
            match regions.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = (*known).max(bytes),
                None => regions.push((name, bytes)),
            }
        }
    }
    regions
}

fn apart(workload: &Workload) -> Vec<Vec<Place>> {
    let regions = regions(workload);
    let start_of = |name: &str| -> u64 {
        regions.iter().take_while(|(known, _)| known != name).map(|(_, bytes)| bytes).sum()
    };
    let of_job = |job: &Job| {
        let threads = (0..job.threads).map(|thread| {
            let start = match &job.files {
                Files::PerThread => start_of(&format!("{}.{thread}", job.name)),
                Files::Shared(name) => start_of(name),
            };
            Place { file: 0, span: Span { start, bytes: job.size_bytes } }
        });
        threads.collect()
    };
    workload.jobs.iter().map(of_job).collect()
}

fn overlaid(workload: &Workload, usable: u64) -> Vec<Vec<Place>> {
    let of_job = |job: &Job| {
        let stride = job.size_bytes.next_multiple_of(REGION_ALIGN);
        let own = job.files == Files::PerThread
            && stride.checked_mul(u64::from(job.threads)).is_some_and(|all| all <= usable);
        let threads = (0..u64::from(job.threads)).map(|thread| {
            let start = if own { thread * stride } else { 0 };
            Place { file: 0, span: Span { start, bytes: job.size_bytes.min(usable - start) } }
        });
        threads.collect()
    };
    workload.jobs.iter().map(of_job).collect()
}
