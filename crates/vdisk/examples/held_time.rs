//! How exactly simulated time is kept in real time, and what that costs:
//!
//! ```text
//! cargo run --release -p iotax-vdisk --example held_time
//! ```
//!
//! Every stack is driven in a closed loop by the blocking calls or at depth 32, for ten seconds
//! each. Run it on an idle machine.
#![expect(clippy::print_stdout, reason = "this program prints its results")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use iotax_layers::{Delay, Layer, Mem, Throttle};
use iotax_vdisk::{Clock, Error, MonotonicClock, Request, Session, Submitted, VirtualDisk};
use rustix::time::{ClockId, clock_gettime};

const TEN_SECONDS_NS: u64 = 10_000_000_000;

fn main() -> Result<(), Error> {
    let delay = Layer::Delay(Delay { latency_ns: 200_000, jitter_ns: 0 });
    let throttle = Layer::Throttle(Throttle {
        iops: Some(4000.0),
        bw_bytes: Some(32.0 * 1_048_576.0),
        ..Throttle::default()
    });
    println!(
        "{:<44} {:>9} {:>9} {:>9} {:>6}",
        "stack, depth, I/O size", "IOPS", "MiB/s", "mean us", "CPU"
    );
    for (layer, len) in [(&delay, 4096), (&throttle, 4096), (&throttle, 65_536)] {
        for depth in [1, 32] {
            report(layer, depth, len)?;
        }
    }
    Ok(())
}

fn report(layer: &Layer, depth: usize, len: usize) -> Result<(), Error> {
    let mem = Layer::Mem(Mem { size_bytes: 64 << 20 });
    let disk = VirtualDisk::open(&[mem, layer.clone()], Arc::new(MonotonicClock))?;
    let mut session = Session::new(&disk, depth, len)?;
    let cpu_start_ns = cpu_ns();
    let (completed, mean_us) = closed_loop(&mut session, len);
    let seconds = TEN_SECONDS_NS as f64 / 1e9;
    let iops = completed as f64 / seconds;
    let mib_per_s = iops * len as f64 / 1_048_576.0;
    let cpu = (cpu_ns() - cpu_start_ns) as f64 / TEN_SECONDS_NS as f64 * 100.0;
    let name = format!("{layer}, {depth}, {len}");
    println!("{name:<44} {iops:>9.1} {mib_per_s:>9.3} {mean_us:>9.2} {cpu:>5.1}%");
    Ok(())
}

/// I/Os completed in ten seconds, and their mean latency, microseconds.
fn closed_loop(session: &mut Session, len: usize) -> (u64, f64) {
    let clock = MonotonicClock;
    let start_ns = clock.now_ns();
    let mut waiting: BinaryHeap<_> =
        (0..session.depth()).map(|slot| Reverse((start_ns, start_ns, slot))).collect();
    let (mut ios, mut total_ns) = (0, 0);
    let mut offset = 0;
    while let Some(Reverse((ready_ns, submitted_ns, slot))) = waiting.pop() {
        clock.sleep_until(ready_ns);
        let now_ns = clock.now_ns();
        if now_ns - start_ns >= TEN_SECONDS_NS {
            break;
        }
        if submitted_ns < ready_ns {
            ios += 1;
            total_ns += now_ns - submitted_ns;
        }
        offset = (offset + len as u64 * 7) % session.disk().size_bytes();
        if let Submitted::Done(completion) = session.submit(slot, Request::read(offset, len)) {
            // A request that did not have to wait is ready now, after it was submitted.
            let ready_ns = completion.ready_at_ns.max(now_ns + 1);
            waiting.push(Reverse((ready_ns, now_ns, slot)));
        }
    }
    (ios, total_ns as f64 / ios as f64 / 1e3)
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
