//! `flash`: a device that saturates, as a drive with a few flash channels does.
//!
//! `channels` servers do one I/O at a time each, in `latency + bytes / bw`. I/Os are served in the
//! order in which they come: each takes the channel that is free first. So up to `channels` I/Os in
//! flight take exactly their service time, throughput grows with the depth, and from there on it
//! stays at `channels / (latency + bytes / bw)` while latency grows. Like a `throttle` it has a
//! plateau, but not that of a limiter: I/Os of twice the size are slower and yet move more bytes,
//! where a cap holds either I/Os or bytes exactly; and idle time earns nothing.
//!
//! With jitter, service times are uniform around their mean. Flushes are free, and so are reads
//! that a `tier` above answers. Reads and writes cost the same: no write cache, no wear.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_utils::CachePadded;
use iotax_layers::Flash;

use super::{Waits, check_time};
use crate::chance::Draws;
use crate::clock::Clock;
use crate::layer::prelude::*;

const NAME: &str = "flash";
const MAX_CHANNELS: u32 = 65_536;
/// From a byte a second to a petabyte.
const BANDWIDTHS: std::ops::RangeInclusive<f64> = 1.0..=1e15;
/// The jitter of every `flash` repeats from run to run.
const SEED: u64 = 0x0066_6c61_7368;

impl Recipe for Flash {
    fn build(&self, place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        let is_possible = (1..=MAX_CHANNELS).contains(&self.channels);
        Error::demand(is_possible, NAME, "channels", self.channels, "1 to 65536")?;
        check_time(NAME, "latency", self.latency_ns)?;
        let is_possible = BANDWIDTHS.contains(&self.bw_bytes);
        Error::demand(is_possible, NAME, "bw", self.bw_bytes, "1 to 1e15 per second")?;
        let idle = (0..self.channels).map(|_| Reverse(0)).collect();
        Ok(Box::new(OpenFlash {
            config: Self { jitter_ns: self.jitter_ns.min(self.latency_ns), ..self.clone() },
            channels: CachePadded::new(Mutex::new(idle)),
            clock: Arc::clone(place.clock),
            draws: Draws::new(SEED + place.index as u64),
            waits: CachePadded::default(),
        }))
    }
}

struct OpenFlash {
    config: Flash,
    /// The instants from which on the channels are free, the earliest on top.
    channels: CachePadded<Mutex<BinaryHeap<Reverse<u64>>>>,
    clock: Arc<dyn Clock>,
    draws: Draws,
    waits: CachePadded<Waits>,
}

impl OpenFlash {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is positive, and values beyond u64 saturate"
    )]
    fn service_ns(&self, bytes: usize) -> u64 {
        let Flash { latency_ns, bw_bytes, jitter_ns, .. } = self.config;
        let moving_ns = (bytes as f64 * 1e9 / bw_bytes).round() as u64;
        let mean_ns = latency_ns.saturating_add(moving_ns);
        match jitter_ns {
            0 => mean_ns,
            _ => (mean_ns - jitter_ns).saturating_add(self.draws.below(2 * jitter_ns + 1)),
        }
    }
}

impl OpenLayer for OpenFlash {
    fn down(&self, mut io: Parcel) -> Flow {
        if io.request.op == Op::Flush || io.passes_free {
            return Flow::Next(io);
        }
        let service_ns = self.service_ns(io.request.len);
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that arrivals are in the order in which they are served.
        let arrival_ns = self.clock.now_ns().saturating_add(io.extra_ns);
        let mut free = channels.peek_mut().expect("there is always at least one channel");
        let wait_ns = free.0.saturating_sub(arrival_ns);
        let spent_ns = wait_ns.saturating_add(service_ns);
        *free = Reverse(arrival_ns.saturating_add(spent_ns));
        drop(free);
        drop(channels);
        self.waits.count(wait_ns);
        io.extra_ns = io.extra_ns.saturating_add(spent_ns);
        Flow::Next(io)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.waits.counters()
    }
}

#[cfg(test)]
mod tests {
    use iotax_layers::{Layer, Mem};

    use super::*;
    use crate::{ManualClock, Request, Session, Submitted, VirtualDisk};

