//! Index versions: a driver publishes them, a searcher loads each new one and answers queries.
//!
//! The load of a search engine on one machine: a new version of the index is written, made
//! durable and put in place at once; the searcher, which maps the index, must then load the new
//! one before queries can go on. What users feel is the load time.

mod files;
mod run;
mod searcher;
mod slots;
pub(crate) mod threads;

pub(crate) use files::{FileIndex, NAME, is_ours, lay_out};
pub(crate) use run::publish_versions;
pub(crate) use run::{Published, Run};
pub(crate) use searcher::search;
pub(crate) use slots::SlotIndex;

use std::io;

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
