//! The program fio as a driver, on the files that iotax lays out.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what is skipped says so")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use iotax_load::{Error, Fio, LoadDriver as _, Native, Target};
use iotax_record::LoadRecord;
use iotax_spec::{Engine, Files, FioOption, Job, Pace, Workload};
use support::{MIB, MS, disk, job, mem, request, workload};

/// fio, or a loud word that it is missing.
fn fio() -> Option<Fio> {
    match Fio::find() {
        Ok(fio) => Some(fio),
        Err(error) => {
            eprintln!("SKIPPED, nothing was tested: {error}");
            None
        }
    }
}

/// Beside the build: /tmp is often a tmpfs without direct I/O.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn try_on(fio: &Fio, workload: &Workload, target: Target<'_>) -> Result<LoadRecord, Error> {
    let stop = AtomicBool::new(false);
    fio.prepare(workload, target, &|_, _| {}, &stop)?;
    fio.run(&request(workload, target, &stop))
}

fn files(directory: &Path) -> BTreeMap<String, u64> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|e| (e.file_name().to_string_lossy().into_owned(), e.metadata().unwrap().len()))
        .collect()
}

#[test]
fn every_engine_moves_data_in_exactly_the_files_laid_out() {
    let Some(fio) = fio() else { return };
    for engine in [Engine::Psync, Engine::Mmap, Engine::IoUring] {
        let directory = directory();
        let mixed = Job { read_percent: 60, threads: 2, direct: false, ..job(engine) };
        let record = try_on(&fio, &workload(mixed), Target::Path(directory.path())).unwrap();
        assert!(record.driver.starts_with("fio "), "{}", record.driver);
        let job = &record.jobs[0];
        assert_eq!((job.name.as_str(), job.engine.as_str()), ("job", engine.name()));
        assert_eq!(job.threads, 2);
        for direction in [&job.read, &job.write] {
            assert!(direction.ios > 0, "{}", engine.name());
            let bins: u64 = direction.fio_bins.iter().map(|(_, n)| n).sum();
            assert_eq!(bins, direction.service.count());
            // fio counts one I/O of each thread here or there when the ramp ends.
            assert!(direction.bytes.abs_diff(direction.ios * 4096) <= 8 * 4096);
            assert!(bins.abs_diff(direction.ios) <= 8, "{bins} {}", direction.ios);
        }
        assert!(job.active_ns >= 100 * MS, "{} ns", job.active_ns);
        let expected = [("job.0".to_owned(), 2 * MIB), ("job.1".to_owned(), 2 * MIB)];
        assert_eq!(files(directory.path()), BTreeMap::from(expected));
    }
}

#[test]
fn what_fio_has_overwritten_iotax_may_write_again() {
    let Some(fio) = fio() else { return };
    let directory = directory();
    let (target, stop) = (Target::Path(directory.path()), AtomicBool::new(false));
    let writes = workload(Job { read_percent: 0, direct: false, ..job(Engine::Psync) });
    for _ in 0..2 {
        assert!(try_on(&fio, &writes, target).unwrap().jobs[0].write.ios > 0);
        let ours = Native.run(&request(&writes, target, &stop)).unwrap();
        assert!(ours.jobs[0].write.ios > 0);
    }
}

#[test]
fn a_directory_with_a_colon_is_no_list_of_directories() {
    let Some(fio) = fio() else { return };
    let directory = directory();
    let inner = directory.path().join("a:b");
    std::fs::create_dir(&inner).unwrap();
    let shared = Job { files: Files::Shared("blob".into()), direct: false, ..job(Engine::Psync) };
    let record = try_on(&fio, &workload(shared), Target::Path(&inner)).unwrap();
    assert!(record.jobs[0].read.ios > 0);
    assert_eq!(files(&inner), BTreeMap::from([("blob".to_owned(), 2 * MIB)]));
    assert_eq!(files(directory.path()).len(), 1);
}

#[test]
fn an_existing_file_is_only_read() {
    let Some(fio) = fio() else { return };
    let directory = directory();
    let file = directory.path().join("data");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    let reads = Job { direct: false, ..job(Engine::Psync) };
    let record = try_on(&fio, &workload(reads), Target::Path(&file)).unwrap();
    assert!(record.jobs[0].read.ios > 0);
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 1 << 20]);
    // An option that came from elsewhere cannot make a reader write.
    let option = FioOption {
        name: "rw".into(),
        value: Some("randwrite".into()),
        place: "job.fio, line 3".into(),
        beyond: None,
    };
    let sly = Job { direct: false, fio: vec![option], ..job(Engine::Psync) };
    assert!(try_on(&fio, &workload(sly), Target::Path(&file)).is_err());
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn a_rate_is_offered_and_not_exceeded() {
    let Some(fio) = fio() else { return };
    let directory = directory();
    let pace = Pace::Even { iops: 200.0 };
    let mut paced = workload(Job { pace, direct: false, ..job(Engine::Psync) });
    paced.time_ns = 1000 * MS;
    let record = try_on(&fio, &paced, Target::Path(directory.path())).unwrap();
    let job = &record.jobs[0];
    let offered = job.offered_ios.unwrap();
    assert!((100..=400).contains(&offered), "{offered}");
    assert!((1..=2 * offered).contains(&job.read.ios), "{} of {offered}", job.read.ios);
}

#[test]
fn what_fio_must_not_do_is_refused() {
    let Some(fio) = fio() else { return };
    let directory = directory();
    let refused = |job: Job| {
        try_on(&fio, &workload(job), Target::Path(directory.path())).unwrap_err().to_string()
    };
    let option = |name: &str, value: &str| FioOption {
        name: name.into(),
        value: Some(value.into()),
        place: "job.fio, line 7".into(),
        beyond: None,
    };
    let with = |option| Job { fio: vec![option], ..job(Engine::Psync) };
    insta::assert_snapshot!(refused(with(option("exec_prerun", "touch /tmp/x"))), @"job `job`: option exec_prerun (job.fio, line 7) is not handed to fio: it runs a program; take it out");
    insta::assert_snapshot!(refused(job(Engine::Vdisk)), @"job `job`: engine `vdisk` is iotax's own; choose another engine");
    insta::assert_snapshot!(
        refused(Job { verify: true, read_percent: 0, ..job(Engine::Psync) }),
        @"job `job`: fio verifies inside the measured time, iotax after it; set verify=false"
    );
    let counting = Job { threads: 2, ..with(option("offset_increment", "1M")) };
    insta::assert_snapshot!(refused(counting), @"job `job`: option offset_increment (job.fio, line 7) moves threads apart in one file; name a file or device instead of a directory");
    let memory = disk(&[mem(64 * MIB)]);
    let error = try_on(&fio, &workload(job(Engine::Psync)), Target::Disk(&memory)).unwrap_err();
    insta::assert_snapshot!(error, @"mem(size=64M) is a virtual disk inside iotax, which fio cannot drive: mount it (iotax disk up) and name that path, or use --engine native");
}
