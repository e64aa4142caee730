//! Which thread works where: the files of a workload, and the span of each thread in them.

use std::fs::{File, Metadata};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use iotax_spec::{Engine, Files, Job, Workload};

use crate::driver::Target;
use crate::error::Error;
use crate::native::access::Span;
use crate::verify::can_verify;

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
    pub by_job: Vec<Vec<Place>>,
}

impl Places {
    /// Looks at the target, and decides who works where. Touches nothing.
    pub fn resolve(workload: &Workload, target: Target<'_>) -> Result<Self, Error> {
        let (kind, path, capacity_bytes) = examine(target)?;
        let mut places = match kind {
            Kind::Directory => in_directory(workload, &path),
            Kind::File | Kind::Device => {
                if matches!(target, Target::Own(_)) {
                    refuse_index(workload, &path)?;
                } else {
                    refuse_writes(workload, &path, kind)?;
                }
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
        places.separate_verified_writers(workload)?;
        places.refuse_small(workload)?;
        Ok(places)
    }

    /// What a thread wrote can only be verified if nobody else writes there: threads of a job that
    /// share a file get parts of it, and other jobs must stay away.
    fn separate_verified_writers(&mut self, workload: &Workload) -> Result<(), Error> {
        let kind = self.kind;
        let touches = |job: &Job| kind == Kind::Disk || touches_target(job);
        let verified = |job: &Job| job.verify && job.writes() && touches(job);
        for (job, places) in workload.jobs.iter().zip(&mut self.by_job) {
            if verified(job) && shared(places) {
                let smallest = u64::from(job.block_sizes.min_bytes().max(1));
                let part = places[0].span.bytes / places.len() as u64;
                let part = part - part % smallest;
                for (index, place) in (0..).zip(places) {
                    place.span.start += index * part;
                    place.span.bytes = part;
                }
            }
            if verified(job) && !can_verify(job.block_sizes.min_bytes()) {
                return Err(Error::unsuitable(
                    job,
                    format!(
                        "blocks of {} bytes leave no room for the header that `verify` needs; \
                         use a multiple of 512 bytes",
                        job.block_sizes.min_bytes()
                    ),
                ));
            }
        }
        let jobs = || workload.jobs.iter().zip(&self.by_job);
        for (job, own) in jobs().filter(|(job, _)| verified(job)) {
            let others = jobs().filter(|(other, _)| other.name != job.name);
            let mut writers = others.filter(|(other, _)| other.writes() && touches(other));
            if let Some((other, _)) = writers.find(|(_, theirs)| overlap(own, theirs)) {
                return Err(Error::unsuitable(
                    job,
                    format!(
                        "`verify` cannot work while job `{}` writes to the same place; give \
                         them files of their own",
                        other.name
                    ),
                ));
            }
        }
        Ok(())
    }

    fn refuse_small(&self, workload: &Workload) -> Result<(), Error> {
        for (job, places) in workload.jobs.iter().zip(&self.by_job) {
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

fn shared(places: &[Place]) -> bool {
    places.len() > 1 && places.iter().all(|place| *place == places[0])
}

fn overlap(some: &[Place], others: &[Place]) -> bool {
    let end = |span: Span| span.start + span.bytes;
    some.iter().any(|a| {
        others
            .iter()
            .any(|b| a.file == b.file && a.span.start < end(b.span) && b.span.start < end(a.span))
    })
}

/// One version of the index on a disk: whole MiB, so that any block size fits.
pub fn slot_bytes(index_bytes: u64) -> u64 {
    index_bytes.next_multiple_of(1 << 20)
}

fn examine(target: Target<'_>) -> Result<(Kind, PathBuf, u64), Error> {
    match target {
        Target::Disk(disk) => Ok((Kind::Disk, disk.to_string().into(), disk.size_bytes())),
        Target::Path(path) | Target::Own(path) => {
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

/// Versions of an index are files, so they need a directory.
fn refuse_index(workload: &Workload, path: &Path) -> Result<(), Error> {
    match workload.index {
        Some(_) => Err(Error::IndexOnDevice { path: path.to_owned() }),
        None => Ok(()),
    }
}

/// Whether a job on a path does any I/O there.
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
    Places { kind: Kind::Directory, files, by_job: places }
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
    Places { kind, files: vec![file], by_job: places }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iotax_vdisk::{LayerConfig, ManualClock, MemConfig, VirtualDisk};

    use super::*;
    use crate::native::testing::{job, workload};

    const MIB: u64 = 1 << 20;

    fn disk(size_bytes: u64) -> VirtualDisk {
        let layer = LayerConfig::Mem(MemConfig { size_bytes });
        VirtualDisk::open(&[layer], Arc::new(ManualClock::default())).unwrap()
    }

    fn spans(workload: &Workload, disk: &VirtualDisk) -> Vec<Vec<(u64, u64)>> {
        let places = Places::resolve(workload, Target::Disk(disk)).unwrap();
        let of_job = |places: &Vec<Place>| {
            places.iter().map(|place| (place.span.start, place.span.bytes)).collect()
        };
        places.by_job.iter().map(of_job).collect()
    }

    #[test]
    fn on_a_disk_every_file_of_the_workload_becomes_a_region_if_all_fit() {
        let mut writer = job();
        (writer.name, writer.threads, writer.size_bytes) = ("writer".into(), 2, MIB);
        let mut reader = job();
        (reader.threads, reader.size_bytes) = (3, 2 * MIB);
        reader.files = Files::Shared("blob".into());
        let workload = workload(vec![writer, reader]);
        let disk = disk(4 * MIB);
        assert_eq!(
            spans(&workload, &disk),
            [vec![(0, MIB), (MIB, MIB)], vec![(2 * MIB, 2 * MIB); 3]]
        );
    }

    #[test]
    fn on_a_small_disk_regions_overlap_and_are_cut_to_its_size() {
        let mut writer = job();
        (writer.name, writer.threads, writer.size_bytes) = ("writer".into(), 2, MIB);
        let mut reader = job();
        (reader.threads, reader.size_bytes) = (2, 3 * MIB);
        let workload = workload(vec![writer, reader]);
        let disk = disk(2 * MIB);
        assert_eq!(spans(&workload, &disk), [vec![(0, MIB), (MIB, MIB)], vec![(0, 2 * MIB); 2]]);
    }

    #[test]
    fn the_last_two_slots_of_a_disk_belong_to_the_index() {
        let mut workload = workload(vec![job()]);
        workload.jobs[0].size_bytes = 64 * MIB;
        workload.index = Some(crate::native::testing::index_loads(MIB - 5));
        assert_eq!(spans(&workload, &disk(10 * MIB)), [vec![(0, 8 * MIB)]]);
        let small = disk(2 * MIB);
        let error = Places::resolve(&workload, Target::Disk(&small)).unwrap_err();
        assert!(error.is_space());
    }

    #[test]
    fn threads_that_verify_do_not_share() {
        let mut shared = job();
        (shared.threads, shared.size_bytes, shared.verify) = (2, MIB, true);
        (shared.read_percent, shared.files) = (0, Files::Shared("blob".into()));
        let workload = workload(vec![shared]);
        let half = MIB / 2;
        assert_eq!(spans(&workload, &disk(4 * MIB)), [vec![(0, half), (half, half)]]);
    }

    fn refusal(workload: &Workload, target: Target<'_>) -> String {
        Places::resolve(workload, target).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_work_is_refused_before_anything_is_touched() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("data");
        std::fs::write(&file, vec![7; 100_000]).unwrap();
        let hide = |text: String| text.replace(directory.path().to_str().unwrap(), "DIR");
        let mut writer = workload(vec![job()]);
        writer.jobs[0].read_percent = 50;
        insta::assert_snapshot!(
            hide(refusal(&writer, Target::Path(&file))),
            @"job `job` writes, and DIR/data is an existing file: files and devices that were named as targets are only read; give a directory instead, or make the job read only"
        );
        let mut large = workload(vec![job()]);
        large.jobs[0].block_sizes = iotax_spec::BlockSizes::Fixed(1 << 20);
        insta::assert_snapshot!(
            hide(refusal(&large, Target::Path(&file))),
            @"job `job`: its largest block has 1048576 bytes, but only 100000 bytes of DIR/data are there for it; use smaller blocks or a larger target"
        );
        insta::assert_snapshot!(
            hide(refusal(&large, Target::Path(&directory.path().join("none")))),
            @"cannot find DIR/none: No such file or directory (os error 2)"
        );
        insta::assert_snapshot!(
            refusal(&large, Target::Path(Path::new("/dev/null"))),
            @"/dev/null is neither a directory, a regular file nor a block device; name one of these"
        );
        let mut verified = workload(vec![job(), job()]);
        for (job, name) in verified.jobs.iter_mut().zip(["first", "second"]) {
            job.name = name.to_owned();
            (job.read_percent, job.verify) = (0, true);
            job.files = Files::Shared("blob".into());
        }
        insta::assert_snapshot!(
            refusal(&verified, Target::Path(directory.path())),
            @"job `first`: `verify` cannot work while job `second` writes to the same place; give them files of their own"
        );
        verified.jobs.truncate(1);
        verified.jobs[0].block_sizes = iotax_spec::BlockSizes::Fixed(96);
        insta::assert_snapshot!(
            refusal(&verified, Target::Path(directory.path())),
            @"job `first`: blocks of 96 bytes leave no room for the header that `verify` needs; use a multiple of 512 bytes"
        );
        assert_eq!(std::fs::read(&file).unwrap(), vec![7; 100_000]);
    }
}
