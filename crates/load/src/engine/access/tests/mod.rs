//! Every pattern against what it promises.

mod threads;

use std::collections::BTreeSet;

use iotax_experiment::{Bound, Extent, Share, Think, Trims, Zone};
use proptest::prelude::*;

use super::*;
use crate::engine::Op;
use crate::engine::testing::job;

fn sizes() -> impl Strategy<Value = BlockSizes> {
    prop_oneof![
        (0..4u32).prop_map(|shift| BlockSizes::Fixed(512 << shift)),
        (1..9u32).prop_map(|n| BlockSizes::Range { min: 1024, max: 1024 * n }),
        (1..100u8, 1..9u32).prop_map(|(percent, n)| BlockSizes::Split(vec![
            Share { bytes: 512, percent },
            Share { bytes: 512 * n + 512, percent: 100 - percent },
        ])),
    ]
}

/// Percent of accesses and of the span.
fn zones<const N: usize>(parts: [(u8, u8); N]) -> Vec<Zone> {
    let zone =
        |(accesses_percent, percent)| Zone { accesses_percent, extent: Extent::Percent(percent) };
    parts.map(zone).into()
}

fn patterns() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Random),
        Just(Pattern::Shuffled),
        Just(Pattern::Sequential),
        Just(Pattern::Skewed(Skew::Zipf(1.2))),
        Just(Pattern::Skewed(Skew::Zipf(0.8))),
        Just(Pattern::Skewed(Skew::Pareto(0.2))),
        Just(Pattern::Skewed(Skew::Normal(10.0))),
        Just(Pattern::Zoned(zones([(50, 10), (20, 30), (30, 60)]))),
        (1..9_u32).prop_map(|length| Pattern::Runs(RunLength::Fixed(length))),
        (1.0..9.0).prop_map(|mean| Pattern::Runs(RunLength::Geometric(mean))),
        (0..=100_u8).prop_map(|random_percent| Pattern::Mixed { random_percent }),
    ]
}

