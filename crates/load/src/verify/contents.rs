//! Data of a given kind for each write: it compresses, and repeats, as much as was asked for.
//!
//! By fio's rules (`fill_io_buffer` of `io_u.c`): each chunk begins with random data and ends with
//! what is the same everywhere; a write that repeats another is all of it.

use iotax_experiment::Content;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::engine::below;

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
                let whose = usize::try_from(nth % threads).expect("an index of the threads");
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
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
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
