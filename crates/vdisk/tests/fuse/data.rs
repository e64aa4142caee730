//! What is read is what was written, however it was.

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;

use iotax_layers::{Aes, Delay, Fault, Layer, Queue};
use iotax_vdisk::Session;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::{MIB, Scene, can_map_shared, mem, open_elsewhere};

fn pattern(len: usize, seed: u8) -> Vec<u8> {
    let step = usize::from(seed) * 2 + 1;
    (0..len).map(|index| (index.wrapping_mul(step) % 251).to_le_bytes()[0]).collect()
}

#[test]
fn the_file_and_a_session_see_the_same_bytes() {
    let Some(scene) = Scene::of(&[mem(MIB), Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 })])
    else {
        return;
    };
    let mut session = Session::new(scene.disk(), 1, 65_536).unwrap();
    let file = scene.open();
    assert_eq!(file.metadata().unwrap().len(), MIB);

    let written = pattern(65_536, 1);
    file.write_all_at(&written, 4096).unwrap();
    let mut read = vec![0; 65_536];
    assert_eq!(session.read_at(4096, &mut read), Ok(65_536));
    assert!(read == written, "the session reads what was written through the mount");

    let written = pattern(65_536, 2);
    assert_eq!(session.write_at(8192, &written), Ok(65_536));
    file.read_exact_at(&mut read, 8192).unwrap();
    assert!(read == written, "the mount shows what the session wrote");
}

#[derive(Clone, Debug)]
enum Step {
    Read { offset: usize, len: usize },
    Write { offset: usize, len: usize, seed: u8 },
}

fn steps(size: usize) -> impl Strategy<Value = Vec<Step>> {
    // Around block borders, anywhere, and beyond the largest single request.
    let len =
        prop_oneof![4 => 1_usize..600, 4 => 3000_usize..9000, 1 => 1_000_000_usize..1_200_000];
    let offset = prop_oneof![
        (0..size / 4096, 0_usize..9)
            .prop_map(|(block, past)| (block * 4096 + past).saturating_sub(4)),
        0..size,
    ];
    let step = (any::<bool>(), offset, len, any::<u8>()).prop_map(|(write, offset, len, seed)| {
        if write { Step::Write { offset, len, seed } } else { Step::Read { offset, len } }
    });
    prop::collection::vec(step, 1..12)
}

/// The file's bytes as the oracle: short at the end, like any file of fixed size.
fn check(file: &File, model: &mut [u8], step: &Step) {
    match *step {
        Step::Read { offset, len } => {
            let expected = &model[offset..model.len().min(offset + len)];
            let mut read = vec![0; expected.len()];
            file.read_exact_at(&mut read, offset as u64).expect("a read");
            assert!(read == expected, "{step:?}");
            let mut byte = [0];
            assert_eq!(
                file.read_at(&mut byte, model.len() as u64).expect("a read"),
                0,
                "end of file"
            );
        }
        Step::Write { offset, len, seed } => {
            let end = model.len().min(offset + len);
            let data = pattern(end - offset, seed);
            file.write_all_at(&data, offset as u64).expect("a write");
            model[offset..end].copy_from_slice(&data);
        }
    }
}

