//! Caps through the whole path, in virtual time: sessions, layers, completions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use iotax_layers::{Delay, Layer, Mem, Throttle};
use iotax_vdisk::{Clock, ManualClock, Request, Session, Submitted, VirtualDisk};

const TEN_SECONDS_NS: u64 = 10_000_000_000;

/// A closed loop at `depth` for ten seconds of virtual time; returns the I/Os that completed.
fn closed_loop(throttle: Throttle, latency_ns: u64, depth: usize, len: usize) -> u64 {
    let mem = || Layer::Mem(Mem { size_bytes: 1 << 20 });
    let throttle = Layer::Throttle(throttle);
    let delay = Layer::Delay(Delay { latency_ns, jitter_ns: latency_ns / 2 });
    let clock = Arc::new(ManualClock::starting_at(77));
    let stack = [mem(), throttle, delay];
    let disk =
        VirtualDisk::open(&stack, Arc::clone(&clock) as Arc<dyn Clock>).expect("a valid stack");
    let mut session = Session::new(&disk, depth, len).expect("a valid session");
    let start_ns = clock.now_ns();
    let mut ready: BinaryHeap<_> = (0..depth).map(|slot| Reverse((start_ns, slot))).collect();
    let mut done = 0;
    while let Some(Reverse((ready_ns, slot))) = ready.pop() {
        if ready_ns > start_ns + TEN_SECONDS_NS {
            break;
        }
        done += u64::from(ready_ns > start_ns);
        clock.sleep_until(ready_ns);
        let Submitted::Done(completion) = session.submit(slot, Request::read(0, len)) else {
            unreachable!("no queue in this stack")
        };
        ready.push(Reverse((completion.ready_at_ns, slot)));
    }
    done
}

fn caps() -> Throttle {
    Throttle { iops: Some(4000.0), bw_bytes: Some(32.0 * 1_048_576.0), ..Throttle::default() }
}

#[test]
fn caps_are_reached_and_held_to_half_a_percent() {
    for depth in [2, 8, 64, 256] {
        let ios = closed_loop(caps(), 100_000, depth, 4096);
        assert!(ios.abs_diff(40_000) <= 200, "{ios} I/Os of 4 KiB at depth {depth}");
        let ios = closed_loop(caps(), 100_000, depth, 65_536);
        assert!(ios.abs_diff(5_120) <= 25, "{ios} I/Os of 64 KiB at depth {depth}");
    }
}

#[test]
fn a_load_below_the_cap_is_not_slowed() {
    // 1 ms each at depth 2: 2000 per second, half the cap.
    let ios = closed_loop(caps(), 1_000_000, 2, 4096);
    assert!(ios.abs_diff(20_000) <= 200, "{ios}");
}
