//! Writes once over everything that a workload uses: SNIA's workload-independent preconditioning.
//!
//! One thread writes a file from start to end, and files of the same size one after the other,
//! because an SSD would mix parallel streams within its erase blocks. A device or virtual disk is
//! one stream.

use std::sync::atomic::AtomicBool;

use iotax_experiment::{Job, Workload};
use iotax_record::LoadRecord;

use super::coordinator::{Native, run_threads, seed_of};
use crate::driver::{LayoutProgress, LoadDriver, Request};
use crate::engine::access::Seat;
use crate::engine::thread::{Thread, effective_engine};
use crate::error::Error;
use crate::file_assignment::{FileKind, FilePlace, PAGE_BYTES, Places, Span};
use crate::layout::PlacedParts;
use crate::target::IoTarget;

/// Offsets of direct I/O are multiples of this, at least, and of a page where the span allows it.
const SECTOR_BYTES: u64 = 512;

/// Writes once all that a workload uses on a target. The request names what
/// [`Workload::fill`] makes of it. Whatever is only read is refused ([`Error::WouldWrite`]).
#[derive(Debug, Clone, Copy)]
pub struct Filler<'a> {
    pub of: &'a Workload,
}

impl LoadDriver for Filler<'_> {
    fn prepare(
        &self,
        _: &Workload,
        target: IoTarget<'_>,
        progress: &LayoutProgress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        Native.prepare(self.of, target, progress, stop)
    }

    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        fill(request, self.of)
    }
}

fn fill(request: &Request<'_>, of: &Workload) -> Result<LoadRecord, Error> {
    let places = Places::resolve(of, request.target)?;
    refuse_what_is_only_read(request, &places)?;
    let places = of_one_pass(of, places);
    let parts = PlacedParts::of(request.workload, request.target, places);
    let places = &parts.0[0].places;
    let job = &request.workload.jobs[0];
    let groups: &[FilePlace] = &places.by_job[0];
    let jobs: Vec<Job> = groups.iter().map(|group| of_group(job, group)).collect();
    let threads: Vec<Thread<'_>> = (0..)
        .zip(groups.iter().zip(&jobs))
        .map(|(number, (group, job))| Thread {
            job,
            job_index: 0,
            index: number.into(),
            seat: Seat::default(),
            target: request.target,
            engine: effective_engine(job, request.target),
            files: group.files.iter().map(|file| &places.files[*file]).collect(),
            span: group.span,
            number,
            seed: seed_of(request, number),
            sharing: [].into(),
        })
        .collect();
    run_threads(request, &parts, &threads)
}

fn refuse_what_is_only_read(request: &Request<'_>, places: &Places) -> Result<(), Error> {
    let what = match places.kind {
        _ if request.target.may_be_overwritten() => return Ok(()),
        FileKind::File => "an existing file",
        FileKind::Device => "a block device",
        FileKind::Directory | FileKind::Disk | FileKind::Peer => return Ok(()),
    };
    let path = places.files[0].path.clone();
    Err(Error::WouldWrite { path, what, job: request.workload.primary.clone() })
}

/// The job of the thread that writes these files.
fn of_group(job: &Job, group: &FilePlace) -> Job {
    let Span { start, bytes } = group.span;
    let granule = [start, bytes].into_iter().fold(PAGE_BYTES as u64, |all, n| all | n);
    let align_bytes = (granule & granule.wrapping_neg()).max(SECTOR_BYTES);
    let files_per_thread = u32::try_from(group.files.len()).unwrap_or(u32::MAX);
    Job { align_bytes: Some(align_bytes), files_per_thread, ..job.clone() }
}

