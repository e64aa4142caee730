//! How fast one CPU copies memory: the bound above which a read speed is not believable.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes of each of the two buffers: within every first-level cache, within most second-level
/// caches, and beyond most last-level caches of one CPU. Which of them is fastest depends on the
/// machine (some switch to non-temporal stores for large copies), so the best counts.
const BUFFER_BYTES: [usize; 3] = [8 << 10, 128 << 10, 16 << 20];

/// Time spent per buffer size, so that the whole measurement takes about 30 ms.
const BUDGET: Duration = Duration::from_millis(8);

/// Shortest stretch that is timed: long against the clock's own cost of some 30 ns.
const STRETCH: Duration = Duration::from_micros(100);

/// Speed of the fastest memory copy that one thread of this process manages, in bytes copied per
/// second. Takes about 30 ms.
///
/// It serves to question impossible results: a thread that reads "from a device" faster than this
/// cannot have moved the bytes. So it is deliberately the *largest* speed seen over several buffer
/// sizes (copies within the cache included) and several stretches; disturbances only ever slow a
/// copy down.
pub fn memory_copy_bytes_per_s() -> f64 {
    BUFFER_BYTES.into_iter().map(best_speed).fold(0.0, f64::max)
}

fn best_speed(bytes: usize) -> f64 {
    // Non-zero on both sides: freshly allocated zero pages would all map the same page.
    let source = vec![0x5a_u8; bytes];
    let mut target = vec![0xa5_u8; bytes];
    let started = Instant::now();
    let mut best = 0.0_f64;
    while started.elapsed() < BUDGET {
        let stretch = Instant::now();
        let mut copies = 0_u32;
        loop {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
            copies += 1;
            let elapsed = stretch.elapsed();
            if elapsed >= STRETCH {
                let moved_bytes = bytes as f64 * f64::from(copies);
                best = best.max(moved_bytes / elapsed.as_secs_f64());
                break;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_copies_at_a_speed_between_a_pocket_calculator_and_science_fiction() {
        let speed = memory_copy_bytes_per_s();
        assert!(speed > 50e6, "{speed} bytes/s is slower than any machine this runs on");
        assert!(speed < 10e12, "{speed} bytes/s: the copies were optimised away");
    }
}
