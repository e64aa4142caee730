//! The program fio as a driver, on the files that iotax lays out.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{Engine, Files, FioOption, Job, Workload};
use iotax_load::{Error, Fio, IoTarget, LoadDriver as _, Native};
use iotax_record::LoadRecord;
use iotax_testing::{needs_program, needs_root};
use support::{MIB, MS, disk, job, mem, request, workload};

/// fio, or a loud word that it is missing.
fn fio() -> Option<Fio> {
    needs_program("fio").then(|| Fio::find().unwrap())
}

/// Beside the build: /tmp is often a tmpfs without direct I/O.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn try_on(fio: &Fio, workload: &Workload, target: IoTarget<'_>) -> Result<LoadRecord, Error> {
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
        let record = try_on(&fio, &workload(mixed), IoTarget::Path(directory.path())).unwrap();
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
        assert!(job.active_ns > 0);
        let expected = [("job.0".to_owned(), 2 * MIB), ("job.1".to_owned(), 2 * MIB)];
        assert_eq!(files(directory.path()), BTreeMap::from(expected));
    }
}

#[test]
fn what_fio_has_overwritten_iotax_may_write_again() {
    let Some(fio) = fio() else { return };
    let directory = directory();
    let (target, stop) = (IoTarget::Path(directory.path()), AtomicBool::new(false));
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
    let record = try_on(&fio, &workload(shared), IoTarget::Path(&inner)).unwrap();
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
    let record = try_on(&fio, &workload(reads), IoTarget::Path(&file)).unwrap();
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
    assert!(try_on(&fio, &workload(sly), IoTarget::Path(&file)).is_err());
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn what_fio_must_not_do_is_refused() {
    let Some(fio) = fio() else { return };
    let directory = directory();
    let refused = |job: Job| {
        try_on(&fio, &workload(job), IoTarget::Path(directory.path())).unwrap_err().to_string()
    };
    let option = |name: &str, value: &str| FioOption {
        name: name.into(),
        value: Some(value.into()),
        place: "job.fio, line 7".into(),
        beyond: None,
    };
    let with = |option| Job { fio: vec![option], ..job(Engine::Psync) };
    insta::assert_snapshot!(refused(with(option("exec_prerun", "touch /tmp/x"))), @"job `job`: option exec_prerun (job.fio, line 7) is not passed to fio: it runs a program; remove it");
    insta::assert_snapshot!(refused(job(Engine::Vdisk)), @"job `job`: fio has no `vdisk` engine; choose another engine");
    insta::assert_snapshot!(
        refused(Job { verify: true, read_percent: 0, ..job(Engine::Psync) }),
        @"job `job`: fio verifies during the measurement, but iotax verifies after it; set verify=false"
    );
    let counting = Job { threads: 2, ..with(option("offset_increment", "1M")) };
    insta::assert_snapshot!(refused(counting), @"job `job`: option offset_increment (job.fio, line 7) gives threads different offsets in one file; name a file or device instead of a directory");
    let memory = disk(&[mem(64 * MIB)]);
    let error = try_on(&fio, &workload(job(Engine::Psync)), IoTarget::Disk(&memory)).unwrap_err();
    insta::assert_snapshot!(error, @"fio cannot use mem(size=64M), a virtual disk inside iotax; mount it (iotax disk up) and name its mount point, or use --engine native");
}

#[test]
fn the_series_of_every_second_is_made_of_fios_logs() {
    let Some(fio) = fio() else { return };
    if !needs_root() {
        return;
    }
    let directory = directory();
    let mixed = Job { read_percent: 60, threads: 2, direct: false, ..job(Engine::Psync) };
    let late = Job { name: "late".into(), start_delay_ns: 1020 * MS, ..mixed.clone() };
    let mut workload = workload(Job { read_percent: 100, ..mixed });
    workload.jobs.push(late);
    workload.time_ns = 3000 * MS;
    let record = try_on(&fio, &workload, IoTarget::Path(directory.path())).unwrap();
    for job in &record.jobs {
        for direction in [&job.read, &job.write] {
            let (ios, bytes) = (&direction.per_second_ios, &direction.per_second_bytes);
            assert!((2..=3).contains(&ios.len()), "{}: {ios:?}", job.name);
            let sum: u64 = ios.iter().map(|ios| u64::from(*ios)).sum();
            assert!(sum <= direction.ios * 2, "{sum} of {}", direction.ios);
            assert_eq!(ios.iter().any(|ios| *ios > 0), direction.ios > 0, "{}", job.name);
            assert_eq!(bytes.iter().any(|bytes| *bytes > 0), direction.ios > 0, "{}", job.name);
        }
    }
    // It begins with the second second of the window.
    assert_eq!(record.jobs[1].read.per_second_ios[0], 0);
    // Nothing of the logs is in the target.
    assert_eq!(files(directory.path()).len(), 4);
}
