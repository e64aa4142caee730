//! A part of the cache under one lock: pages with CLOCK eviction, and the record of writes.
//!
//! CLOCK (Corbató, 1968) approximates least-recently-used with one bit per page: a hit sets it,
//! and the hand that looks for a victim passes over a page with the bit set, and clears it. Unlike
//! LRU a hit moves nothing.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::chance::split_mix;
use crate::io::AlignedBuffer;

pub(super) const PAGE_BYTES: usize = 4096;
const STRIPES: u64 = 256;

#[derive(Clone, Copy, Default)]
struct Stripe {
    /// Sequence number of the latest beginning or end of a write to one of its pages.
    last: u64,
    /// Writes under way, counted by page.
    under_way: u32,
}

#[derive(Clone, Copy, Default)]
struct Frame {
    page: u64,
    occupied: bool,
    referenced: bool,
}

pub(super) struct Shard {
    frames_by_page: HashMap<u64, usize, FxBuildHasher>,
    frames: Box<[Frame]>,
    data: AlignedBuffer,
    hand: usize,
    stripes: Box<[Stripe]>,
}

impl Shard {
    /// `None` if there is no memory for that.
    pub(super) fn new(pages: usize) -> Option<Self> {
        let mut frames_by_page = HashMap::with_hasher(FxBuildHasher);
        // Twice the room, so that the map tidies up in place and never allocates.
        frames_by_page.try_reserve(2 * pages).ok()?;
        let mut frames = Vec::new();
        frames.try_reserve_exact(pages).ok()?;
        frames.resize(pages, Frame::default());
        Some(Self {
            frames_by_page,
            frames: frames.into_boxed_slice(),
            data: AlignedBuffer::zeroed(pages * PAGE_BYTES)?,
            hand: 0,
            stripes: vec![Stripe::default(); 256].into_boxed_slice(),
        })
    }

    /// Copies from a cached page; `false` if it is not cached.
    pub(super) fn read(&mut self, page: u64, start: usize, target: &mut [u8]) -> bool {
        let Some(&frame) = self.frames_by_page.get(&page) else { return false };
        self.frames[frame].referenced = true;
        let from = frame * PAGE_BYTES + start;
        target.copy_from_slice(&self.data.bytes()[from..from + target.len()]);
        true
    }

    /// A write goes below: from now on the cache has the new data.
    pub(super) fn begin_write(&mut self, page: u64, begun: u64, start: usize, data: &[u8]) {
        let stripe = self.stripe(page);
        stripe.last = begun;
        stripe.under_way += 1;
        let frame = match self.frames_by_page.get(&page) {
            Some(&frame) => frame,
            None if data.len() == PAGE_BYTES => self.claim(page),
            None => return,
        };
        self.store(frame, start, data);
    }

    /// It has ended below. Removes the page unless the whole write succeeded and was the only one.
    pub(super) fn end_write(&mut self, page: u64, begun: u64, ended: u64, whole: bool) {
        let stripe = self.stripe(page);
        // `ended`: another page of the same write and stripe has been here.
        let alone = stripe.last == begun || stripe.last == ended;
        stripe.last = ended;
        stripe.under_way -= 1;
        if !(alone && whole) {
            self.remove(page);
        }
    }

    /// Keeps a page that was read below, unless a write may have overtaken the read.
    pub(super) fn keep(&mut self, page: u64, noted: u64, data: &[u8]) {
        let stripe = self.stripe(page);
        if stripe.under_way > 0 || stripe.last > noted {
            return;
        }
        let frame = self.frames_by_page.get(&page).copied();
        let frame = frame.unwrap_or_else(|| self.claim(page));
        self.store(frame, 0, data);
    }

    /// Forgets all pages. The record of writes stays: some may be under way.
    pub(super) fn clear(&mut self) {
        self.frames_by_page.clear();
        self.frames.fill(Frame::default());
    }

    fn stripe(&mut self, page: u64) -> &mut Stripe {
        // Other bits than those that chose the shard.
        let index = split_mix(!page) % STRIPES;
        &mut self.stripes[usize::try_from(index).expect("the index is below the number of stripes")]
    }

    fn store(&mut self, frame: usize, start: usize, data: &[u8]) {
        let to = frame * PAGE_BYTES + start;
        self.data.bytes_mut()[to..to + data.len()].copy_from_slice(data);
    }

    /// A frame for a page that has none, evicting another if need be.
    fn claim(&mut self, page: u64) -> usize {
        let frame = loop {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.frames.len();
            let frame = &mut self.frames[at];
            if !frame.occupied {
                break at;
            }
            if !std::mem::take(&mut frame.referenced) {
                self.frames_by_page.remove(&frame.page);
                break at;
            }
        };
        self.frames[frame] = Frame { page, occupied: true, referenced: false };
        self.frames_by_page.insert(page, frame);
        frame
    }

    fn remove(&mut self, page: u64) {
        if let Some(frame) = self.frames_by_page.remove(&page) {
            self.frames[frame] = Frame::default();
        }
    }
}