proptest! {
    #[test]
    fn every_access_lies_in_the_span_aligned_to_the_smallest_block(
        sizes in sizes(),
        pattern in patterns(),
        start in (0..100u64).prop_map(|n| n * 4096),
        bytes in 8192..100_000u64,
        files in 1..4u32,
        seed: u64,
    ) {
        let mut job = job();
        job.block_sizes = sizes;
        job.pattern = pattern.clone();
        job.files_per_thread = files;
        job.read_percent = 50;
        let smallest = u64::from(job.block_sizes.min_bytes());
        let mut accesses = Accesses::new(&job, Span { start, bytes }, seed);
        let mut expected = vec![start; files as usize];
        for turn in 0..300 {
            let io = accesses.next().unwrap();
            let size = u64::from(io.bytes);
            prop_assert_eq!(u32::from(io.file), turn % files);
            prop_assert!(io.offset >= start && io.offset + size <= start + bytes);
            prop_assert_eq!((io.offset - start) % smallest, 0);
            prop_assert!(io.bytes <= job.block_sizes.max_bytes() && size >= smallest);
            if pattern == Pattern::Sequential {
                let expected = &mut expected[usize::from(io.file)];
                prop_assert!(io.offset == *expected || io.offset == start);
                *expected = io.offset + size.next_multiple_of(smallest);
            }
        }
    }

    #[test]
    fn offsets_are_multiples_of_what_is_asked_for(
        align in (1..50_u64).prop_map(|n| n * 512), pattern in patterns(), seed: u64
    ) {
        let mut job = job();
        (job.align_bytes, job.pattern) = (Some(align), pattern);
        let span = Span { start: 512, bytes: 100_000 };
        let mut accesses = Accesses::new(&job, span, seed);
        for _ in 0..200 {
            let io = accesses.next().unwrap();
            prop_assert_eq!((io.offset - span.start) % align, 0);
            prop_assert!(io.offset + u64::from(io.bytes) <= span.start + span.bytes);
        }
    }

    #[test]
    fn strides_are_exact_and_begin_anew_at_the_end(
        stride in 1..20_000_u64, bytes in 4096..200_000_u64
    ) {
        let mut job = job();
        job.pattern = Pattern::Strided(stride);
        let mut accesses = Accesses::new(&job, Span { start: 7, bytes }, 1);
        let mut expected = 0;
        for _ in 0..200 {
            if expected + 4096 > bytes {
                expected = 0;
            }
            prop_assert_eq!(accesses.next().unwrap().offset, 7 + expected);
            expected += stride;
        }
    }

    #[test]
    fn backward_steps_are_exact_and_begin_anew_at_the_start(
        step in 1..20_000_u64, bytes in 4096..200_000_u64
    ) {
        let mut job = job();
        job.pattern = Pattern::Backward(step);
        let mut accesses = Accesses::new(&job, Span { start: 7, bytes }, 1);
        let granule = job.granule_bytes();
        let last = (bytes - 4096) / granule * granule;
        let mut expected = Some(last);
        for _ in 0..200 {
            let at = expected.unwrap_or(last);
            prop_assert_eq!(accesses.next().unwrap().offset, 7 + at);
            expected = at.checked_sub(step);
        }
    }

    #[test]
    fn a_shuffled_pass_touches_every_byte_once(
        sizes in sizes(), bytes in 8192..60_000_u64, seed: u64
    ) {
        let mut job = job();
        (job.block_sizes, job.pattern) = (sizes, Pattern::Shuffled);
        let smallest = u64::from(job.block_sizes.min_bytes());
        let whole = bytes - bytes % smallest;
        let mut accesses = Accesses::new(&job, Span { start: 0, bytes }, seed);
        for _ in 0..2 {
            let mut touched = BTreeSet::new();
            while (touched.len() as u64) < whole / smallest {
                let io = accesses.next().unwrap();
                for unit in 0..u64::from(io.bytes).div_ceil(smallest) {
                    prop_assert!(touched.insert(io.offset + unit * smallest));
                }
            }
        }
    }

    #[test]
    fn a_pass_covers_each_byte_of_each_file_once_in_order(
        units in 1..300_u64, files in 1..4_u32, block_units in 1..40_u32
    ) {
        let mut job = job();
        (job.pattern, job.bound) = (Pattern::Sequential, Bound::Span);
        (job.block_sizes, job.align_bytes) = (BlockSizes::Fixed(block_units * 512), Some(512));
        job.files_per_thread = files;
        // 100 bytes that no unit fits into are left alone.
        let span = Span { start: 4096, bytes: units * 512 + 100 };
        let mut accesses = Accesses::new(&job, span, 1);
        for file in 0..files {
            let mut at = span.start;
            while at < span.start + units * 512 {
                let io = accesses.next().unwrap();
                prop_assert_eq!((u32::from(io.file), io.offset), (file, at));
                at += u64::from(io.bytes);
            }
            prop_assert_eq!(at, span.start + units * 512);
        }
        prop_assert!(accesses.next().is_none());
    }

    #[test]
    fn a_size_bound_thread_gets_its_bytes_and_no_more(blocks in 0..500u64) {
        let mut job = job();
        job.bound = Bound::Bytes(blocks * 4096);
        let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 1 << 20 }, 1);
        let drawn = std::iter::from_fn(|| accesses.next()).count();
        prop_assert_eq!(drawn as u64, blocks);
        prop_assert!(accesses.is_exhausted());
    }
}

#[test]
fn random_offsets_and_directions_are_uniform_and_independent() {
    let mut job = job();
    job.read_percent = 25;
    let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 16 * 4096 }, 3);
    let mut counts = [[0_u32; 2]; 16];
    for _ in 0..64_000 {
        let io = accesses.next().unwrap();
        counts[usize::try_from(io.offset / 4096).unwrap()][io.op as usize] += 1;
    }
    for [reads, writes] in counts {
        // 1000 and 3000 expected; 6 standard deviations are 190 and 320.
        assert!(reads.abs_diff(1000) < 190 && writes.abs_diff(3000) < 320);
    }
}

