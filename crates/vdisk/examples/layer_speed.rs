//! What layers cost per I/O, for comparison with `openssl speed`:
//!
//! ```text
//! cargo run --release -p iotax-vdisk --example layer_speed
//! openssl speed -evp aes-256-xts -bytes 4096
//! ```
//!
//! One thread, 4 KiB I/Os at random offsets of a device of 1 MiB, so that memory stays in the
//! cache as the buffer of `openssl speed` does. CPU time of the thread counts, as `openssl speed`
//! counts it; for `queue`, whose cost is waiting, elapsed time. The time of the same stack without
//! the layer is taken off. The best of many short rounds counts: what disturbs makes slower.
#![expect(clippy::print_stdout, reason = "this program prints its results")]

use std::sync::Arc;
use std::time::Instant;

use iotax_layers::{Aes, Cache, Delay, Fault, Layer, Mem, Queue, Throttle};
use iotax_vdisk::{Clock, Error, MonotonicClock, Request, Session, Submitted, VirtualDisk};

const DEVICE_BYTES: u64 = 1 << 20;
const IO_BYTES: usize = 4096;

fn main() -> Result<(), Error> {
    let aes = |sector_bytes| Layer::Aes(Aes { key_bits: 256, sector_bytes });
    let throttle = Throttle { iops: Some(1e12), ..Default::default() };
    let layers = [
        ("aes, 4096-byte sectors", aes(4096)),
        ("aes, 512-byte sectors", aes(512)),
        ("delay(latency=1ns)", Layer::Delay(Delay { latency_ns: 1, jitter_ns: 0 })),
        ("throttle", Layer::Throttle(throttle)),
        ("fault", Layer::Fault(Fault::default())),
        ("cache", Layer::Cache(Cache { size_bytes: 4 << 20 })),
        ("queue(workers=1)", Layer::Queue(Queue { workers: 1 })),
    ];
    let mem = Layer::Mem(Mem { size_bytes: DEVICE_BYTES });
    let base = [Request::read, Request::write].map(|request| ns_per_io(&[&mem], request, IO_BYTES));
    let [read, write] = base;
    println!(
        "| ns per 4 KiB I/O | read | write | decryption and encryption, GB/s |\n|---|---|---|---|"
    );
    println!("| mem alone | {:.1} | {:.1} | |", read?, write?);
    let small = |request: fn(u64, usize) -> Request| ns_per_io(&[&mem], request, 512);
    let (read, write) = (small(Request::read)?, small(Request::write)?);
    println!("| mem alone, 512 bytes | {read:.1} | {write:.1} | |");
    for (name, layer) in layers {
        let [read, write] = [Request::read, Request::write].map(|request| {
            let without = ns_per_io(&[&mem], request, IO_BYTES)?;
            Ok::<_, Error>(ns_per_io(&[&mem, &layer], request, IO_BYTES)? - without)
        });
        let (read, write) = (read?, write?);
        let gb_per_s = |ns: f64| IO_BYTES as f64 / ns;
        let speed = match layer {
            Layer::Aes(_) => format!("{:.2} and {:.2}", gb_per_s(read), gb_per_s(write)),
            _ => String::new(),
        };
        println!("| + {name} | {read:+.1} | {write:+.1} | {speed} |");
    }
    wait_precision();
    Ok(())
}

fn ns_per_io(
    stack: &[&Layer],
    request: fn(u64, usize) -> Request,
    len: usize,
) -> Result<f64, Error> {
    let stack: Vec<Layer> = stack.iter().copied().cloned().collect();
    let disk = VirtualDisk::open(&stack, Arc::new(MonotonicClock))?;
    let mut session = Session::new(&disk, 1, IO_BYTES)?;
    let hops = stack.iter().any(|layer| matches!(layer, Layer::Queue(_)));
    let (rounds, ios) = if hops { (20, 1_000) } else { (200, 2_000) };
    let blocks = DEVICE_BYTES / IO_BYTES as u64;
    let mut offset = 0;
    let mut best_ns = f64::INFINITY;
    for _ in 0..rounds {
        let (start, cpu_start_ns) = (Instant::now(), cpu_ns());
        for _ in 0..ios {
            // A full-period walk over all blocks.
            offset = (offset * 5 + 1) % blocks;
            let submitted = session.submit(0, request(offset * IO_BYTES as u64, len));
            if let Submitted::InFlight = submitted {
                session.wait();
            }
        }
        let elapsed_ns = start.elapsed().as_nanos() as f64;
        let spent_ns = if hops { elapsed_ns } else { (cpu_ns() - cpu_start_ns) as f64 };
        best_ns = best_ns.min(spent_ns / f64::from(ios));
    }
    Ok(best_ns)
}

fn wait_precision() {
    println!("\n| sleep_until, us | mean | p99 | CPU |\n|---|---|---|---|");
    for wait_us in [50_u32, 200, 1000] {
        let wait_ns = u64::from(wait_us) * 1000;
        let (start, cpu_start) = (Instant::now(), cpu_ns());
        let mut waits: Vec<u64> = (0..2_000_000 / wait_us)
            .map(|_| {
                let from_ns = MonotonicClock.now_ns();
                MonotonicClock.sleep_until(from_ns + wait_ns);
                MonotonicClock.now_ns() - from_ns
            })
            .collect();
        let cpu = (cpu_ns() - cpu_start) as f64 / start.elapsed().as_nanos() as f64;
        waits.sort_unstable();
        let mean_us = waits.iter().sum::<u64>() as f64 / waits.len() as f64 / 1e3;
        let p99_us = waits[waits.len() * 99 / 100] as f64 / 1e3;
        println!("| {wait_us} | {mean_us:.1} | {p99_us:.1} | {:.0} % |", cpu * 100.0);
    }
}

fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