    const SECOND_NS: u64 = 1_000_000_000;
    const FLASH: Flash = Flash { channels: 8, latency_ns: 80_000, bw_bytes: 5e8, jitter_ns: 0 };

    /// I/Os of `len` bytes that end within a second at `depth`, and the mean of their latencies.
    fn closed_loop(config: &Flash, depth: usize, len: usize) -> (u64, f64) {
        let clock = Arc::new(ManualClock::default());
        let mem = Layer::Mem(Mem { size_bytes: 1 << 20 });
        let stack = [mem, Layer::Flash(config.clone())];
        let disk = VirtualDisk::open(&stack, Arc::clone(&clock) as Arc<dyn Clock>).unwrap();
        let mut session = Session::new(&disk, 1, len).unwrap();
        let mut ready_ns = vec![0; depth];
        let (mut done, mut total_ns) = (0, 0);
        loop {
            let slot = ready_ns.iter_mut().min().unwrap();
            clock.sleep_until(*slot);
            let Submitted::Done(io) = session.submit(0, Request::read(0, len)) else {
                unreachable!("no queue in this stack")
            };
            if io.ready_at_ns > SECOND_NS {
                return (done, total_ns as f64 / done as f64);
            }
            total_ns += io.ready_at_ns - *slot;
            done += 1;
            *slot = io.ready_at_ns;
        }
    }

    #[test]
    fn throughput_grows_with_the_depth_up_to_the_channels_and_then_latency_does() {
        let config = Flash { bw_bytes: 1e9, latency_ns: 96_000, ..FLASH };
        // 4000 bytes in 4 us: 100 us each, 10,000 per channel and second.
        let measured = |depth| {
            let (ios, mean_ns) = closed_loop(&config, depth, 4096);
            (ios as f64 / 1e9, mean_ns)
        };
        let service_ns = 96_000.0 + 4096.0;
        for (depth, in_service) in [(1, 1.0), (2, 2.0), (8, 8.0), (16, 8.0), (64, 8.0)] {
            let (per_ns, mean_ns) = measured(depth);
            let share = per_ns * service_ns / in_service;
            assert!((0.998..=1.0).contains(&share), "depth {depth}: {share} of the rate");
            let queued = mean_ns * in_service / (service_ns * depth as f64);
            assert!((0.99..=1.01).contains(&queued), "depth {depth}: {queued} of the latency");
        }
    }

    #[test]
    fn larger_ios_are_slower_and_yet_move_more_bytes() {
        let config = Flash { bw_bytes: 1e9, ..FLASH };
        let [small, large] =
            [4096, 65_536].map(|len| (closed_loop(&config, 32, len).0, len as u64));
        assert!(large.0 < small.0, "no cap on I/Os");
        assert!(large.0 * large.1 > 4 * small.0 * small.1, "no cap on bytes");
    }

    #[test]
    fn jitter_spreads_service_times_around_the_same_mean() {
        let config = Flash { bw_bytes: 1e15, jitter_ns: 80_000, ..FLASH };
        let (ios, mean_ns) = closed_loop(&config, 1, 4096);
        // 12,500 draws of a uniform distribution of 46 us standard deviation: 0.4 us of error.
        assert!((78_000.0..82_000.0).contains(&mean_ns), "{mean_ns}");
        assert!(ios.abs_diff(12_500) < 400, "{ios}");
    }

    #[test]
    fn flushes_are_free_and_waits_are_counted() {
        let clock = Arc::new(ManualClock::default());
        let config = Flash { channels: 1, bw_bytes: 1e15, ..FLASH };
        let mem = Layer::Mem(Mem { size_bytes: 1 << 20 });
        let disk = VirtualDisk::open(&[mem, Layer::Flash(config)], clock).unwrap();
        let mut session = Session::new(&disk, 1, 4096).unwrap();
        let requests =
            [Request::flush(), Request::write(0, 4096), Request::flush(), Request::read(0, 4096)];
        let ready = requests.map(|request| match session.submit(0, request) {
            Submitted::Done(completion) => completion.ready_at_ns,
            Submitted::InFlight => unreachable!("no queue in this stack"),
        });
        assert_eq!(ready, [0, 80_000, 0, 160_000]);
        assert_eq!(disk.stats()[1].own, [("waits", 1), ("wait_ns", 80_000)]);
    }
}
