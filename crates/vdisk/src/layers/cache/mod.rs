//! `cache`: a read cache in memory in front of the layers below, write-through.
//!
//! A read whose pages are all cached is answered here; any other goes below whole, and leaves its
//! pages behind. A write goes below always, and leaves its pages behind too.
//!
//! # Never stale
//!
//! Reads and writes of the same page may be under way at once. A read that went below before a
//! write must not leave the old page behind after it. So each write takes two numbers from a
//! sequence, when it begins and when it has ended below, and notes them, and that it is under way,
//! at every page it touches (at a *stripe*, that several pages share by hash). A read notes the
//! sequence as it goes below, and leaves a page only if no write to it is under way or has begun
//! or ended since. A write that finds another's number at its end, or that failed, removes its
//! page, since which data are below is not known.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_utils::CachePadded;
use iotax_layers::Cache;
use iotax_layers::units::format_bytes;

use self::shard::{PAGE_BYTES, Shard};
use super::Hits;
use crate::chance::split_mix;
use crate::layer::prelude::*;
use crate::memory;

mod shard;

const NAME: &str = "cache";
const MAX_SHARDS: usize = 64;
/// Enough that hashing spreads the pages in use evenly, and a small cache is not split to nothing.
const MIN_PAGES_PER_SHARD: usize = 256;

impl Recipe for Cache {
    fn build(&self, place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        let bytes = self.size_bytes;
        let is_whole = bytes > 0 && bytes.is_multiple_of(PAGE_BYTES as u64);
        let must_be = "a multiple of its page size, 4096 bytes, and not 0";
        Error::demand(is_whole, NAME, "size", format_bytes(bytes), must_be)?;
        // Where each page is takes a part of it as well.
        let bytes = memory::check_beside(NAME, bytes, bytes / 32)?;
        let pages = bytes / PAGE_BYTES;
        let shards = (pages / MIN_PAGES_PER_SHARD).clamp(1, MAX_SHARDS);
        let shards = (0..shards)
            .map(|index| {
                let pages = pages / shards + usize::from(index < pages % shards);
                let shard = Shard::new(pages).ok_or_else(|| memory::lacking(NAME, bytes))?;
                Ok(CachePadded::new(Mutex::new(shard)))
            })
            .collect::<Result<_, Error>>()?;
        Ok(Box::new(OpenCache {
            index: place.index,
            shards,
            writes: CachePadded::default(),
            counts: CachePadded::default(),
        }))
    }
}

struct OpenCache {
    /// Of this layer's word in [`Io::notes`]: the sequence number of a read that missed, or of a
    /// write's beginning.
    index: usize,
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    /// The sequence of write beginnings and ends.
    writes: CachePadded<AtomicU64>,
    counts: CachePadded<Hits>,
}

impl OpenCache {
    fn shard(&self, page: u64) -> MutexGuard<'_, Shard> {
        // The shard count is small: the remainder of a 64-bit hash is even.
        let index = split_mix(page) % self.shards.len() as u64;
        let index = usize::try_from(index).expect("the index is below the number of shards");
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the whole range from the cache, or finds a page missing.
    fn answer(&self, io: &mut Io) -> bool {
        let request = io.request;
        let target = io.target();
        pieces(request).all(|piece| {
            let target = &mut target[piece.at..piece.at + piece.len];
            self.shard(piece.page).read(piece.page, piece.start, target)
        })
    }

    fn begin_write(&self, io: &mut Io) {
        let begun = self.writes.fetch_add(1, Ordering::AcqRel) + 1;
        io.notes[self.index] = begun;
        let payload = io.payload();
        for piece in pieces(io.request) {
            let data = &payload[piece.at..piece.at + piece.len];
            self.shard(piece.page).begin_write(piece.page, begun, piece.start, data);
        }
    }

    fn end_write(&self, io: &Io) {
        let begun = io.notes[self.index];
        let ended = self.writes.fetch_add(1, Ordering::AcqRel) + 1;
        let whole = io.result == Ok(io.request.len);
        for piece in pieces(io.request) {
            self.shard(piece.page).end_write(piece.page, begun, ended, whole);
        }
    }

    fn keep(&self, io: &mut Io, len: usize) {
        let noted = io.notes[self.index];
        let request = Request { len, ..io.request };
        let data = io.target();
        for piece in pieces(request).filter(|piece| piece.len == PAGE_BYTES) {
            let data = &data[piece.at..piece.at + piece.len];
            self.shard(piece.page).keep(piece.page, noted, data);
        }
    }
}

/// The part of a request that lies in one page.
struct Piece {
    page: u64,
    /// Offset in the page.
    start: usize,
    /// Offset in the request's buffer.
    at: usize,
    len: usize,
}

fn pieces(request: Request) -> impl Iterator<Item = Piece> {
    let page_bytes = PAGE_BYTES as u64;
    let mut at = 0;
    std::iter::from_fn(move || {
        let offset = request.offset + at as u64;
        let start = usize::try_from(offset % page_bytes).expect("below the page size");
        let len = (PAGE_BYTES - start).min(request.len - at);
        let piece = Piece { page: offset / page_bytes, start, at, len };
        at += len;
        (len > 0).then_some(piece)
    })
}

impl OpenLayer for OpenCache {
    fn down(&self, mut io: Parcel) -> Flow {
        let op = io.request.op;
        match op {
            Op::Read if self.answer(&mut io) => {
                self.counts.count(true);
                return Flow::Turn(io);
            }
            Op::Read => {
                self.counts.count(false);
                io.notes[self.index] = self.writes.load(Ordering::Acquire);
            }
            Op::Write => self.begin_write(&mut io),
            Op::Flush => {}
        }
        Flow::Next(io)
    }

    fn up(&self, io: &mut Io) {
        match (io.request.op, io.result) {
            (Op::Read, Ok(len)) => self.keep(io, len),
            (Op::Write, _) => self.end_write(io),
            _ => {}
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.counts.counters()
    }

    fn drop_caches(&self) -> Result<(), Error> {
        for shard in &self.shards {
            shard.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
