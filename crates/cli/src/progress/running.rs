//! What a load does between two events: how far a pass over a span is, how fast a trial runs.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressState;
use iotax_load::LoadProgress;

use super::rate::Rate;

/// A load under way, if any. Clones are about the same one.
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
    /// What `live` had counted before.
    before: u64,
    /// Bytes to write, where there is room for them.
    bytes: u64,
}

impl Running {
    /// None yet; `live` are the counters of the load.
    pub(super) fn of(live: Arc<LoadProgress>) -> Self {
        Self { live, load: Arc::new(Mutex::new(Load::None)) }
    }

    /// A trial begins, which is told in this unit.
    pub(super) fn trial_begins(&self, unit: &'static str) {
        *self.load() = Load::Trial(Rate::of(unit));
    }

    /// A pass of so many bytes begins.
    pub(super) fn pass_begins(&self, bytes: u64) {
        let pass = Pass { started: Instant::now(), before: self.live.bytes(), bytes };
        *self.load() = Load::Pass(pass);
    }

    pub(super) fn ends(&self) {
        *self.load() = Load::None;
    }

    /// Whether a pass is under way.
    pub(super) fn is_pass(&self) -> bool {
        matches!(*self.load(), Load::Pass(_))
    }

    /// Writes what it does, at whatever moment the line is drawn.
    pub(super) fn write(&self, _: &ProgressState, out: &mut dyn fmt::Write) {
        // Nobody can be told that the line could not be written.
        let _ = match &mut *self.load() {
            Load::None => Ok(()),
            Load::Trial(rate) => {
                let done = [self.live.ios(), self.live.bytes()];
                out.write_str(rate.at(Instant::now(), done))
            }
            Load::Pass(pass) => pass.write(self.live.bytes(), out),
        };
    }

    fn load(&self) -> MutexGuard<'_, Load> {
        self.load.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass {
    fn write(&self, written: u64, out: &mut dyn fmt::Write) -> fmt::Result {
        let done = written.saturating_sub(self.before).min(self.bytes);
        match (done * 100).checked_div(self.bytes) {
            None | Some(0) => Ok(()),
            Some(percent) => {
                let percent = iotax_quantity::set_percent(percent as f64);
                let left = self.started.elapsed().mul_f64(self.bytes as f64 / done as f64 - 1.0);
                write!(out, " · {percent}, about {} left of it", seconds(left))
            }
        }
    }
}

/// `54 s`, `2 min 10 s`
pub(super) fn seconds(duration: Duration) -> String {
    iotax_quantity::span(duration.as_secs())
}
