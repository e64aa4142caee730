//! Operations on trees of files, on tmpfs and on the file system of temporary files.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{IndexEnds, Workload};
use iotax_load::{Error, IoTarget, LoadDriver as _, Native, Request};
use iotax_record::LoadRecord;

fn workload(preset: &str) -> Workload {
    let mut workload = Workload::preset(preset).unwrap();
    for change in ["files=200", "threads=2"] {
        workload.set(change).unwrap();
    }
    workload.validate().unwrap();
    workload
}

fn run(workload: &Workload, directory: &Path) -> Result<LoadRecord, Error> {
    let (stop, target) = (AtomicBool::new(false), IoTarget::Path(directory));
    Native.prepare(workload, target, &|_, _| (), &stop)?;
    Native.run(&Request {
        workload,
        index_ends: &IndexEnds::Both,
        target,
        ramp_ns: 50_000_000,
        time_ns: 1_000_000_000,
        part: None,
        seed: 1,
        stop: &stop,
        live: None,
    })
}

#[test]
fn every_preset_does_its_operations_and_leaves_nothing() {
    let places = [Some(Path::new("/dev/shm")).filter(|path| path.is_dir()), None];
    for place in places {
        let directory = match place {
            Some(path) => tempfile::tempdir_in(path).unwrap(),
            None => tempfile::tempdir().unwrap(),
        };
        for preset in ["git-checkout", "git-status", "git-gc"] {
            let workload = workload(preset);
            let record = run(&workload, directory.path()).unwrap();
            let job = &record.jobs[0];
            assert_eq!((job.engine.as_str(), &job.first_error), ("metadata", &None), "{preset}");
            let tree = workload.jobs[0].tree.as_ref().unwrap();
            let counted: u64 = job.operations.iter().map(|o| o.latency.count()).sum();
            assert_eq!(counted, job.read.ios + job.write.ios, "{preset}");
            for share in &tree.operations {
                let name = share.operation.name();
                let done = job.operations.iter().find(|o| o.name == name).unwrap();
                assert!(done.latency.count() > 0 && done.errors == 0, "{preset}: {name}");
            }
            let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
            assert!(left.is_empty(), "{preset}: {left:?}");
        }
    }
}

#[test]
fn a_rate_is_never_exceeded() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = workload("git-status");
    workload.set("rate=100").unwrap();
    let job = run(&workload, directory.path()).unwrap().jobs.remove(0);
    assert!(job.read.ios <= 110, "{}", job.read.ios);
    assert_eq!(job.read.response.unwrap().count(), job.read.ios);
}

#[test]
fn what_cannot_be_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = |path: &Path| {
        let text = run(&workload("git-status"), path).unwrap_err().to_string();
        text.replace(&directory.path().display().to_string(), "/mnt")
    };
    let file = directory.path().join("file");
    std::fs::write(&file, "x").unwrap();
    insta::assert_snapshot!(error(&file), @"job `files`: file operations need a directory, but /mnt/file is not a directory; name a directory, or a stack with a file system such as `file(size=2G) + ext4`");
    std::fs::create_dir(directory.path().join("files.0.tree")).unwrap();
    insta::assert_snapshot!(error(directory.path()), @"/mnt/files.0.tree exists and was not written by iotax, and job `files` would overwrite it; move it away, or choose another directory");
}
