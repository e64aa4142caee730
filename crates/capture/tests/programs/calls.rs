//! Calls with arguments that are easy to misread.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use iotax_capture::Subject;
use iotax_testing::{needs, needs_bpf, needs_program, needs_programs};
use iotax_trace::{Event, Flags, NO_FILE, Op};

use crate::support::{Driver, let_go, make_pipes, meet, record_while};

fn driver() -> Option<Driver> {
    (needs_bpf() && needs_program("cc")).then(|| Driver::build("calls"))
}

/// The client, its ends of the connections, and sockets within the program do not count.
#[test]
fn requests_and_answers_of_a_server_are_recorded() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let trace = driver.recorded("server", place.path());
    let is_one = |event: &&Event| matches!(event.op, Op::Request | Op::Answer);
    let seen: Vec<_> = trace.events.iter().filter(is_one).collect();
    let server = seen[0].thread;
    for (number, pair) in seen.chunks(2).enumerate() {
        let of = |event: &Event| (event.op, event.thread, event.result, event.detail);
        let connection = u64::from(number >= 20);
        assert_eq!(of(pair[0]), (Op::Request, server, 10, connection), "{number}");
        assert_eq!(of(pair[1]), (Op::Answer, server, 20, connection), "{number}");
        assert!(pair[0].latency_ns == 0 && pair[0].end_ns <= pair[1].start_ns() + 1_000);
    }
    assert_eq!(seen.len(), 60);
}

#[test]
fn requests_of_io_uring_have_their_arguments() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let trace = driver.recorded("requests", place.path());
    let events: Vec<&Event> =
        trace.events.iter().filter(|event| event.flags.contains(Flags::URING)).collect();
    let seen: Vec<_> = events.iter().map(|it| (it.op, it.offset, it.length, it.detail)).collect();
    let made = (libc::O_RDWR | libc::O_CREAT | libc::O_LARGEFILE) as u64;
    let flags = |detail: u64| detail & !(0o100_000);
    let seen: Vec<_> =
        seen.into_iter().map(|(op, at, length, detail)| (op, at, length, flags(detail))).collect();
    assert_eq!(
        seen,
        [
            (Op::Open, 0, 0, flags(made)),
            (Op::Allocate, 4096, 65536, 1),
            (Op::Write, 8192, 4096, 0),
            (Op::Write, 0, 4096, 0),
            (Op::Write, 12288, 4096, 0),
            (Op::SyncRange, 4096, 8192, 2),
            (Op::Fdatasync, 0, 0, 0),
            (Op::Fsync, 0, 0, 0),
            (Op::Advise, 4096, 12288, 1),
            (Op::Close, 0, 0, 0),
            (Op::Rename, 0, 0, 0),
            (Op::Mkdir, 0, 0, 0),
            (Op::Open, 0, 0, flags(made)),
            (Op::Write, 0, 4096, 0),
            (Op::Unlink, 0, 0, 0),
            (Op::Unlink, 0, 0, 0),
        ]
    );
    let (first, second) = (events[0].file, events[12].file);
    assert_ne!(first, second);
    let files: Vec<u32> = events.iter().map(|event| event.file).collect();
    let mut expected = vec![first; 11];
    expected.extend([NO_FILE, second, second, first, second]);
    assert_eq!(files, expected);
    assert!(trace.files[first as usize].is_new && trace.files[second as usize].is_new);
    let has = |index: usize, flag| events[index].flags.contains(flag);
    assert!(has(3, Flags::DATA_SYNC) && !has(3, Flags::SYNC) && !has(2, Flags::DATA_SYNC));
    assert!(has(4, Flags::APPEND) && !has(3, Flags::APPEND));
}

#[test]
fn files_that_creat_and_openat2_make_are_new() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let trace = driver.recorded("opens", place.path());
    for (bytes, flags) in [
        (100, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC),
        (200, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL),
    ] {
        let file = trace.written(bytes);
        assert!(trace.files[file as usize].is_new, "{bytes}");
        let opened = trace.of(Op::Open).into_iter().find(|event| event.file == file).unwrap();
        assert_eq!(opened.detail, u64::try_from(flags).unwrap());
    }
}

#[test]
fn files_that_the_kernel_makes_up_are_not_recorded() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let trace = driver.recorded("kernel-files", place.path());
    let writes: Vec<_> = trace.of(Op::Write).iter().map(|it| (it.offset, it.length)).collect();
    assert_eq!(writes, [(0, 100)]);
    let made = trace.written(100);
    let is_other =
        |event: &&Event| event.op == Op::ReadDir || event.op == Op::Read && event.length == 17;
    assert_eq!(trace.events.iter().filter(is_other).count(), 0);
    assert!(trace.of(Op::Open).iter().any(|event| event.file == made));
}

