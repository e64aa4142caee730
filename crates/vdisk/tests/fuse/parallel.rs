//! Many requests at a time.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use iotax_layers::{Aes, Delay, File, Layer, Queue};
use iotax_testing::{nameless_file, needs_program};
use iotax_vdisk::fuse::MountOptions;

use crate::{HOUR_NS, MIB, Scene, mem};

#[test]
fn delayed_requests_wait_together_and_occupy_no_thread() {
    let delay = Layer::Delay(Delay { latency_ns: HOUR_NS, jitter_ns: 0 });
    let options = MountOptions { threads: Some(2), ..MountOptions::default() };
    let Some(scene) = Scene::with(&[mem(MIB), delay], &options) else { return };
    let file = scene.open();
    thread::scope(|scope| {
        for index in 0..32 {
            let file = &file;
            scope.spawn(move || file.read_at(&mut [0; 4096], index * 4096));
        }
        // All of them have reached the bottom, and two threads serve them.
        while scene.stats()["layers"][0]["reads"].as_u64() < Some(32) {
            thread::yield_now();
        }
        drop(scene.mounted);
    });
}

#[test]
fn writers_of_neighbouring_bytes_lose_nothing() {
    let aes = Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 });
    let queue = Layer::Queue(Queue { workers: 3 });
    let delay = Layer::Delay(Delay { latency_ns: 20_000, jitter_ns: 20_000 });
    for layers in [vec![mem(MIB), aes.clone()], vec![mem(MIB), aes, queue, delay]] {
        let Some(scene) = Scene::of(&layers) else { return };
        let file = scene.open();
        thread::scope(|scope| {
            for writer in 0_u8..8 {
                let file = &file;
                // Each its own bytes, of which some lie in two blocks; the ninth, whole blocks.
                scope.spawn(move || {
                    let offset = 4096 - 20 + u64::from(writer) * 5;
                    for round in 0..=200_u8 {
                        file.write_all_at(&[round; 5], offset).unwrap();
                        let mut read = [0; 5];
                        file.read_exact_at(&mut read, offset).unwrap();
                        assert_eq!(read, [round; 5], "writer {writer}");
                    }
                });
            }
            scope.spawn(|| {
                for round in 0..=200_u8 {
                    file.write_all_at(&[round; 4096], 8192).unwrap();
                    file.write_all_at(&[!round], 8191).unwrap();
                }
            });
        });
        let mut read = [0; 40];
        file.read_exact_at(&mut read, 4096 - 20).unwrap();
        assert_eq!(read, [200; 40]);
        let mut read = [0; 4097];
        file.read_exact_at(&mut read, 8191).unwrap();
        assert_eq!((read[0], &read[1..]), (!200, &[200; 4096][..]));
    }
}

#[test]
fn whole_blocks_and_parts_of_them_in_one_place_lose_nothing() {
    let aes = Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 });
    let Some(scene) = Scene::of(&[mem(MIB), aes]) else { return };
    let file = scene.open();
    // The whole block gets rising numbers in both halves; its last byte is another writer's, who
    // writes what it finds at the start. Only a lost write brings an old number back.
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=250_u8 {
                file.write_all_at(&[round; 4096], 0).unwrap();
                let mut first = [0];
                file.read_exact_at(&mut first, 0).unwrap();
                assert_eq!(first, [round], "overwritten with what was there before");
            }
        });
        scope.spawn(|| {
            for _ in 0..250 {
                file.write_all_at(&[0], 4095).unwrap();
            }
        });
    });
}

/// What this found in another FUSE disk: with several writes in flight one got another's data.
#[test]
fn fio_verifies_parallel_writes() {
    if !needs_program("fio") {
        return;
    }
    let path = Some(nameless_file(Path::new(env!("CARGO_TARGET_TMPDIR")), 32 * MIB));
    let file = File { path, size_bytes: 32 * MIB, thin: false };
    let delay = Layer::Delay(Delay { latency_ns: 100_000, jitter_ns: 100_000 });
    let aes = Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 });
    let queue = Layer::Queue(Queue { workers: 3 });
    let plain = vec![Layer::File(file)];
    for layers in [plain.clone(), [plain, vec![aes, queue, delay]].concat()] {
        let Some(scene) = Scene::of(&layers) else { return };
        let output = Command::new("fio")
            .args([
                "--name=verify",
                "--verify_state_save=0",
                "--rw=randwrite",
                "--bsrange=4k-64k",
                "--direct=1",
            ])
            .args(["--ioengine=libaio", "--iodepth=16", "--verify=crc32c", "--verify_fatal=1"])
            .args(["--do_verify=1", "--verify_backlog=64", "--randrepeat=0", "--eta=never"])
            .arg(format!("--filename={}", scene.path().display()))
            .current_dir(scene.dir.path().parent().expect("a directory in another one"))
            .output()
            .expect("fio ran a moment ago");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !text.contains("verify"), "{text}");
        let writes = scene.stats()["layers"][0]["writes"].as_u64();
        assert!(writes.is_some_and(|writes| writes > 500), "{writes:?}");
    }
}
