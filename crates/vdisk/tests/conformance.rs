//! What every layer must keep to, whatever it does besides: alone on memory, under a work queue,
//! and on top of one.

use std::path::Path;
use std::sync::Arc;

use iotax_layers::{
    Aes, Cache, Counts, Delay, Fault, File, Flash, Layer, Mem, Queue, Throttle, Tier,
};
use iotax_testing::nameless_file;
use iotax_vdisk::{Completion, Errno, ManualClock, Request, Session, Submitted, VirtualDisk};

const SIZE_BYTES: u64 = 1 << 20;
const MAX_IO_BYTES: usize = 16_384;

/// To take part: one line.
fn layers() -> Vec<Layer> {
    let throttle = |group: Option<&str>| Throttle {
        iops: Some(5000.0),
        burst_iops: Some(9000.0),
        credits_ns: Some(1_000_000),
        bw_bytes: Some(1e8),
        burst_bw_bytes: None,
        io_unit_bytes: Some(8192),
        counts: group.map_or(Counts::Both, |_| Counts::Writes),
        group: group.map(str::to_owned),
    };
    let stalls = Fault { stall: 0.5, stall_ns: 7, ..Fault::default() };
    vec![
        Layer::Mem(Mem { size_bytes: SIZE_BYTES }),
        file(env!("CARGO_TARGET_TMPDIR")),
        file("/dev/shm"),
        Layer::Aes(Aes { key_bits: 256, sector_bytes: 512 }),
        Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 }),
        Layer::Queue(Queue { workers: 3 }),
        Layer::Delay(Delay { latency_ns: 200_000, jitter_ns: 50_000 }),
        Layer::Throttle(throttle(None)),
        Layer::Throttle(throttle(Some("conformance"))),
        Layer::Cache(Cache { size_bytes: 4096 * 20 }),
        Layer::Cache(Cache { size_bytes: 2 * SIZE_BYTES }),
        Layer::Flash(Flash { channels: 3, latency_ns: 80_000, bw_bytes: 5e8, jitter_ns: 5_000 }),
        Layer::Tier(Tier { size_bytes: 4096 * 20 }),
        Layer::Tier(Tier { size_bytes: 2 * SIZE_BYTES }),
        Layer::Fault(stalls),
    ]
}

fn file(directory: &str) -> Layer {
    let path = Some(nameless_file(Path::new(directory), SIZE_BYTES));
    Layer::File(File { path, size_bytes: SIZE_BYTES, thin: false })
}

/// Runs `test` on every layer in every position.
#[expect(clippy::print_stderr, reason = "names the stack, should the test fail")]
fn for_each_stack(test: impl Fn(&VirtualDisk)) {
    let mem = Layer::Mem(Mem { size_bytes: SIZE_BYTES });
    let queue = Layer::Queue(Queue { workers: 2 });
    for layer in layers() {
        let stacks = if layer.is_base() {
            vec![vec![layer.clone()], vec![layer, queue.clone()]]
        } else {
            let mem = || mem.clone();
            vec![
                vec![mem(), layer.clone()],
                vec![mem(), layer.clone(), queue.clone()],
                vec![mem(), queue.clone(), layer.clone()],
                vec![mem(), layer.clone(), layer],
            ]
        };
        for stack in stacks {
            let clock = Arc::new(ManualClock::starting_at(1_000_000));
            let disk = VirtualDisk::open(&stack, clock).expect("a valid stack");
            eprintln!("{disk}");
            test(&disk);
        }
    }
}

fn session(disk: &VirtualDisk, depth: usize) -> Session {
    Session::new(disk, depth, MAX_IO_BYTES).expect("a valid session")
}

/// Data that tells where it belongs: each word holds its offset, and a stamp.
fn marked(offset: u64, len: usize, stamp: u64) -> Vec<u8> {
    let words = (0..len as u64 / 8).map(|word| (offset + 8 * word) ^ (stamp << 32));
    words.flat_map(u64::to_le_bytes).collect()
}

#[test]
fn what_is_written_is_read_back() {
    for_each_stack(|disk| {
        let mut session = session(disk, 1);
        for (offset, len, stamp) in
            [(0, 4096, 1), (8192, 16_384, 2), (16_384, 4096, 3), (SIZE_BYTES - 4096, 4096, 4)]
        {
            let data = marked(offset, len, stamp);
            assert_eq!(session.write_at(offset, &data), Ok(len));
            assert_eq!(session.flush(), Ok(()));
            for _ in 0..2 {
                let mut back = vec![0xff; len];
                assert_eq!(session.read_at(offset, &mut back), Ok(len));
                assert!(back == data);
            }
        }
    });
}