#[test]
fn a_descriptor_is_the_file_that_it_is_now() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let trace = driver.recorded("descriptors", place.path());
    let (a, b) = (trace.written(100), trace.written(200));
    assert_ne!(a, b);
    assert_eq!([101, 102, 103, 104].map(|bytes| trace.written(bytes)), [a; 4]);
    assert_eq!(trace.written(201), b);
    let appended = trace.only(Op::Write, 103);
    assert!(appended.flags.contains(Flags::APPEND));
    assert_eq!(appended.offset, 100 + 101 + 102);
    assert!(!trace.only(Op::Write, 104).flags.contains(Flags::APPEND));
    let copied = trace.of(Op::CopyRange);
    assert_eq!((copied[0].file, copied[0].detail), (a, u64::from(b)));
    let closed: Vec<u32> = trace.of(Op::Close).iter().map(|event| event.file).collect();
    assert!(closed.ends_with(&[b, a, b, b]), "{closed:?}");
}

#[test]
fn an_address_is_the_file_that_is_mapped_there_now() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let trace = driver.recorded("mappings", place.path());
    let of_size = |event: &Event| trace.files.get(event.file as usize).is_some_and(|it| it.is_new);
    let mapped: Vec<u32> =
        trace.of(Op::Map).iter().filter(|event| of_size(event)).map(|event| event.file).collect();
    let [a, b] = mapped[..] else { panic!("{mapped:?}") };
    let synced: Vec<_> = trace.of(Op::Msync).iter().map(|it| (it.file, it.offset)).collect();
    assert_eq!(synced, [(a, 8192), (b, 4096), (a, 16384), (a, 16384 + 4096), (a, 16384)]);
}

#[test]
fn a_relative_path_is_that_of_its_directory() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let trace = driver.recorded("directories", place.path());
    let (one, two) = (trace.written(100), trace.written(200));
    assert_ne!(one, two);
    let renamed = trace.of(Op::Rename);
    assert_eq!((renamed.len(), renamed[0].file, renamed[0].detail), (1, two, 0));
    let removed: Vec<u32> = trace.of(Op::Unlink).iter().map(|event| event.file).collect();
    assert_eq!(removed, [one, two]);
}

#[test]
fn an_inode_that_is_used_again_is_another_file() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    make_pipes(place);
    let command = vec![driver.path().into(), "reuse".into(), place.into()];
    let output = tempfile::tempdir().unwrap();
    let mut was_used_again = false;
    let trace = record_while(&Subject::Command(command), &output.path().join("x.iotx"), |_| {
        meet(place);
        let file = place.join("file");
        let inode = fs::metadata(&file).unwrap().ino();
        fs::remove_file(&file).unwrap();
        for number in 0..1000 {
            let other = place.join(format!("other{number}"));
            fs::write(&other, "").unwrap();
            if fs::metadata(&other).unwrap().ino() == inode {
                was_used_again = true;
                fs::rename(other, &file).unwrap();
                break;
            }
        }
        if !was_used_again {
            fs::write(file, "").unwrap();
        }
        let_go(place);
    });
    if needs(was_used_again, "a file system that uses inode numbers again") {
        assert_ne!(trace.written(100), trace.written(200));
    }
}

#[test]
fn files_of_two_subvolumes_are_two_files() {
    let has_btrfs = fs::read_to_string("/proc/filesystems").unwrap().contains("btrfs");
    if !needs(has_btrfs, "btrfs in the kernel")
        || !needs_programs(&["mkfs.btrfs", "btrfs", "losetup", "cc"])
    {
        return;
    }
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let (image, mount) = (place.path().join("image"), place.path().join("mount"));
    fs::create_dir(&mount).unwrap();
    fs::File::create(&image).unwrap().set_len(256 << 20).unwrap();
    run(Command::new("mkfs.btrfs").arg("-q").arg(&image));
    run(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&mount));
    let _mounted = Mounted(mount.clone());
    let volumes = ["one", "two"].map(|name| mount.join(name));
    run(Command::new("btrfs").args(["-q", "subvolume", "create"]).arg(&volumes[0]));
    fs::write(volumes[0].join("open"), [7; 5000]).unwrap();
    fs::write(volumes[0].join("mapped"), vec![7; 65536]).unwrap();
    run(Command::new("btrfs").args(["-q", "subvolume", "snapshot"]).args(&volumes));
    fs::write(volumes[1].join("open"), [7; 6000]).unwrap();
    assert_eq!(
        fs::metadata(volumes[0].join("open")).unwrap().ino(),
        fs::metadata(volumes[1].join("open")).unwrap().ino()
    );
    for volume in &volumes {
        make_pipes(volume);
    }
    let mut running = volumes.each_ref().map(|volume| driver.start("before", volume));
    for volume in &volumes {
        meet(volume);
    }
    let subject = Subject::Processes(running.iter().map(std::process::Child::id).collect());
    let output = tempfile::tempdir().unwrap();
    let trace = record_while(&subject, &output.path().join("x.iotx"), |reports| {
        crate::support::wait_for_reports(reports, 1);
        for volume in &volumes {
            let_go(volume);
        }
        for driver in &mut running {
            assert!(driver.wait().unwrap().success());
        }
    });
    let written: Vec<_> = trace.of(Op::Write).into_iter().filter(|it| it.length == 100).collect();
    assert_eq!(written.len(), 2);
    let mut sizes = [0, 1].map(|it: usize| trace.files[written[it].file as usize].size_bytes);
    sizes.sort_unstable();
    assert_eq!(sizes, [5000, 6000]);
}

struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        run(Command::new("umount").arg(&self.0));
    }
}

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}
