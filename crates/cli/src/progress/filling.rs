//! How far a pass over a span is: a long wait between two events.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use indicatif::ProgressState;
use iotax_load::LoadProgress;

use super::seconds;

/// A pass under way, if any. Clones are about the same one.
#[derive(Clone)]
pub(super) struct Filling {
    live: Arc<LoadProgress>,
    pass: Arc<Mutex<Option<Pass>>>,
}

#[derive(Clone, Copy)]
struct Pass {
    started: Instant,
    /// What `live` had counted before.
    before: u64,
    /// Bytes to write, where there is room for them.
    bytes: u64,
}

impl Filling {
    /// None yet; `live` are the counters of the load.
    pub(super) fn of(live: Arc<LoadProgress>) -> Self {
        Self { live, pass: Arc::default() }
    }

    /// A pass of so many bytes begins.
    pub(super) fn begins(&self, bytes: u64) {
        let pass = Pass { started: Instant::now(), before: self.live.bytes(), bytes };
        *self.pass.lock().unwrap_or_else(PoisonError::into_inner) = Some(pass);
    }

    /// It is over.
    pub(super) fn ends(&self) {
        *self.pass.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether one is under way.
    pub(super) fn is_under_way(&self) -> bool {
        self.pass.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Writes how far it is, at whatever moment the line is drawn.
    pub(super) fn write(&self, _: &ProgressState, out: &mut dyn fmt::Write) {
        let pass = *self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pass) = pass else { return };
        let done = self.live.bytes().saturating_sub(pass.before).min(pass.bytes);
        // Nobody can be told that the line could not be written.
        let _ = match (done * 100).checked_div(pass.bytes) {
            None | Some(0) => Ok(()),
            Some(percent) => {
                let left = pass.started.elapsed().mul_f64(pass.bytes as f64 / done as f64 - 1.0);
                write!(out, " · {percent} %, about {} left of it", seconds(left))
            }
        };
    }
}