#[test]
fn what_is_not_an_aligned_range_of_the_device_is_invalid() {
    for_each_stack(|disk| {
        let block = disk.block_bytes() as usize;
        let size = disk.size_bytes();
        assert_eq!(size, SIZE_BYTES);
        let mut session = session(disk, 1);
        for request in [Request::read, Request::write] {
            for (offset, len) in [
                (0, 0),
                (0, MAX_IO_BYTES + block),
                (size, block),
                (size - block as u64, 2 * block),
                (u64::MAX - block as u64 + 1, block),
                (u64::MAX, 1),
                (block as u64 / 2, block),
                (0, block - 1),
            ] {
                let Submitted::Done(completion) = session.submit(0, request(offset, len)) else {
                    panic!("an invalid request is answered at once")
                };
                assert_eq!(completion.result, Err(Errno::INVAL), "{offset}+{len}");
            }
        }
        assert_eq!(disk.stats().last().unwrap().reads, 0, "none of these was an I/O");
    });
}

#[test]
fn a_write_leaves_the_submitters_buffer_as_it_is() {
    for_each_stack(|disk| {
        let mut session = session(disk, 1);
        let data = marked(4096, 8192, 5);
        session.buffer_mut(0)[..8192].copy_from_slice(&data);
        for offset in [4096, 65_536] {
            if let Submitted::InFlight = session.submit(0, Request::write(offset, 8192)) {
                session.wait().unwrap();
            }
            assert!(session.buffer(0)[..8192] == data);
        }
    });
}

#[test]
fn every_submission_completes_once_from_four_threads_at_depth_eight() {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 12;
    for_each_stack(|disk| {
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || drive(disk, thread, ROUNDS));
            }
        });
        let top = disk.stats().pop().unwrap();
        assert_eq!((top.writes, top.reads), (THREADS * ROUNDS * 8, THREADS * ROUNDS * 8));
        assert_eq!((top.errors, top.write_bytes), (0, THREADS * ROUNDS * 8 * 4096));
    });
}

/// Writes and reads back a quarter of the device that belongs to this thread alone, 8 at a time.
fn drive(disk: &VirtualDisk, thread: u64, rounds: u64) {
    let mut session = session(disk, 8);
    let share = SIZE_BYTES / 4;
    for round in 0..rounds {
        let offset = |slot: usize| {
            let block = (round * 13 + slot as u64) % (share / 4096);
            thread * share + block * 4096
        };
        for slot in 0..8 {
            let data = marked(offset(slot), 4096, round);
            session.buffer_mut(slot)[..4096].copy_from_slice(&data);
        }
        run_all(&mut session, |slot| Request::write(offset(slot), 4096));
        run_all(&mut session, |slot| Request::read(offset(slot), 4096));
        for slot in 0..8 {
            assert!(session.buffer(slot)[..4096] == marked(offset(slot), 4096, round));
        }
    }
}

/// Submits to all slots, and checks that each completes exactly once, in full.
fn run_all(session: &mut Session, request: impl Fn(usize) -> Request) {
    let mut seen = vec![0; session.depth()];
    let mut see = |completion: Completion| {
        assert_eq!(completion.result, Ok(4096));
        seen[completion.slot] += 1;
    };
    for slot in 0..session.depth() {
        if let Submitted::Done(completion) = session.submit(slot, request(slot)) {
            see(completion);
        }
    }
    while let Some(completion) = session.wait() {
        see(completion);
    }
    assert_eq!((session.in_flight(), session.poll()), (0, None));
    assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
}

#[test]
fn a_session_can_be_dropped_with_io_in_flight_and_the_disk_still_closes() {
    for_each_stack(|disk| {
        let mut abandoned = session(disk, 16);
        for slot in 0..16 {
            let _ = abandoned.submit(slot, Request::read(0, 4096));
        }
        drop(abandoned);
        assert_eq!(session(disk, 1).flush(), Ok(()));
    });
}

#[test]
fn disks_are_shared_by_threads_and_sessions_move_to_them() {
    fn shared<T: Send + Sync>() {}
    fn moved<T: Send>() {}
    shared::<VirtualDisk>();
    moved::<Session>();
}

#[test]
fn simulated_time_is_never_in_the_past() {
    for_each_stack(|disk| {
        let mut session = session(disk, 1);
        for _ in 0..50 {
            let now_ns = disk.clock().now_ns();
            let completion = match session.submit(0, Request::read(0, 4096)) {
                Submitted::Done(completion) => completion,
                Submitted::InFlight => session.wait().unwrap(),
            };
            assert!(completion.ready_at_ns == 0 || completion.ready_at_ns > now_ns);
            disk.clock().sleep_until(completion.ready_at_ns);
        }
    });
}
