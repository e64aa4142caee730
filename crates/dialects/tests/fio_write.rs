//! What is written for fio means the same when it is read again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotax_dialects::fio::from_job_file;
use iotax_dialects::fio_write::{sections, text};
use iotax_spec::{
    BlockSizes, Bound, Engine, Extent, Job, Pattern, RunLength, Share, Think, Workload, Zone,
};
use proptest::prelude::*;

fn patterns() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Random),
        Just(Pattern::Shuffled),
        zones().prop_map(Pattern::Zoned),
        Just(Pattern::Sequential),
        (2..9u64).prop_map(|blocks| Pattern::Strided(blocks * 8192)),
        (2..9u32).prop_map(|ios| Pattern::Runs(RunLength::Fixed(ios))),
    ]
}

fn zones() -> impl Strategy<Value = Vec<Zone>> {
    let zone = |accesses_percent, extent| Zone { accesses_percent, extent };
    prop_oneof![
        (1..99u8, 1..99u8).prop_map(move |(accesses, part)| vec![
            zone(accesses, Extent::Percent(part)),
            zone(100 - accesses, Extent::Percent(100 - part)),
        ]),
        (1..99u8, 1..99u64).prop_map(move |(accesses, part)| vec![
            zone(accesses, Extent::Bytes(part << 16)),
            zone(100 - accesses, Extent::Bytes(1 << 20)),
        ]),
    ]
}

fn sizes() -> impl Strategy<Value = BlockSizes> {
    prop_oneof![
        Just(BlockSizes::Fixed(8192)),
        (2..9u32).prop_map(|n| BlockSizes::Range { min: 4096, max: 4096 * n }),
        (1..99u8).prop_map(|percent| BlockSizes::Split(vec![
            Share { bytes: 4096, percent },
            Share { bytes: 65_536, percent: 100 - percent },
        ])),
    ]
}

fn same_kind(a: &BlockSizes, b: &BlockSizes) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

fn in_bytes(zones: &[Zone]) -> bool {
    zones.iter().any(|zone| matches!(zone.extent, Extent::Bytes(_)))
}

prop_compose! {
    fn jobs()(
        pattern in patterns(),
        block_sizes in sizes(),
        read_percent in prop_oneof![Just(0u8), Just(100), 1..99u8],
        threads in 1..5u32,
        (engine, depth) in prop_oneof![
            Just((Engine::Psync, 1)),
            Just((Engine::Mmap, 1)),
            (1..33u32).prop_map(|depth| (Engine::IoUring, depth)),
        ],
        [invalidate, advise, write_through, direct] in any::<[bool; 4]>(),
        start_delay_ms in 0..9u64,
        think in proptest::option::of((1..900u64, 1..9u32)),
        bytes in proptest::option::of(1..9u64),
        cpus in proptest::collection::btree_set(0..4u32, 0..3),
        (write_sizes, write_zones, write_random) in (
            proptest::option::of(sizes()), proptest::option::of(zones()), 1..99u8
        ),
    ) -> Job {
        let fixed = matches!(block_sizes, BlockSizes::Fixed(_));
        let pattern = match pattern {
            Pattern::Strided(_) if !fixed => Pattern::Sequential,
            // Blocks of several sizes have no order in which each comes once.
            Pattern::Shuffled if !fixed => Pattern::Random,
            pattern => pattern,
        };
        let is_both = read_percent > 0 && read_percent < 100;
        // Of the other kind of sizes fio has no words.
        let write_block_sizes = write_sizes
            .filter(|sizes| is_both && *sizes != block_sizes && same_kind(sizes, &block_sizes));
        let pattern = match pattern {
            Pattern::Strided(_) | Pattern::Shuffled if write_block_sizes.is_some() => {
                Pattern::Random
            }
            pattern => pattern,
        };
        let write_pattern = match &pattern {
            Pattern::Zoned(zones) => write_zones
                .filter(|writes| is_both && writes != zones && in_bytes(writes) == in_bytes(zones))
                .map(Pattern::Zoned),
            Pattern::Sequential if is_both => {
                Some(Pattern::Mixed { random_percent: write_random })
            }
            _ => None,
        };
        Job {
            pattern,
            write_pattern,
            write_block_sizes,
            block_sizes,
            read_percent,
            threads,
            engine,
            queue_depth: depth,
            submit_batch: (engine == Engine::IoUring).then_some(depth.min(3)),
            // It concerns what is read through the page cache.
            invalidate: invalidate && read_percent > 0 && !(direct && engine != Engine::Mmap),
            advise,
            write_through: write_through && read_percent < 100,
            direct: direct && engine != Engine::Mmap,
            size_bytes: 64 << 20,
            start_delay_ns: start_delay_ms * 1_000_000,
            think: think.map(|(us, after_ios)| Think { time_ns: us * 1000, after_ios }),
            bound: bytes.map_or(Bound::Time, |mib| Bound::Bytes(mib << 20)),
            cpus: cpus.into_iter().collect(),
            ..Job::new("io")
        }
    }
}

proptest! {
    #[test]
    fn a_job_that_was_written_reads_the_same(job in jobs()) {
        let preset = Workload::preset("randread-4k").unwrap();
        let workload = Workload { jobs: vec![job], primary: "io".into(), ..preset };
        let mut written = sections(&workload);
        written[0].set("runtime", "5s");
        let text = text(&written);
        let read = from_job_file("job.fio", &text, &|name: &str| Err(name.to_owned()));
        let read = read.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(read.len(), 1);
        prop_assert_eq!(&read[0].jobs, &workload.jobs, "{}", text);
    }
}
