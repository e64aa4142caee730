//! Who works where.

use std::sync::Arc;

use iotax_experiment::Blame as _;
use iotax_layers::{Layer, Mem};
use iotax_vdisk::{ManualClock, VirtualDisk};

use super::*;
use crate::engine::testing::{job, workload};

const MIB: u64 = 1 << 20;

fn disk(size_bytes: u64) -> VirtualDisk {
    let layer = Layer::Mem(Mem { size_bytes });
    VirtualDisk::open(&[layer], Arc::new(ManualClock::default())).unwrap()
}

fn spans(workload: &Workload, disk: &VirtualDisk) -> Vec<Vec<(u64, u64)>> {
    let places = Places::resolve(workload, IoTarget::Disk(disk)).unwrap();
    let of_job = |places: &Vec<FilePlace>| {
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
    assert_eq!(spans(&workload, &disk), [vec![(0, MIB), (MIB, MIB)], vec![(2 * MIB, 2 * MIB); 3]]);
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
    workload.index = Some(crate::engine::testing::index_loads(MIB - 5));
    assert_eq!(spans(&workload, &disk(10 * MIB)), [vec![(0, 8 * MIB)]]);
    let small = disk(2 * MIB);
    let error = Places::resolve(&workload, IoTarget::Disk(&small)).unwrap_err();
    assert!(error.wants_space());
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

fn refusal(workload: &Workload, target: IoTarget<'_>) -> String {
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
        hide(refusal(&writer, IoTarget::Path(&file))),
        @"job `job` writes, but DIR/data is an existing file, and iotax never writes to files or devices named as targets; name a directory instead, or make the job read-only"
    );
    let mut large = workload(vec![job()]);
    large.jobs[0].block_sizes = iotax_experiment::BlockSizes::Fixed(1 << 20);
    insta::assert_snapshot!(
        hide(refusal(&large, IoTarget::Path(&file))),
        @"job `job`: the largest block is 1048576 bytes, but the job can use only 100000 bytes of DIR/data; use smaller blocks or a larger target"
    );
    insta::assert_snapshot!(
        hide(refusal(&large, IoTarget::Path(&directory.path().join("none")))),
        @"cannot find DIR/none: No such file or directory (os error 2)"
    );
    insta::assert_snapshot!(
        refusal(&large, IoTarget::Path(Path::new("/dev/null"))),
        @"/dev/null is not a valid target; name a directory, a regular file or a block device"
    );
    let mut verified = workload(vec![job(), job()]);
    for (job, name) in verified.jobs.iter_mut().zip(["first", "second"]) {
        job.name = name.to_owned();
        (job.read_percent, job.verify) = (0, true);
        job.files = Files::Shared("blob".into());
    }
    insta::assert_snapshot!(
        refusal(&verified, IoTarget::Path(directory.path())),
        @"job `first`: `verify` cannot work while job `second` writes to the same data; give each job its own files"
    );
    verified.jobs.truncate(1);
    verified.jobs[0].block_sizes = iotax_experiment::BlockSizes::Fixed(96);
    insta::assert_snapshot!(
        refusal(&verified, IoTarget::Path(directory.path())),
        @"job `first`: block sizes or offsets in multiples of 32 bytes leave no room for the header that `verify` needs; use multiples of 512 bytes"
    );
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 100_000]);
}

#[test]
fn offsets_move_spans_and_make_files_and_regions_longer() {
    let mut shifted = job();
    (shifted.offset_bytes, shifted.size_bytes, shifted.threads) = (MIB, 2 * MIB, 2);
    let workload = workload(vec![shifted]);
    assert_eq!(spans(&workload, &disk(8 * MIB)), [vec![(MIB, 2 * MIB), (4 * MIB, 2 * MIB)]]);
    // Too small for two regions, and even for one.
    assert_eq!(spans(&workload, &disk(2 * MIB)), [vec![(MIB, MIB); 2]]);
    let directory = tempfile::tempdir().unwrap();
    let places = Places::resolve(&workload, IoTarget::Path(directory.path())).unwrap();
    assert!(places.files.iter().all(|file| file.bytes == 3 * MIB));
    assert_eq!(places.by_job[0][1].span, Span { start: MIB, bytes: 2 * MIB });
}

#[test]
fn several_files_of_a_thread_share_its_size() {
    let mut many = job();
    (many.files_per_thread, many.size_bytes, many.threads) = (4, 2 * MIB, 2);
    let workload = workload(vec![many]);
    let directory = tempfile::tempdir().unwrap();
    let places = Places::resolve(&workload, IoTarget::Path(directory.path())).unwrap();
    assert_eq!(places.files.len(), 8);
    assert!(places.files.iter().all(|file| file.bytes == MIB / 2));
    assert!(places.files[5].path.ends_with("job.1.1"));
    let span = Span { start: 0, bytes: MIB / 2 };
    assert_eq!(places.by_job[0][1], FilePlace { files: vec![4, 5, 6, 7], span });
}

#[test]
fn what_only_a_directory_or_a_larger_target_gives_is_refused() {
    let disk = disk(2 * MIB);
    let refused = |change: &dyn Fn(&mut Job)| {
        let mut workload = workload(vec![job()]);
        change(&mut workload.jobs[0]);
        refusal(&workload, IoTarget::Disk(&disk))
    };
    insta::assert_snapshot!(refused(&|job| job.files_per_thread = 4), @"job `job`: each thread uses 4 files, but mem(size=2M) is a single file or disk; name a directory, or set `files-per-thread = 1`");
    insta::assert_snapshot!(refused(&|job| job.offset_bytes = 2 * MIB), @"job `job`: offset 2097152 is beyond the 2097152 bytes of mem(size=2M); choose a smaller `offset`");
    insta::assert_snapshot!(refused(&|job| job.offset_bytes = 2 * MIB - 512), @"job `job`: the largest block is 4096 bytes, but the job can use only 512 bytes of mem(size=2M); use smaller blocks or a larger target");
    insta::assert_snapshot!(refused(&|job| job.align_bytes = Some(4 * MIB)), @"job `job`: `align` is 4194304 bytes, but the job can use only 1048576 bytes of mem(size=2M); choose a smaller `align`");
}

#[test]
fn units_have_room_for_headers_or_are_not_verified() {
    assert!(can_verify(512) && !can_verify(96) && !can_verify(0));
}
