//! The in-process layers, one file each, which open what `iotax_layers` declares.
//!
//! To add one: a file here, its `mod` line, its arm in [`recipe`], and its line in the conformance
//! suite (`conformance.rs`).

mod aes;
mod cache;
mod delay;
mod fault;
mod file;
mod flash;
mod mem;
mod queue;
mod throttle;
mod tier;

use std::sync::atomic::{AtomicU64, Ordering};

use iotax_layers::Layer;
use iotax_layers::units::format_duration;

use crate::error::Error;
use crate::layer::Recipe;

/// The recipe of a layer; `None` for layers of the system.
pub(crate) fn recipe(layer: &Layer) -> Option<&dyn Recipe> {
    Some(match layer {
        Layer::Mem(it) => it,
        Layer::File(it) => it,
        Layer::Aes(it) => it,
        Layer::Queue(it) => it,
        Layer::Delay(it) => it,
        Layer::Throttle(it) => it,
        Layer::Flash(it) => it,
        Layer::Cache(it) => it,
        Layer::Tier(it) => it,
        Layer::Fault(it) => it,
        _ => return None,
    })
}

/// More simulated time than this is a mistake.
const MOST_NS: u64 = 3_600_000_000_000;

fn check_time(layer: &'static str, parameter: &'static str, ns: u64) -> Result<(), Error> {
    Error::demand(ns <= MOST_NS, layer, parameter, format_duration(ns), "at most 1 hour")
}

/// How many I/Os a layer kept waiting, and for how long.
#[derive(Default)]
struct Waits {
    count: AtomicU64,
    total_ns: AtomicU64,
}

impl Waits {
    /// Waiting for no time at all is none.
    fn count(&self, wait_ns: u64) {
        if wait_ns > 0 {
            self.count.fetch_add(1, Ordering::Relaxed);
            self.total_ns.fetch_add(wait_ns, Ordering::Relaxed);
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Self { count, total_ns } = self;
        vec![
            ("waits", count.load(Ordering::Relaxed)),
            ("wait_ns", total_ns.load(Ordering::Relaxed)),
        ]
    }
}

/// Reads that a cache has answered, and others.
#[derive(Default)]
struct Hits {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Hits {
    fn count(&self, is_hit: bool) {
        let counter = if is_hit { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Self { hits, misses } = self;
        vec![("hits", hits.load(Ordering::Relaxed)), ("misses", misses.load(Ordering::Relaxed))]
    }
}
