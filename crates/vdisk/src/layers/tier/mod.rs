//! `tier`: a read cache of any size that simulates time alone, as the cache on a cloud host's own
//! drives does for its guests' disks.
//!
//! It holds no data, so it can be larger than memory: it remembers *which* pages of 4 KiB it would
//! hold. A read of pages that are all held is a hit: the layers below let it pass free (`throttle`,
//! `flash`, `delay` and `fault` do; see [`Io::passes_free`]), and its data come from the base as
//! always. Any other read, and every write, pays below in full, and leaves its pages behind when it
//! has succeeded: write-through.
//!
//! There is nothing to be stale, since data always come from the base: two I/Os of one page at a
//! time can at worst disagree about what one of them costs. So nothing needs ordering but the
//! bookkeeping itself.
//!
//! # Simplified
//!
//! - A page is held as soon as the real work of the I/O that brings it is done, though that I/O
//!   counts as finished later, when its simulated time is over: a second read of the page in
//!   between is a hit already.
//! - Hits cost nothing but the real work on the data below. A `delay` above gives them a latency.
//! - A page counts as held whole when part of it was read or written.
//! - Replacement is CLOCK (Corbató, 1968), not what any provider documents.
//! - Layers that do real work (`aes`, `queue`) below do it for hits too.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_utils::CachePadded;
use iotax_layers::Tier;
use iotax_layers::units::format_bytes;

use self::presence::{PAGE_BYTES, Presence};
use super::Hits;
use crate::layer::prelude::*;

mod presence;

const NAME: &str = "tier";

impl Recipe for Tier {
    fn build(&self, place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        let bytes = self.size_bytes;
        let is_whole = bytes > 0 && bytes.is_multiple_of(PAGE_BYTES);
        let must_be = "a multiple of its page size, 4096 bytes, and not 0";
        Error::demand(is_whole, NAME, "size", format_bytes(bytes), must_be)?;
        let presence = Presence::new(NAME, place.size_bytes, bytes)?;
        Ok(Box::new(OpenTier {
            index: place.index,
            presence: CachePadded::new(Mutex::new(presence)),
            counts: CachePadded::default(),
        }))
    }
}

/// In this layer's word in [`Io::notes`]: the read is this tier's own hit, not one of a tier above.
const HIT: u64 = 1;

struct OpenTier {
    /// Of this layer's word in [`Io::notes`].
    index: usize,
    presence: CachePadded<Mutex<Presence>>,
    counts: CachePadded<Hits>,
}

impl OpenTier {
    fn presence(&self) -> MutexGuard<'_, Presence> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenLayer for OpenTier {
    fn down(&self, mut io: Parcel) -> Flow {
        io.notes[self.index] = 0;
        // What a tier above answers never comes here.
        if io.request.op != Op::Read || io.passes_free {
            return Flow::Next(io);
        }
        if self.presence().touch(io.request.offset, io.request.len as u64) {
            self.counts.count(true);
            io.notes[self.index] = HIT;
            io.passes_free = true;
        } else {
            self.counts.count(false);
        }
        Flow::Next(io)
    }

    fn up(&self, io: &mut Io) {
        if io.notes[self.index] == HIT {
            io.passes_free = false;
            return;
        }
        if let (Op::Read | Op::Write, Ok(len), false) = (io.request.op, io.result, io.passes_free) {
            self.presence().keep(io.request.offset, len as u64);
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.counts.counters()
    }

    fn drop_caches(&self) -> Result<(), Error> {
        self.presence().clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
