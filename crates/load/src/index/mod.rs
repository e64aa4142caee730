//! Index versions: a driver publishes them, a searcher loads each new one and answers queries.
//!
//! The load of a search engine on one machine: a new version of the index is written, made
//! durable and put in place at once; the searcher, which maps the index, must then load the new
//! one before queries can go on. What users feel is the load time.

mod driver;
mod files;
mod searcher;
mod slots;

pub(crate) use driver::publish_versions;
pub(crate) use files::{FileIndex, NAME, is_ours};
pub(crate) use searcher::search;
pub(crate) use slots::SlotIndex;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use iotax_record::IndexRecord;
use iotax_spec::IndexLoads;

use crate::native::window::{StopFlags, Window};

/// Unit in which versions are written.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// Where versions are kept. The driver and the searcher each have a store of their own on the
/// same place; what they share is the number of the version that is published.
pub(crate) trait IndexStore: Send {
    /// Whether a version from an earlier run can be used for a start.
    fn has_version(&mut self) -> bool;

    /// Writes `version`, makes it durable, and puts it in place. `Ok(false)` if `give_up` said so
    /// before it was in place; the version before then stays.
    fn publish(&mut self, version: u64, give_up: &dyn Fn() -> bool) -> io::Result<bool>;

    /// Opens `version`, which is in place, for [`IndexStore::touch`].
    fn open(&mut self, version: u64) -> io::Result<()>;

    /// Has every page of the version opened last come into memory, and makes it the one that
    /// [`IndexStore::read`] reads.
    fn touch(&mut self) -> io::Result<()>;

    /// Reads from the version loaded last.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

/// The number of the version in place.
#[derive(Debug)]
pub(crate) struct Published(AtomicU64);

impl Published {
    /// Version 1 is in place.
    pub(crate) fn first() -> Self {
        Self(AtomicU64::new(1))
    }

    fn set(&self, version: u64) {
        self.0.store(version, Ordering::Release);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// What the driver and the searcher of one run go by.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// The task.
    pub loads: IndexLoads,
    /// Version in place.
    pub published: &'a Published,
    /// When both start.
    pub start_ns: u64,
    /// What is counted.
    pub window: Window,
    /// What ends them early.
    pub flags: StopFlags<'a>,
    /// Arrivals and offsets of queries follow from it.
    pub seed: u64,
}

impl Run<'_> {
    fn counts(&self, done_ns: u64) -> bool {
        (self.window.open_ns..self.window.close_ns).contains(&done_ns)
    }
}

/// Puts together what the driver and the searcher counted.
pub(crate) fn merge(driver: IndexRecord, searcher: IndexRecord) -> IndexRecord {
    IndexRecord {
        published: driver.published,
        publish: driver.publish,
        first_error: driver.first_error.or(searcher.first_error),
        ..searcher
    }
}

fn note(record: &mut IndexRecord, what: &str, error: &io::Error) {
    if record.first_error.is_none() {
        record.first_error = Some(format!("index: {what}: {error}"));
    }
}
