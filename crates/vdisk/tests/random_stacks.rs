//! Random I/O through random stacks, against a plain vector of bytes.

use std::path::Path;
use std::sync::Arc;

use iotax_layers::{Aes, Cache, Delay, Fault, File, Flash, Layer, Mem, Queue, Throttle, Tier};
use iotax_testing::nameless_file;
use iotax_vdisk::{ManualClock, Op, Request, Session, Submitted, VirtualDisk};
use proptest::prelude::*;

const BLOCK_BYTES: usize = 4096;
const BLOCKS: usize = 64;
const DEPTH: usize = 4;
const MAX_BLOCKS: usize = 6;

fn base() -> impl Strategy<Value = Layer> {
    let size_bytes = (BLOCKS * BLOCK_BYTES) as u64;
    let file = move |cached| {
        let directory = if cached { "/dev/shm" } else { env!("CARGO_TARGET_TMPDIR") };
        let path = Some(nameless_file(Path::new(directory), size_bytes));
        Layer::File(File { path, size_bytes, thin: false })
    };
    prop_oneof![
        4 => Just(Layer::Mem(Mem { size_bytes })),
        1 => any::<bool>().prop_map(file),
    ]
}

fn layer() -> impl Strategy<Value = Layer> {
    let aes = |sector_bytes| Layer::Aes(Aes { key_bits: 256, sector_bytes });
    let cache = |pages: u64| Layer::Cache(Cache { size_bytes: pages * 4096 });
    let tier = |pages: u64| Layer::Tier(Tier { size_bytes: pages * 4096 });
    let fault = |(eio, short)| Layer::Fault(Fault { eio, short, ..Fault::default() });
    let delay = Layer::Delay(Delay { latency_ns: 1000, jitter_ns: 1000 });
    let throttle = Layer::Throttle(Throttle { iops: Some(1e5), ..Throttle::default() });
    let flash = Flash { channels: 8, latency_ns: 80_000, bw_bytes: 5e8, jitter_ns: 0 };
    prop_oneof![
        2 => prop_oneof![Just(512), Just(4096)].prop_map(aes),
        1 => (1..3_u32).prop_map(|workers| Layer::Queue(Queue { workers })),
        2 => (1..80_u64).prop_map(cache),
        1 => (0.0..0.3_f64, 0.0..0.3_f64).prop_map(fault),
        1 => Just(delay),
        1 => Just(throttle),
        1 => Just(Layer::Flash(flash)),
        1 => (1..80_u64).prop_map(tier),
    ]
}

/// Requests that are in flight together: disjoint ranges of blocks, as (operation, first, count).
fn batch() -> impl Strategy<Value = Vec<(Op, usize, usize)>> {
    let op = prop_oneof![4 => Just(Op::Read), 4 => Just(Op::Write), 1 => Just(Op::Flush)];
    proptest::collection::vec((op, 0..BLOCKS, 1..=MAX_BLOCKS), 1..=DEPTH).prop_map(|requests| {
        let mut taken = [false; BLOCKS];
        let clamp = |(op, first, count): (Op, usize, usize)| (op, first, count.min(BLOCKS - first));
        let mut claim = |&(_, first, count): &(Op, usize, usize)| {
            let free = !taken[first..first + count].contains(&true);
            taken[first..first + count].fill(true);
            free
        };
        requests.into_iter().map(clamp).filter(|request| claim(request)).collect()
    })
}

fn run(session: &mut Session, oracle: &mut [u8], batch: &[(Op, usize, usize)], stamp: u8) {
    let range = |first, count| first * BLOCK_BYTES..(first + count) * BLOCK_BYTES;
    let mut results = vec![None; batch.len()];
    for (slot, &(op, first, count)) in batch.iter().enumerate() {
        let filler = if op == Op::Write { stamp } else { 0xee };
        session.buffer_mut(slot).fill(filler);
        let range = range(first, count);
        let request = match op {
            Op::Flush => Request::flush(),
            _ => Request { op, offset: range.start as u64, len: range.len() },
        };
        if let Submitted::Done(completion) = session.submit(slot, request) {
            results[completion.slot] = Some(completion.result);
        }
    }
    while let Some(completion) = session.wait() {
        results[completion.slot] = Some(completion.result);
    }
    for (slot, &(op, first, count)) in batch.iter().enumerate() {
        let expected = &mut oracle[range(first, count)];
        match (op, results[slot].expect("every request completes")) {
            (Op::Write, Ok(len)) => {
                assert_eq!(len, expected.len(), "writes are whole");
                expected.copy_from_slice(&session.buffer(slot)[..len]);
            }
            (Op::Read, Ok(len)) => assert!(session.buffer(slot)[..len] == expected[..len]),
            // A fault answers before anything below has changed.
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn any_stack_reads_what_was_written(
        base in base(),
        layers in proptest::collection::vec(layer(), 0..6),
        batches in proptest::collection::vec(batch(), 1..40),
        seed in any::<u64>(),
    ) {
        let stack: Vec<Layer> = std::iter::once(base).chain(layers).collect();
        let disk = VirtualDisk::open_seeded(&stack, seed, Arc::new(ManualClock::default())).unwrap();
        let mut session = Session::new(&disk, DEPTH, MAX_BLOCKS * BLOCK_BYTES).unwrap();
        let mut oracle = vec![0; BLOCKS * BLOCK_BYTES];
        // Under aes, untouched blocks read as noise: write each once, as often as faults demand.
        for first in 0..BLOCKS {
            let block = first * BLOCK_BYTES..(first + 1) * BLOCK_BYTES;
            while session.write_at(block.start as u64, &oracle[block.clone()]).is_err() {}
        }
        for (stamp, batch) in (1..).zip(&batches) {
            run(&mut session, &mut oracle, batch, stamp);
        }
    }
}