#[test]
fn io_of_any_alignment_agrees_with_a_vector() {
    let delay = Layer::Delay(Delay { latency_ns: 20_000, jitter_ns: 20_000 });
    let queue = Layer::Queue(Queue { workers: 2 });
    let aes = Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 });
    for layers in
        [vec![mem(3 * MIB + 4096), aes.clone()], vec![mem(3 * MIB + 4096), aes, queue, delay]]
    {
        let Some(scene) = Scene::of(&layers) else { return };
        let file = scene.open();
        let size = usize::try_from(scene.disk().size_bytes()).unwrap();
        let config = Config { cases: 20, failure_persistence: None, ..Config::default() };
        let model = RefCell::new(vec![0; size]);
        file.write_all_at(&model.borrow(), 0).unwrap();
        TestRunner::new(config)
            .run(&steps(size), |steps| {
                for step in &steps {
                    check(&file, &mut model.borrow_mut(), step);
                }
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn a_shared_mapping_reads_and_writes_the_disk() {
    if !can_map_shared() {
        return;
    }
    // Not a whole number of pages, as a device may be.
    let size_bytes = MIB + 512;
    let Some(scene) = Scene::of(&[mem(size_bytes)]) else { return };
    let mut session = Session::new(scene.disk(), 1, 4096).unwrap();
    let last = size_bytes - 512;
    assert_eq!(session.write_at(last, &pattern(512, 3)), Ok(512));
    scene.in_another_process("data::map_and_sync");
    let mut block = [0; 512];
    assert_eq!(session.read_at(last, &mut block), Ok(512));
    assert_eq!(block[1], 42);
    let mut read = vec![0; 4000];
    scene.open().read_exact_at(&mut read, 9000).unwrap();
    assert!(read == pattern(4000, 4));
}

#[test]
#[ignore = "the other process of the test above"]
fn map_and_sync() {
    let file = open_elsewhere();
    // SAFETY: nobody changes the file's bytes during a borrow of the mapping's.
    let mapped = unsafe { memmap2::MmapMut::map_mut(&file) };
    let mut mapped = mapped.expect("Linux 6.6, for shared mappings of files with direct I/O");
    let last = mapped.len() - 512;
    assert!(mapped[last..] == pattern(512, 3));
    mapped[9000..13_000].copy_from_slice(&pattern(4000, 4));
    mapped[last + 1] = 42;
    mapped.flush().unwrap();
    file.write_all_at(&pattern(4096, 5), 4096).unwrap();
    assert!(mapped[4096..8192] == pattern(4096, 5), "a write is seen in the mapping");
}

#[test]
fn beyond_the_end_there_is_no_space_and_the_size_is_fixed() {
    let Some(scene) = Scene::of(&[mem(MIB)]) else { return };
    let file = scene.open();
    assert_eq!(file.write_at(&[1; 1000], MIB - 100).unwrap(), 100);
    let errno = |result: std::io::Result<()>| result.unwrap_err().raw_os_error();
    assert_eq!(errno(file.write_at(&[1], MIB).map(drop)), Some(28), "ENOSPC");
    assert_eq!(errno(file.set_len(0)), Some(1), "EPERM");
    file.set_len(MIB).unwrap();
    let in_dir = |name: &str| scene.dir.path().join(name);
    assert_eq!(errno(std::fs::write(in_dir("other"), [])), Some(1), "EPERM");
    assert_eq!(errno(std::fs::remove_file(in_dir("disk"))), Some(1), "EPERM");
    let punch = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    let punched = rustix::fs::fallocate(&file, punch, 0, 4096);
    assert_eq!(punched, Err(rustix::io::Errno::OPNOTSUPP));
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, MIB).unwrap();
}

#[test]
fn errors_of_the_stack_arrive_as_they_are() {
    // A write of part of a block is two I/Os, and fails with either, holding nobody back.
    for after_ios in [0, 1] {
        let fault = Layer::Fault(Fault { eio: 1.0, after_ios, ..Fault::default() });
        let Some(scene) = Scene::of(&[mem(MIB), fault]) else { return };
        let file = scene.open();
        let errno = |result: std::io::Result<usize>| result.map_err(|error| error.raw_os_error());
        assert_eq!(errno(file.write_at(&[1], 7)), Err(Some(5)));
        let read = || errno(file.read_at(&mut [0; 4096], 0));
        assert_eq!([read(), read()], [Err(Some(5)); 2]);
    }
}

#[test]
fn fsync_is_a_flush_and_the_statistics_count_everything() {
    let Some(scene) = Scene::of(&[mem(MIB), Layer::Queue(Queue { workers: 1 })]) else {
        return;
    };
    let file = scene.open();
    file.write_all_at(&[1; 8192], 0).unwrap();
    file.read_exact_at(&mut [0; 4096], 0).unwrap();
    file.sync_all().unwrap();
    file.sync_data().unwrap();
    let stats = scene.stats();
    assert_eq!(stats["stack"], "mem(size=1M) + queue(workers=1)");
    let expected = serde_json::json!({
        "layer": "mem(size=1M)", "reads": 1, "read_bytes": 4096, "writes": 1,
        "write_bytes": 8192, "flushes": 2, "errors": 0, "own": {},
    });
    assert_eq!(stats["layers"][0], expected);
    drop(scene.mounted);
}