/// One thread for all files of which the same bytes are used, and every file in one of them.
fn of_one_pass(of: &Workload, mut places: Places) -> Places {
    let mut used: Vec<Option<(u64, u64)>> = vec![None; places.files.len()];
    for (_, own) in of.jobs.iter().zip(&places.by_job).filter(|(job, _)| job.has_span()) {
        for FilePlace { files, span } in own {
            for file in files {
                let (start, end) = used[*file].unwrap_or((u64::MAX, 0));
                let hull = (start.min(span.start), end.max(span.start + span.bytes));
                used[*file] = Some(hull);
            }
        }
    }
    let mut groups: Vec<FilePlace> = Vec::new();
    for (file, (start, end)) in used.iter().enumerate().filter_map(|(i, u)| Some((i, (*u)?))) {
        let span = Span { start, bytes: end - start };
        match groups.iter_mut().find(|group| group.span == span) {
            Some(group) => group.files.push(file),
            None => groups.push(FilePlace { files: vec![file], span }),
        }
        places.files[file].written_by = Some("fill".to_owned());
    }
    for file in &mut places.files {
        (file.invalidate, file.fresh) = (false, false);
    }
    places.by_job = vec![groups];
    places
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iotax_experiment::{Engine, Files};
    use iotax_layers::{Layer, Mem};
    use iotax_vdisk::{MonotonicClock, VirtualDisk};

    use iotax_experiment::IndexEnds;

    use super::*;

    fn workload(threads: u32, size_bytes: u64) -> Workload {
        let mut workload = Workload::preset("randread-4k").unwrap();
        let job = &mut workload.jobs[0];
        (job.threads, job.size_bytes, job.files_per_thread) = (threads, size_bytes, 1);
        (job.engine, job.direct, job.files) = (Engine::Psync, false, Files::PerThread);
        workload
    }

    fn run(of: &Workload, target: IoTarget<'_>) -> Result<LoadRecord, Error> {
        let stop = AtomicBool::new(false);
        let workload = of.fill().unwrap();
        let (ramp_ns, time_ns) = (0, workload.time_ns);
        let workload = &workload;
        let request = Request {
            workload,
            index_ends: &IndexEnds::Both,
            target,
            ramp_ns,
            time_ns,
            part: None,
            seed: 1,
            stop: &stop,
            live: None,
        };
        Filler { of }.run(&request)
    }

    fn written(record: &LoadRecord) -> u64 {
        let [job] = record.jobs.as_slice() else { panic!("{record:?}") };
        assert_eq!((job.name.as_str(), &job.first_error), ("fill", &None));
        job.write.bytes
    }

    #[test]
    fn every_byte_of_every_file_is_written_once() {
        let directory = tempfile::tempdir().unwrap();
        // No whole number of blocks.
        let of = workload(3, 300 << 10);
        let target = IoTarget::Path(directory.path());
        Native.prepare(&of, target, &|_, _| (), &AtomicBool::new(false)).unwrap();
        let laid_out: Vec<Vec<u8>> = contents(directory.path());
        assert_eq!(written(&run(&of, target).unwrap()), 900 << 10);
        let now = contents(directory.path());
        assert_eq!(now.len(), 3);
        for (before, after) in laid_out.iter().zip(&now) {
            assert_eq!(before.len(), after.len());
            let pages = before.chunks(4096).zip(after.chunks(4096));
            assert!(pages.into_iter().all(|(before, after)| before != after));
        }
        // Still ours, and still data: nothing is laid out again.
        Native.prepare(&of, target, &|_, _| (), &AtomicBool::new(false)).unwrap();
        assert_eq!(contents(directory.path()), now);
    }

    fn contents(directory: &std::path::Path) -> Vec<Vec<u8>> {
        let mut names: Vec<_> =
            std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names.into_iter().map(|name| std::fs::read(name).unwrap()).collect()
    }

    #[test]
    fn a_disk_smaller_than_the_jobs_want_is_written_once_as_a_whole() {
        let layer = Layer::Mem(Mem { size_bytes: 3 << 20 });
        let disk = VirtualDisk::open(&[layer], Arc::new(MonotonicClock)).unwrap();
        let record = run(&workload(4, 1 << 30), IoTarget::Disk(&disk)).unwrap();
        assert_eq!((written(&record), record.jobs[0].threads), (3 << 20, 1));
    }

    #[test]
    fn what_is_only_read_is_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mine");
        std::fs::write(&file, vec![7; 1 << 20]).unwrap();
        let refused = run(&workload(1, 1 << 20), IoTarget::Path(&file)).unwrap_err();
        assert!(matches!(refused, Error::WouldWrite { .. }), "{refused}");
        // Nor is a file of the user's in a directory, of the name that a job has.
        let theirs = directory.path().join(workload(1, 1 << 20).jobs[0].file_names(0).remove(0));
        std::fs::write(&theirs, vec![7; 1 << 20]).unwrap();
        let refused = run(&workload(1, 1 << 20), IoTarget::Path(directory.path())).unwrap_err();
        assert!(matches!(refused, Error::NotOurs { .. }), "{refused}");
        assert_eq!(std::fs::read(&theirs).unwrap(), vec![7; 1 << 20]);
    }
}
