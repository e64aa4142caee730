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
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_utils::CachePadded;

use crate::chance::Draws;
use crate::clock::Clock;
use crate::error::Error;
use crate::io::{Op, Parcel};
use crate::layer::{Flow, Layer, Place, Recipe};
use crate::text::Duration;

const NAME: &str = "flash";
const MAX_CHANNELS: u32 = 65_536;
const MAX_LATENCY_NS: u64 = 3_600_000_000_000;
/// From a byte a second to a petabyte.
const BANDWIDTHS: std::ops::RangeInclusive<f64> = 1.0..=1e15;
/// The jitter of every `flash` repeats from run to run.
const SEED: u64 = 0x0066_6c61_7368;

/// Serves a limited number of I/Os at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct FlashConfig {
    /// I/Os that are served side by side, from 1.
    pub channels: u32,
    /// Mean service time of an I/O without bytes, nanoseconds.
    pub latency_ns: u64,
    /// Bytes per second that one channel moves in an I/O besides.
    pub bw_bytes: f64,
    /// Half the width of the uniform distribution of service times around their mean, nanoseconds;
    /// at most `latency_ns`.
    pub jitter_ns: u64,
}

impl Default for FlashConfig {
    /// Of the order of a small `NVMe` drive: 80 us, and 93,000 reads of 4 KiB per second.
    fn default() -> Self {
        Self { channels: 8, latency_ns: 80_000, bw_bytes: 524_288_000.0, jitter_ns: 0 }
    }
}

impl fmt::Display for FlashConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let latency = Duration(self.latency_ns);
        write!(f, "{NAME}(channels={}, latency={latency}, bw={}", self.channels, self.bw_bytes)?;
        if self.jitter_ns > 0 {
            write!(f, ", jitter={}", Duration(self.jitter_ns))?;
        }
        f.write_str(")")
    }
}

impl Recipe for FlashConfig {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&self, place: &Place<'_>) -> Result<Box<dyn Layer>, Error> {
        if !(1..=MAX_CHANNELS).contains(&self.channels) {
            return Err(Error::parameter(NAME, "channels", self.channels, "1 to 65536"));
        }
        if self.latency_ns > MAX_LATENCY_NS {
            let latency = Duration(self.latency_ns);
            return Err(Error::parameter(NAME, "latency", latency, "at most 1 hour"));
        }
        if !BANDWIDTHS.contains(&self.bw_bytes) {
            return Err(Error::parameter(NAME, "bw", self.bw_bytes, "1 to 1e15 per second"));
        }
        if self.jitter_ns > self.latency_ns {
            let must_be = "at most the latency";
            return Err(Error::parameter(NAME, "jitter", Duration(self.jitter_ns), must_be));
        }
        let idle = (0..self.channels).map(|_| Reverse(0)).collect();
        Ok(Box::new(Flash {
            config: self.clone(),
            channels: CachePadded::new(Mutex::new(idle)),
            clock: Arc::clone(place.clock),
            draws: Draws::new(SEED + place.index as u64),
            waits: CachePadded::default(),
        }))
    }
}

#[derive(Default)]
struct Waits {
    count: AtomicU64,
    total_ns: AtomicU64,
}

struct Flash {
    config: FlashConfig,
    /// The instants from which on the channels are free, the earliest on top.
    channels: CachePadded<Mutex<BinaryHeap<Reverse<u64>>>>,
    clock: Arc<dyn Clock>,
    draws: Draws,
    waits: CachePadded<Waits>,
}

impl Flash {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and what is beyond u64 saturates"
    )]
    fn service_ns(&self, bytes: usize) -> u64 {
        let FlashConfig { latency_ns, bw_bytes, jitter_ns, .. } = self.config;
        let moving_ns = (bytes as f64 * 1e9 / bw_bytes).round() as u64;
        let mean_ns = latency_ns.saturating_add(moving_ns);
        match jitter_ns {
            0 => mean_ns,
            _ => (mean_ns - jitter_ns).saturating_add(self.draws.below(2 * jitter_ns + 1)),
        }
    }
}

impl Layer for Flash {
    fn down(&self, mut io: Parcel) -> Flow {
        if io.request.op == Op::Flush || io.passes_free {
            return Flow::Next(io);
        }
        let service_ns = self.service_ns(io.request.len);
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that arrivals are in the order in which they are served.
        let arrival_ns = self.clock.now_ns().saturating_add(io.extra_ns);
        let mut free = channels.peek_mut().expect("there is at least one channel, always");
        let wait_ns = free.0.saturating_sub(arrival_ns);
        let spent_ns = wait_ns.saturating_add(service_ns);
        *free = Reverse(arrival_ns.saturating_add(spent_ns));
        drop(free);
        drop(channels);
        if wait_ns > 0 {
            self.waits.count.fetch_add(1, Ordering::Relaxed);
            self.waits.total_ns.fetch_add(wait_ns, Ordering::Relaxed);
        }
        io.extra_ns = io.extra_ns.saturating_add(spent_ns);
        Flow::Next(io)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("waits", self.waits.count.load(Ordering::Relaxed)),
            ("wait_ns", self.waits.total_ns.load(Ordering::Relaxed)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LayerConfig, ManualClock, MemConfig, Request, Session, Submitted, VirtualDisk};

    const SECOND_NS: u64 = 1_000_000_000;

    /// I/Os of `len` bytes that end within a second at `depth`, and the mean of their latencies.
    fn closed_loop(config: &FlashConfig, depth: usize, len: usize) -> (u64, f64) {
        let clock = Arc::new(ManualClock::default());
        let mem = LayerConfig::Mem(MemConfig { size_bytes: 1 << 20 });
        let stack = [mem, LayerConfig::Flash(config.clone())];
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
        let config = FlashConfig { bw_bytes: 1e9, latency_ns: 96_000, ..FlashConfig::default() };
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
        let config = FlashConfig { bw_bytes: 1e9, ..FlashConfig::default() };
        let [small, large] =
            [4096, 65_536].map(|len| (closed_loop(&config, 32, len).0, len as u64));
        assert!(large.0 < small.0, "no cap on I/Os");
        assert!(large.0 * large.1 > 4 * small.0 * small.1, "no cap on bytes");
    }

    #[test]
    fn jitter_spreads_service_times_around_the_same_mean() {
        let config = FlashConfig { bw_bytes: 1e15, jitter_ns: 80_000, ..FlashConfig::default() };
        let (ios, mean_ns) = closed_loop(&config, 1, 4096);
        // 12,500 draws of a uniform distribution of 46 us standard deviation: 0.4 us of error.
        assert!((78_000.0..82_000.0).contains(&mean_ns), "{mean_ns}");
        assert!(ios.abs_diff(12_500) < 400, "{ios}");
    }

    #[test]
    fn flushes_are_free_and_waits_are_counted() {
        let clock = Arc::new(ManualClock::default());
        let config = FlashConfig { channels: 1, bw_bytes: 1e15, ..FlashConfig::default() };
        let mem = LayerConfig::Mem(MemConfig { size_bytes: 1 << 20 });
        let disk = VirtualDisk::open(&[mem, LayerConfig::Flash(config)], clock).unwrap();
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