/// As fio does (`tests/fio_draws.rs`), for any sizes, orders and ends: each write goes to where the
/// trim before it went, and what is trimmed and written counts once.
#[test]
fn a_trim_comes_before_the_write_of_its_place() {
    let orders = [Pattern::Sequential, Pattern::Shuffled, Pattern::Random, Pattern::Strided(8192)];
    for pattern in orders {
        for trims in [Trims::Only, Trims::First] {
            let mut job = job();
            (job.pattern, job.read_percent, job.trims) = (pattern.clone(), 0, Some(trims));
            job.bound = Bound::Bytes(1 << 20);
            let mut accesses = Accesses::new(&job, Span { start: 4096, bytes: 1 << 20 }, 3);
            let ios: Vec<Io> = std::iter::from_fn(|| accesses.next()).collect();
            if trims == Trims::Only {
                assert!(ios.len() == 256 && ios.iter().all(|io| io.op == Op::Trim));
                continue;
            }
            assert_eq!(ios.len(), 512, "{pattern:?}");
            for pair in ios.chunks(2) {
                assert_eq!(pair[0].op, Op::Trim, "{pattern:?}");
                assert_eq!(pair[1], Io { op: Op::Write, ..pair[0] }, "{pattern:?}");
            }
        }
    }
}

#[test]
fn a_sync_follows_every_so_many_writes() {
    let mut job = job();
    (job.read_percent, job.fsync_every) = (50, Some(3));
    let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 1 << 20 }, 3);
    let mut writes = 0;
    for _ in 0..1000 {
        match accesses.next().unwrap().op {
            Op::Read => {}
            Op::Write => writes += 1,
            Op::Sync => assert_eq!(std::mem::take(&mut writes), 3),
            Op::Trim | Op::Pause | Op::Forget => panic!("not asked for"),
        }
        assert!(writes <= 3);
    }
}

#[test]
fn the_same_seed_draws_the_same_and_another_seed_does_not() {
    let span = Span { start: 0, bytes: 1 << 20 };
    let draw = |seed| {
        let mut accesses = Accesses::new(&job(), span, seed);
        std::iter::from_fn(move || accesses.next()).take(200).collect::<Vec<_>>()
    };
    assert_eq!(draw(5), draw(5));
    assert_ne!(draw(5), draw(6));
}

/// The share of I/Os that do not begin where the last one ended, in 16 MiB.
fn jumps(pattern: Pattern) -> f64 {
    let mut job = job();
    job.pattern = pattern;
    let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 16 << 20 }, 5);
    let offsets: Vec<u64> = (0..20_000).map(|_| accesses.next().unwrap().offset).collect();
    let follows = |pair: &&[u64]| pair[1] == (pair[0] + 4096) % (16 << 20);
    1.0 - offsets.windows(2).filter(follows).count() as f64 / 19_999.0
}

#[test]
fn mixtures_and_runs_jump_as_often_as_asked() {
    // 1 in 4096 jumps lands behind the last I/O; 6 standard deviations are at most 0.021.
    for (pattern, expected) in [
        (Pattern::Mixed { random_percent: 0 }, 0.0),
        (Pattern::Mixed { random_percent: 30 }, 0.3),
        (Pattern::Mixed { random_percent: 100 }, 1.0),
        (Pattern::Runs(RunLength::Fixed(1)), 1.0),
        (Pattern::Runs(RunLength::Fixed(8)), 0.125),
        (Pattern::Runs(RunLength::Geometric(4.0)), 0.25),
        (Pattern::Random, 1.0),
        (Pattern::Sequential, 0.0),
    ] {
        let share = jumps(pattern.clone());
        assert!((share - expected).abs() < 0.022, "{pattern:?}: {share}");
    }
}

/// As the help of DiskSpd's `-rs` says; runs of fio's mix reads and writes.
#[test]
fn a_run_of_geometric_length_is_all_reads_or_all_writes() {
    let mut job = job();
    job.read_percent = 70;
    let turns = |job: &Job| {
        let mut accesses = Accesses::new(job, Span { start: 0, bytes: 1 << 40 }, 5);
        let mut last = accesses.next().unwrap();
        let (mut reads, mut turned) = (0, 0);
        for _ in 0..100_000 {
            let io = accesses.next().unwrap();
            let follows = io.offset == last.offset + u64::from(last.bytes);
            turned += u32::from(follows && io.op != last.op);
            reads += u32::from(io.op == Op::Read);
            last = io;
        }
        (turned, f64::from(reads) / 100_000.0)
    };
    job.pattern = Pattern::Runs(RunLength::Geometric(4.0));
    let (turned, reads) = turns(&job);
    assert_eq!(turned, 0);
    assert!((reads - 0.7).abs() < 0.02, "{reads}");
    job.pattern = Pattern::Runs(RunLength::Fixed(4));
    assert!(turns(&job).0 > 10_000);
}

