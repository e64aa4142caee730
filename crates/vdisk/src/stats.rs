//! Where I/Os went: counters cheap enough to be always on.
//!
//! Layers are passed from the top without gaps, so the lowest layer that an I/O reached determines
//! its whole path. Each session counts I/Os and bytes per operation and lowest layer; layer `i` has
//! seen everything whose lowest layer is `i` or below. That is one update per I/O, however tall the
//! stack, by one thread in its own memory.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Serialize, Serializer};

use crate::io::{Io, Op};

/// What has passed through one layer since the disk was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LayerStats {
    /// The layer as it is written in a stack text.
    pub layer: String,
    /// Reads that reached this layer.
    pub reads: u64,
    /// Bytes these reads returned to the submitter.
    pub read_bytes: u64,
    /// Writes that reached this layer.
    pub writes: u64,
    /// Bytes of these writes.
    pub write_bytes: u64,
    /// Flushes that reached this layer.
    pub flushes: u64,
    /// I/Os that reached this layer and ended in an error, here or elsewhere.
    pub errors: u64,
    /// Counters of this kind of layer, such as a cache's hits, by name.
    #[serde(serialize_with = "as_map")]
    pub own: Vec<(&'static str, u64)>,
}

fn as_map<S: Serializer>(counters: &[(&'static str, u64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(counters.iter().copied())
}

/// Facts about the base of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BackingFacts {
    /// The backing file; `None` for memory and for a file without a name.
    pub path: Option<PathBuf>,
    /// This open created the data: none of it belongs to the user. False for an existing file.
    pub created: bool,
    /// I/O bypasses the page cache (`O_DIRECT` was requested, and the file system supports it).
    pub direct_effective: bool,
    /// Bytes of storage allocated to it; fewer than its size means holes, and reading a hole
    /// measures no device.
    pub allocated_bytes: u64,
}

impl BackingFacts {
    pub(crate) const fn memory(size_bytes: u64) -> Self {
        Self { path: None, created: true, direct_effective: false, allocated_bytes: size_bytes }
    }
}

#[derive(Default)]
struct Cell {
    ios: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
}

/// The counters of one session, or the sum of those that have ended.
pub(crate) struct Shard {
    /// Indexed by operation, then by lowest layer reached.
    cells: [Box<[Cell]>; 3],
}

impl Shard {
    pub(crate) fn new(layers: usize) -> Self {
        Self { cells: std::array::from_fn(|_| (0..layers).map(|_| Cell::default()).collect()) }
    }

    /// Counts a finished I/O. Only ever called by the session that owns the shard, so a plain
    /// load and store cannot lose an update; the atomics are there for the readers.
    pub(crate) fn count(&self, io: &Io) {
        let cell = &self.cells[op_index(io.request.op)][io.deepest];
        let add = |counter: &AtomicU64, more| {
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        };
        add(&cell.ios, 1);
        match io.result {
            Ok(len) => add(&cell.bytes, len as u64),
            Err(_) => add(&cell.errors, 1),
        }
    }

    /// Adds another shard's counts; callers serialise by the disk's lock.
    pub(crate) fn absorb(&self, other: &Self) {
        for (ours, theirs) in self.cells.iter().flatten().zip(other.cells.iter().flatten()) {
            ours.ios.fetch_add(theirs.ios.load(Ordering::Relaxed), Ordering::Relaxed);
            ours.bytes.fetch_add(theirs.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
            ours.errors.fetch_add(theirs.errors.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// I/Os, bytes and errors of `op` that reached layer `index`.
    fn reached(&self, op: Op, index: usize) -> [u64; 3] {
        self.cells[op_index(op)][..=index].iter().fold([0; 3], |[ios, bytes, errors], cell| {
            [
                ios + cell.ios.load(Ordering::Relaxed),
                bytes + cell.bytes.load(Ordering::Relaxed),
                errors + cell.errors.load(Ordering::Relaxed),
            ]
        })
    }

    pub(crate) fn layer_stats(&self, index: usize) -> LayerStats {
        let [reads, read_bytes, read_errors] = self.reached(Op::Read, index);
        let [writes, write_bytes, write_errors] = self.reached(Op::Write, index);
        let [flushes, _, flush_errors] = self.reached(Op::Flush, index);
        let errors = read_errors + write_errors + flush_errors;
        LayerStats {
            reads,
            read_bytes,
            writes,
            write_bytes,
            flushes,
            errors,
            ..LayerStats::default()
        }
    }
}

const fn op_index(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Flush => 2,
    }
}
