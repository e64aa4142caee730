//! What comes between I/Os: syncs, pauses, and the end of a pass over the span.

use iotax_experiment::{Job, Pattern};

use crate::engine::io::{Io, Op};

/// Puts marks between the I/Os of one thread.
pub(super) struct Marks {
    /// Writes from one sync to the next; 0: never.
    sync_every: u32,
    writes: u32,
    /// Files to be synced each time.
    files: u16,
    /// Of those, still to come.
    syncs_due: u16,
    /// I/Os from one pause to the next; 0: never.
    think_every: u32,
    ios: u32,
    pause_due: bool,
    /// Whether the cache is dropped at the end of a pass.
    forgets: bool,
    /// The first I/O of a pass, after the mark that the last one is over.
    held: Option<Io>,
    /// Whether the cache is dropped after each I/O.
    uncached: bool,
    /// What was touched last, and is to be dropped.
    touched: Option<Io>,
}

impl Marks {
    /// Those that `job` asks for, if any.
    pub(super) fn of(job: &Job) -> Option<Self> {
        let sync_every = job.fsync_every.unwrap_or(0);
        let think_every = job.think.map_or(0, |think| think.after_ios);
        // These never come to an end of a pass.
        let is_endless =
            |pattern: &Pattern| *pattern == Pattern::Random || pattern.has_hot_places();
        let endless = job.stretches.is_none() && job.patterns().any(is_endless);
        let forgets = job.invalidate && !job.direct && !endless;
        (sync_every > 0 || think_every > 0 || forgets || job.uncached).then(|| Self {
            sync_every,
            writes: 0,
            files: u16::try_from(job.files_per_thread).unwrap_or(u16::MAX).max(1),
            syncs_due: 0,
            think_every,
            ios: 0,
            pause_due: false,
            forgets,
            held: None,
            uncached: job.uncached,
            touched: None,
        })
    }

    /// What comes before the next I/O is drawn.
    pub(super) fn due(&mut self) -> Option<Io> {
        if let Some(io) = self.held.take() {
            return Some(io);
        }
        if self.syncs_due > 0 {
            self.syncs_due -= 1;
            return Some(Io { file: self.syncs_due, ..Io::SYNC });
        }
        if let Some(touched) = self.touched.take() {
            return Some(Io { op: Op::Forget, ..touched });
        }
        std::mem::take(&mut self.pause_due).then_some(Io::PAUSE)
    }

    /// Counts an I/O that was drawn, and says what comes now: it, or a mark before it.
    pub(super) fn pass(&mut self, io: Io, wrapped: bool) -> Io {
        if io.op == Op::Write {
            self.writes += 1;
            if self.writes == self.sync_every {
                (self.writes, self.syncs_due) = (0, self.files);
            }
        }
        self.ios += 1;
        if self.ios == self.think_every {
            (self.ios, self.pause_due) = (0, true);
        }
        self.touched = self.uncached.then_some(io);
        if wrapped && self.forgets {
            self.held = Some(io);
            return Io { file: io.file, ..Io::FORGET };
        }
        io
    }
}