#[test]
fn runs_of_fixed_length_jump_at_every_so_many_ios_only() {
    let mut job = job();
    job.pattern = Pattern::Runs(RunLength::Fixed(5));
    let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 1 << 20 }, 5);
    for _ in 0..200 {
        let first = accesses.next().unwrap().offset;
        for index in 1..5 {
            let expected = (first + index * 4096) % (1 << 20);
            assert_eq!(accesses.next().unwrap().offset, expected);
        }
    }
}

#[test]
fn skewed_accesses_favour_few_blocks_which_ones_depends_on_the_seed() {
    let hottest = |skew, seed| {
        let mut job = job();
        job.pattern = Pattern::Skewed(skew);
        let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 4 << 20 }, seed);
        let mut counts = vec![0_u32; 1024];
        for _ in 0..20_000 {
            let io = accesses.next().unwrap();
            counts[usize::try_from(io.offset / 4096).unwrap()] += 1;
        }
        let (at, count) = counts.iter().enumerate().max_by_key(|(_, count)| **count).unwrap();
        (at, *count)
    };
    // Uniform would be 20 each.
    for skew in [Skew::Zipf(1.2), Skew::Zipf(0.9), Skew::Pareto(0.2)] {
        let ((some, count), (other, _)) = (hottest(skew, 1), hottest(skew, 2));
        assert!(count > 200, "{skew:?}: {count}");
        assert_ne!(some, other);
    }
}

#[test]
fn syncs_reach_every_file_and_pauses_come_after_so_many_ios() {
    let mut job = job();
    (job.read_percent, job.fsync_every, job.files_per_thread) = (0, Some(4), 2);
    job.think = Some(Think { time_ns: 1, after_ios: 4 });
    let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 1 << 20 }, 3);
    for _ in 0..100 {
        let next: Vec<(Op, u16)> =
            (0..7).map(|_| accesses.next().unwrap()).map(|io| (io.op, io.file)).collect();
        let write = Op::Write;
        let ios = [(write, 0), (write, 1), (write, 0), (write, 1)];
        assert_eq!(next[..4], ios);
        assert_eq!(next[4..], [(Op::Sync, 1), (Op::Sync, 0), (Op::Pause, 0)]);
    }
}

#[test]
fn what_is_uncached_is_dropped_after_each_io() {
    for fsync_every in [None, Some(1)] {
        let mut job = job();
        (job.pattern, job.uncached, job.invalidate) = (Pattern::Random, true, true);
        (job.read_percent, job.fsync_every) = (50, fsync_every);
        job.block_sizes = BlockSizes::Range { min: 512, max: 16_384 };
        let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 64 << 10 }, 3);
        for _ in 0..100 {
            let io = accesses.next().unwrap();
            assert!(matches!(io.op, Op::Read | Op::Write));
            let mut mark = accesses.next().unwrap();
            // Dirty pages cannot be dropped: they are written first.
            if fsync_every.is_some() && io.op == Op::Write {
                assert_eq!(mark, Io::SYNC);
                mark = accesses.next().unwrap();
            }
            assert_eq!(mark, Io { op: Op::Forget, ..io });
        }
    }
}

#[test]
fn a_span_of_bytes_is_dropped_in_whole_pages() {
    let pages = |start, bytes| {
        let Span { start, bytes } = Span { start, bytes }.in_pages();
        (start, bytes)
    };
    assert_eq!(pages(0, 4096), (0, 4096));
    assert_eq!(pages(512, 512), (0, 4096));
    assert_eq!(pages(4095, 2), (0, 8192));
    assert_eq!(pages(8192, 5000), (8192, 8192));
}

