//! Shows the load between two events: the progress of a pass, or the rate of a trial.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use iotax_load::LoadProgress;
use iotax_quantity::{iops, mib_per_s, per_second};

/// I/Os are counted over at least this long.
const SPAN: Duration = Duration::from_millis(800);
/// From this I/O size on, the rate is shown in bytes.
const LARGE_BYTES: u64 = 64 << 10;

/// The running load, if any. Clones share it.
#[derive(Clone)]
pub(super) struct Running {
    live: Arc<LoadProgress>,
    load: Arc<Mutex<Load>>,
}

enum Load {
    None,
    Trial(Rate),
    Pass(Pass),
}

struct Pass {
    started: Instant,
    /// Bytes that `live` had counted before.
    before: u64,
    /// Bytes to write, if they fit.
    bytes: u64,
}

impl Running {
    /// No load yet; `live` are its counters.
    pub(super) fn of(live: Arc<LoadProgress>) -> Self {
        Self { live, load: Arc::new(Mutex::new(Load::None)) }
    }

    /// A trial begins, whose rate is shown in this unit.
    pub(super) fn trial_begins(&self, unit: &'static str) {
        *self.load() = Load::Trial(Rate::of(unit));
    }

    /// A pass of this many bytes begins.
    pub(super) fn pass_begins(&self, bytes: u64) {
        let pass = Pass { started: Instant::now(), before: self.live.bytes(), bytes };
        *self.load() = Load::Pass(pass);
    }

    pub(super) fn ends(&self) {
        *self.load() = Load::None;
    }

    /// The current progress or rate, as text.
    pub(super) fn text(&self) -> String {
        match &mut *self.load() {
            Load::None => String::new(),
            Load::Trial(rate) => {
                let done = [self.live.ios(), self.live.bytes()];
                rate.at(Instant::now(), done).to_owned()
            }
            Load::Pass(pass) => pass.text(self.live.bytes()),
        }
    }

    fn load(&self) -> MutexGuard<'_, Load> {
        self.load.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass {
    fn text(&self, written: u64) -> String {
        let done = written.saturating_sub(self.before).min(self.bytes);
        match (done * 100).checked_div(self.bytes) {
            None | Some(0) => String::new(),
            Some(percent) => {
                let percent = iotax_quantity::set_percent(percent as f64);
                let left = self.started.elapsed().mul_f64(self.bytes as f64 / done as f64 - 1.0);
                format!("{percent}, about {} left in this pass", seconds(left))
            }
        }
    }
}

/// `54 s`, `2 min 10 s`
pub(super) fn seconds(duration: Duration) -> String {
    iotax_quantity::span(duration.as_secs() + u64::from(duration.subsec_nanos() > 0))
}

/// The current rate of a load, for the progress line only.
#[derive(Debug)]
struct Rate {
    /// The counted unit: I/Os, or requests over a network path.
    unit: &'static str,
    last: Option<(Instant, [u64; 2])>,
    shown: String,
}

impl Rate {
    /// An empty rate.
    fn of(unit: &'static str) -> Self {
        Self { unit, last: None, shown: String::new() }
    }

    /// The rate as text, from the I/Os and bytes so far; empty until it is known.
    fn at(&mut self, now: Instant, [ios, bytes]: [u64; 2]) -> &str {
        let (then, before) = *self.last.get_or_insert((now, [ios, bytes]));
        let span = now.saturating_duration_since(then);
        if span >= SPAN {
            let done = [ios.saturating_sub(before[0]), bytes.saturating_sub(before[1])];
            self.shown = shown(self.unit, done, span);
            self.last = Some((now, [ios, bytes]));
        }
        &self.shown
    }
}

fn shown(unit: &str, [ios, bytes]: [u64; 2], span: Duration) -> String {
    let rate = |count: u64| count as f64 / span.as_secs_f64();
    match bytes.checked_div(ios) {
        Some(LARGE_BYTES..) => mib_per_s(rate(bytes)),
        _ if unit == "I/O" => iops(rate(ios)),
        _ => per_second(rate(ios), &format!("{unit}s/s")),
    }
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
        assert_eq!(rate.at(at(1000), [5500, 5000 * 4096]), "5,000 IOPS");
        assert_eq!(rate.at(at(1200), [5600, 5100 * 4096]), "5,000 IOPS");
        assert_eq!(rate.at(at(2000), [5600, 5100 * 4096]), "100 IOPS");
        assert_eq!(rate.at(at(3000), [5600, 5100 * 4096]), "0 IOPS");
    }

    #[test]
    fn over_network_paths_requests_are_counted() {
        let start = Instant::now();
        let mut rate = Rate::of("request");
        rate.at(start, [0, 0]);
        assert_eq!(rate.at(start + Duration::from_secs(1), [300, 300 * 64]), "300 requests/s");
    }

    #[test]
    fn large_ios_are_told_in_bytes() {
        let start = Instant::now();
        let mut rate = Rate::of("I/O");
        rate.at(start, [0, 0]);
        assert_eq!(rate.at(start + Duration::from_secs(2), [300, 300 << 20]), "150 MiB/s");
    }
}
