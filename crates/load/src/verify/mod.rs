//! What is written: data that neither compresses nor dedupes, and that can be checked.

mod contents;
mod read_back;
mod write_log;

pub(crate) use contents::Contents;
pub(crate) use read_back::{Findings, read_back};
pub(crate) use write_log::{MAGIC, PAGE_BYTES, WriteLog, can_verify};

use crate::native::io::{Io, Outcome};

/// Prepares the data of every write of one thread, and remembers it if it will be verified.
pub(crate) struct WriteVerifier {
    counter: u64,
    /// One per file; none if nothing is verified.
    write_logs: Vec<WriteLog>,
    /// Data of a given kind, if that is what is written.
    contents: Option<Contents>,
}

impl WriteVerifier {
    /// For one thread; `seed` tells its data from that of all others.
    pub(crate) fn new(seed: u64) -> Self {
        Self { counter: seed, write_logs: Vec::new(), contents: None }
    }

    /// The same, with everything written on record for [`read_back`]: one write log per file.
    pub(crate) fn verifying(seed: u64, write_logs: Vec<WriteLog>) -> Self {
        Self { counter: seed, write_logs, contents: None }
    }

    /// The same, with this data.
    pub(crate) fn with(self, contents: Option<Contents>) -> Self {
        Self { contents, ..self }
    }

    /// Whether making data takes as long as it takes to move it.
    #[inline]
    pub(crate) fn takes_time(&self) -> bool {
        self.contents.is_some()
    }

    /// What was written, by file, if it is on record.
    pub(crate) fn into_write_logs(self) -> Vec<WriteLog> {
        self.write_logs
    }

    /// Makes `buffer`, which holds random data, unlike anything written before, in place: every
    /// page starts with the magic and a number that no page has had.
    ///
    /// False means that this write must wait: an earlier one to the same place is in flight, and
    /// nobody could say which of the two will last.
    #[inline]
    pub(crate) fn prepare(&mut self, io: Io, buffer: &mut [u8]) -> bool {
        match &mut self.contents {
            Some(contents) => contents.fill(buffer),
            None => self.stamp(buffer),
        }
        match self.write_logs.get_mut(usize::from(io.file)) {
            None => true,
            Some(write_log) => write_log.begin(io, buffer),
        }
    }

    #[inline]
    fn stamp(&mut self, buffer: &mut [u8]) {
        for page in buffer.chunks_mut(PAGE_BYTES) {
            self.counter = self.counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
            if let Some(stamp) = page.first_chunk_mut::<16>() {
                stamp[..8].copy_from_slice(&MAGIC);
                stamp[8..].copy_from_slice(&self.counter.to_le_bytes());
            }
        }
    }

    /// A write is over.
    #[inline]
    pub(crate) fn wrote(&mut self, io: Io, outcome: Outcome) {
        if let Some(write_log) = self.write_logs.get_mut(usize::from(io.file)) {
            write_log.end(io, outcome);
        }
    }
}