#[test]
fn the_end_of_a_pass_is_marked_where_the_cache_is_to_be_cold() {
    for (pattern, sizes) in [
        (Pattern::Sequential, BlockSizes::Fixed(4096)),
        (Pattern::Shuffled, BlockSizes::Fixed(4096)),
        (Pattern::Shuffled, BlockSizes::Range { min: 4096, max: 16_384 }),
        (Pattern::Strided(8192), BlockSizes::Fixed(4096)),
        (Pattern::Backward(8192), BlockSizes::Fixed(4096)),
    ] {
        let mut job = job();
        (job.pattern, job.block_sizes, job.invalidate) = (pattern.clone(), sizes, true);
        job.files_per_thread = 2;
        let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 64 << 10 }, 3);
        let mut seen = [BTreeSet::new(), BTreeSet::new()];
        let mut passes = 0;
        for _ in 0..500 {
            let io = accesses.next().unwrap();
            let seen = &mut seen[usize::from(io.file)];
            if io.op == Op::Forget {
                passes += 1;
                seen.clear();
            } else {
                assert!(seen.insert(io.offset), "{pattern:?}: twice in a pass");
            }
        }
        assert!(passes > 20, "{pattern:?}: {passes}");
        // Neither direct I/O nor a warm cache has anything to drop.
        job.direct = true;
        let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 64 << 10 }, 3);
        assert!((0..500).all(|_| accesses.next().unwrap().op != Op::Forget));
    }
}

/// Whether `seen` of `draws` is as likely as `share`, to five standard deviations.
fn is_share(seen: usize, draws: usize, share: f64) -> bool {
    let (seen, draws) = (seen as f64, draws as f64);
    (seen - draws * share).abs() <= 5.0 * (draws * share * (1.0 - share)).sqrt()
}

#[test]
fn reads_and_writes_have_sizes_places_and_alignment_of_their_own() {
    const DRAWS: usize = 50_000;
    let mut job = job();
    job.read_percent = 30;
    let split = |shares: [(u32, u8); 2]| {
        BlockSizes::Split(shares.map(|(bytes, percent)| Share { bytes, percent }).into())
    };
    job.block_sizes = split([(512, 40), (4096, 60)]);
    job.write_block_sizes = Some(split([(8192, 90), (65_536, 10)]));
    job.pattern = Pattern::Zoned(zones([(80, 10), (20, 90)]));
    job.write_pattern = Some(Pattern::Zoned(zones([(50, 50), (50, 50)])));
    let span = Span { start: 4096, bytes: 64 << 20 };
    let mut accesses = Accesses::new(&job, span, 3);
    let ios: Vec<Io> = (0..DRAWS).map(|_| accesses.next().unwrap()).collect();
    let (reads, writes): (Vec<Io>, Vec<Io>) = ios.into_iter().partition(|io| io.op == Op::Read);
    assert!(is_share(reads.len(), DRAWS, 0.3));
    let of = |ios: &[Io], is: &dyn Fn(&Io) -> bool| ios.iter().filter(|io| is(io)).count();
    assert!(is_share(of(&reads, &|io| io.bytes == 512), reads.len(), 0.4));
    assert!(is_share(of(&writes, &|io| io.bytes == 65_536), writes.len(), 0.1));
    let below = |percent: u64| move |io: &Io| io.offset - 4096 < (64 << 20) / 100 * percent;
    assert!(is_share(of(&reads, &below(10)), reads.len(), 0.8));
    assert!(is_share(of(&writes, &below(50)), writes.len(), 0.5));
    assert!(reads.iter().all(|io| (io.offset - 4096).is_multiple_of(512)));
    assert!(writes.iter().all(|io| (io.offset - 4096).is_multiple_of(8192)));
    assert!(reads.iter().any(|io| !(io.offset - 4096).is_multiple_of(8192)));
}

#[test]
fn reads_and_writes_of_two_sizes_each_advance_on_their_own() {
    let mut job = job();
    (job.read_percent, job.bound) = (50, Bound::Bytes(1 << 20));
    job.pattern = Pattern::Sequential;
    (job.block_sizes, job.write_block_sizes) =
        (BlockSizes::Fixed(4096), Some(BlockSizes::Fixed(16_384)));
    let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 1 << 30 }, 3);
    let (mut next, mut bytes) = ([0, 0], 0);
    while let Some(io) = accesses.next() {
        assert_eq!(io.offset, next[io.op as usize]);
        next[io.op as usize] += u64::from(io.bytes);
        bytes += io.bytes;
    }
    assert!((1 << 20..(1 << 20) + 16_384).contains(&bytes), "{bytes}");
}
