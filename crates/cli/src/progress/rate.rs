//! How fast a load runs right now, for the eye: it is no figure of any report.

use std::time::{Duration, Instant};

use iotax_quantity::{iops, mib_per_s, per_second};

/// I/Os are counted over so long at least.
const SPAN: Duration = Duration::from_millis(800);
/// Larger I/Os are told in bytes.
const LARGE_BYTES: u64 = 64 << 10;

/// What was counted when, and what that came to.
#[derive(Debug)]
pub(super) struct Rate {
    /// What is counted: I/Os, or over a network path requests.
    unit: &'static str,
    last: Option<(Instant, [u64; 2])>,
    shown: String,
}

impl Rate {
    /// Of nothing yet.
    pub(super) fn of(unit: &'static str) -> Self {
        Self { unit, last: None, shown: String::new() }
    }

    /// The rate as text, of these I/Os and bytes so far; empty until it is known.
    pub(super) fn at(&mut self, now: Instant, [ios, bytes]: [u64; 2]) -> &str {
        let (then, before) = *self.last.get_or_insert((now, [ios, bytes]));
        let span = now.saturating_duration_since(then);
        if span >= SPAN {
            let done = [ios.saturating_sub(before[0]), bytes.saturating_sub(before[1])];
            self.shown = told(self.unit, done, span);
            self.last = Some((now, [ios, bytes]));
        }
        &self.shown
    }
}

fn told(unit: &str, [ios, bytes]: [u64; 2], span: Duration) -> String {
    let rate = |count: u64| count as f64 / span.as_secs_f64();
    let rate = match bytes.checked_div(ios) {
        Some(LARGE_BYTES..) => mib_per_s(rate(bytes)),
        _ if unit == "I/O" => iops(rate(ios)),
        _ => per_second(rate(ios), &format!("{unit}s/s")),
    };
    format!(" · {rate}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_last_moments() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut rate = Rate::of("I/O");
        assert_eq!(rate.at(at(0), [500, 0]), "");
        assert_eq!(rate.at(at(200), [900, 1 << 20]), "", "too short a time to tell");
        assert_eq!(rate.at(at(1000), [5500, 5000 * 4096]), " · 5,000 IOPS");
        assert_eq!(rate.at(at(1200), [5600, 5100 * 4096]), " · 5,000 IOPS");
        assert_eq!(rate.at(at(2000), [5600, 5100 * 4096]), " · 100 IOPS");
        assert_eq!(rate.at(at(3000), [5600, 5100 * 4096]), " · 0 IOPS");
    }

    #[test]
    fn over_network_paths_requests_are_counted() {
        let start = Instant::now();
        let mut rate = Rate::of("request");
        rate.at(start, [0, 0]);
        assert_eq!(rate.at(start + Duration::from_secs(1), [300, 300 * 64]), " · 300 requests/s");
    }

    #[test]
    fn large_ios_are_told_in_bytes() {
        let start = Instant::now();
        let mut rate = Rate::of("I/O");
        rate.at(start, [0, 0]);
        assert_eq!(rate.at(start + Duration::from_secs(2), [300, 300 << 20]), " · 150 MiB/s");
    }
}
