//! The written data: it can be neither compressed nor deduplicated, and it can be verified.

mod write_log;

use iotax_experiment::Content;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::engine::{Io, Op, Outcome, below};
use crate::file_assignment::{PAGE_BYTES, unit_bytes};
use write_log::{judge, judge_alone, judge_by};

pub(crate) use write_log::{Findings, MAGIC, ReadBack, WriteLog};

/// Prepares the data of every write of one thread, and remembers it if it will be verified.
pub(crate) struct WriteVerifier {
    counter: u64,
    /// One per file; none if nothing is verified.
    write_logs: Vec<WriteLog>,
    /// Data of a given kind, if that is what is written.
    contents: Option<Contents>,
    /// What checks have shown.
    findings: Findings,
    /// Of a thread that verifies what others wrote: the size of a unit, in bytes.
    reads: Option<u32>,
}

impl WriteVerifier {
    /// For one thread; `seed` tells its data from that of all others.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            counter: seed,
            write_logs: Vec::new(),
            contents: None,
            findings: Findings::default(),
            reads: None,
        }
    }

    /// The same, with everything written on record for [`read_back`]: one write log per file.
    pub(crate) fn verifying(seed: u64, write_logs: Vec<WriteLog>) -> Self {
        Self { write_logs, ..Self::new(seed) }
    }

    /// For a thread that reads what others wrote, at multiples of `granule`.
    pub(crate) fn reading(granule: u64) -> Self {
        Self { reads: Some(unit_bytes(granule)), ..Self::new(0) }
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

    /// What was written, by file, if it is on record, and what checks have shown so far, if there
    /// are any.
    pub(crate) fn into_write_logs(self) -> (Vec<WriteLog>, Option<Findings>) {
        let checks = self.reads.is_some() || !self.write_logs.is_empty();
        (self.write_logs, checks.then_some(self.findings))
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

    /// Whether a trim may start. What it leaves is undefined, so its range is no longer verified.
    ///
    /// False means that it must wait for a write to the same place.
    #[inline]
    pub(crate) fn may_trim(&mut self, io: Io) -> bool {
        match self.write_logs.get_mut(usize::from(io.file)) {
            None => true,
            Some(write_log) => write_log.forget(io),
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

    /// Whether a check may start: nothing may be under way to the same place, and then nothing else
    /// begins there.
    #[inline]
    pub(crate) fn may_check(&mut self, io: Io) -> bool {
        self.write_logs.get_mut(usize::from(io.file)).is_none_or(|log| log.begin_check(io))
    }

    /// A check is over; false if it has read something else than was written.
    pub(crate) fn checked(&mut self, io: Io, outcome: Outcome, data: &[u8], target: &str) -> bool {
        let before = self.findings.mismatches;
        if let Some(unit_bytes) = self.reads {
            judge_by(unit_bytes, io, outcome, data, judge_alone, &mut |offset, reason| {
                self.findings.note(target, offset, reason);
            });
        }
        let Some(write_log) = self.write_logs.get_mut(usize::from(io.file)) else {
            return self.findings.mismatches == before;
        };
        write_log.end_check(io);
        judge(write_log, io, outcome, data, &mut |offset, reason| {
            self.findings.note(target, offset, reason);
        });
        let is_right = self.findings.mismatches == before;
        if !is_right {
            // It is counted once.
            write_log.forget(io);
        }
        is_right
    }

    /// A write is over, or a check whose data is not compared.
    #[inline]
    pub(crate) fn over(&mut self, io: Io, outcome: Outcome) {
        let Some(write_log) = self.write_logs.get_mut(usize::from(io.file)) else { return };
        match io.op {
            Op::Write => write_log.end(io, outcome),
            _ if io.check => write_log.end_check(io),
            _ => {}
        }
    }
}

// Data of a given kind for each write: it compresses, and repeats, as much as was asked for.
//
// By fio's rules (`fill_io_buffer` of `io_u.c`): each chunk begins with random data and ends with
// what is the same everywhere; a write that repeats another is all of it.

/// The seed of data number `nth` of a thread: of neighbouring numbers nothing is alike.
fn seed_of(thread: u64, nth: u64) -> u64 {
    let mixed = thread ^ nth.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The data that may be repeated.
struct WorkingSet {
    /// How many writes' data.
    writes: u64,
    /// Whose data it is, in turn.
    threads: Box<[u64]>,
}

/// Fills the buffers of one thread.
pub(crate) struct Contents {
    chunk: usize,
    /// Random bytes at the start of a chunk.
    random: usize,
    pattern: Box<[u8]>,
    dedupe_percent: u64,
    working_set: Option<WorkingSet>,
    thread: u64,
    /// Writes so far whose data is their own.
    unique: u64,
    rng: Xoshiro256PlusPlus,
}

impl Contents {
    /// For the thread with data of seed `thread`, one of `sharing` or the only one. Its span has
    /// room for `writes` writes.
    pub(crate) fn new(content: &Content, thread: u64, sharing: &[u64], writes: u64) -> Self {
        let chunk = content.chunk_bytes as usize;
        let of_set = |percent: u8| WorkingSet {
            writes: (writes * u64::from(percent) / 100).max(1),
            threads: if content.shared_set { sharing.into() } else { [thread].into() },
        };
        Self {
            chunk,
            random: chunk * (100 - usize::from(content.compress_percent.min(100))) / 100,
            pattern: content.pattern.clone().into(),
            dedupe_percent: content.dedupe_percent.into(),
            working_set: content.working_set_percent.map(of_set),
            thread,
            unique: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed_of(thread, u64::MAX)),
        }
    }

    /// Puts the data of the next write into `buffer`.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
        let mut state = self.next_seed();
        // A block shorter than a chunk is one.
        let (chunk, random) = match buffer.len() {
            shorter if shorter < self.chunk => (shorter, shorter * self.random / self.chunk),
            _ => (self.chunk, self.random),
        };
        for part in buffer.chunks_mut(chunk) {
            let (noise, rest) = part.split_at_mut(random.min(part.len()));
            for word in noise.chunks_mut(8) {
                state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                word.copy_from_slice(&seed_of(state, 0).to_le_bytes()[..word.len()]);
            }
            match &*self.pattern {
                [] => rest.fill(0),
                pattern => {
                    for piece in rest.chunks_mut(pattern.len()) {
                        piece.copy_from_slice(&pattern[..piece.len()]);
                    }
                }
            }
        }
    }

    #[inline]
    fn next_seed(&mut self) -> u64 {
        if self.dedupe_percent == 0 || below(self.rng.next_u64(), 100) >= self.dedupe_percent {
            self.unique += 1;
            return seed_of(self.thread, self.unique - 1);
        }
        match &self.working_set {
            // What the next write will have that repeats nothing.
            None => seed_of(self.thread, self.unique),
            Some(set) => {
                let nth = below(self.rng.next_u64(), set.writes);
                let threads = set.threads.len().max(1) as u64;
                let whose = usize::try_from(nth % threads).expect("an index into the threads");
                seed_of(set.threads.get(whose).copied().unwrap_or(self.thread), nth)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    const BLOCK: usize = 4096;

    fn written(contents: &mut Contents, blocks: usize) -> Vec<Vec<u8>> {
        (0..blocks)
            .map(|_| {
                let mut buffer = vec![0xEE; BLOCK];
                contents.fill(&mut buffer);
                buffer
            })
            .collect()
    }

    fn compressed(data: &[Vec<u8>]) -> f64 {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        for block in data {
            encoder.write_all(block).unwrap();
        }
        encoder.finish().unwrap().len() as f64 / (data.len() * BLOCK) as f64
    }

    fn distinct(data: &[Vec<u8>]) -> usize {
        data.iter().collect::<HashSet<_>>().len()
    }

    #[test]
    fn data_compresses_as_much_as_asked() {
        // A compressor needs some bytes for each run of zeroes.
        for percent in [0, 25, 50, 75, 90, 100_u8] {
            let content = Content { compress_percent: percent, ..Content::default() };
            let data = written(&mut Contents::new(&content, 1, &[], 1), 256);
            let expected = 1.0 - f64::from(percent) / 100.0;
            let ratio = compressed(&data);
            assert!((ratio - expected).abs() < 0.02, "{percent} %: {ratio}");
            assert_eq!(distinct(&data), if percent == 100 { 1 } else { 256 });
        }
    }

    #[test]
    fn chunks_end_in_the_pattern() {
        let content = Content {
            compress_percent: 50,
            chunk_bytes: 1024,
            pattern: vec![0xDE, 0xAD, 0xBE],
            ..Content::default()
        };
        let data = &written(&mut Contents::new(&content, 1, &[], 1), 1)[0];
        for chunk in data.chunks(1024) {
            assert_eq!(chunk[512..518], [0xDE, 0xAD, 0xBE, 0xDE, 0xAD, 0xBE]);
            assert_ne!(chunk[0..512], data[1024 + 512..2048]);
        }
        let whole = Content { compress_percent: 100, chunk_bytes: 4096, ..content };
        let data = &written(&mut Contents::new(&whole, 1, &[], 1), 1)[0];
        assert!(data.iter().zip([0xDE, 0xAD, 0xBE].iter().cycle()).all(|(a, b)| a == b));
    }

    #[test]
    fn writes_repeat_as_often_as_asked() {
        const WRITES: usize = 4000;
        for percent in [0, 10, 50, 90_u8] {
            let content = Content { dedupe_percent: percent, ..Content::default() };
            let data = written(&mut Contents::new(&content, 1, &[], 1), WRITES);
            let share = 1.0 - distinct(&data) as f64 / WRITES as f64;
            // Five standard deviations are at most 0.04.
            assert!((share - f64::from(percent) / 100.0).abs() < 0.04, "{percent} %: {share}");
        }
        let all = Content { dedupe_percent: 100, ..Content::default() };
        assert_eq!(distinct(&written(&mut Contents::new(&all, 1, &[], 1), 100)), 1);
    }

    /// fio's example `dedupe-global`: of 51,200 blocks of two threads, with half of them repeated
    /// from half of the data, 25,747 differ, and 16,817 of the 25,600 of one thread.
    #[test]
    fn threads_repeat_each_others_data() {
        const WRITES: usize = 25_600;
        let content = Content {
            dedupe_percent: 50,
            working_set_percent: Some(50),
            shared_set: true,
            ..Content::default()
        };
        let small = |thread| {
            let mut contents = Contents::new(&content, thread, &[11, 22], WRITES as u64);
            (0..WRITES)
                .map(|_| {
                    let mut buffer = vec![0; 16];
                    contents.fill(&mut buffer);
                    buffer
                })
                .collect::<Vec<_>>()
        };
        let (mut all, other) = (small(11), small(22));
        let one = distinct(&all) as f64;
        assert!((one / 16_817.0 - 1.0).abs() < 0.1, "{one}");
        all.extend(other);
        let both = distinct(&all) as f64;
        assert!((both / 25_747.0 - 1.0).abs() < 0.02, "{both}");
    }
}
