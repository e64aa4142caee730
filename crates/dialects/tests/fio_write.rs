//! What is written for fio means the same when it is read again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotax_dialects::fio::from_job_file;
use iotax_dialects::fio_write::{sections, text};
use iotax_experiment::{
    BlockSizes, Bound, Content, Engine, Extent, Flow, IoPriority, Job, LatencyTarget, Numa,
    NumaMemory, Pattern, PriorityClass, PriorityShare, RunLength, Share, Skew, Stretches, Think,
    Trims, Workload, Zone,
};
use proptest::prelude::*;

fn patterns() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Random),
        Just(Pattern::Shuffled),
        zones().prop_map(Pattern::Zoned),
        skews().prop_map(Pattern::Skewed),
        (skews(), 0..=4u8).prop_map(|(skew, quarters)| Pattern::Centred {
            skew,
            centre: f64::from(quarters) / 4.0,
        }),
        Just(Pattern::Sequential),
        (2..9u64).prop_map(|blocks| Pattern::Strided(blocks * 8192)),
        (2..9u32).prop_map(|ios| Pattern::Runs(RunLength::Fixed(ios))),
    ]
}

fn skews() -> impl Strategy<Value = Skew> {
    prop_oneof![Just(Skew::Zipf(1.2)), Just(Skew::Pareto(0.25)), Just(Skew::Normal(10.0))]
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

/// How a job shares machine and file.
#[derive(Debug, Clone)]
struct Shares {
    latency_target: Option<LatencyTarget>,
    stretches: Option<Stretches>,
    content: Option<Content>,
    flow: Option<Flow>,
    priority: Option<IoPriority>,
    priorities: Vec<PriorityShare>,
    numa: Option<Numa>,
}

fn contents() -> impl Strategy<Value = Content> {
    let pattern = || prop_oneof![Just(vec![]), Just(vec![0xDE, 0xAD, 0xBE])];
    prop_oneof![
        (1..100u8, pattern()).prop_map(|(compress_percent, pattern)| Content {
            compress_percent,
            pattern,
            chunk_bytes: 1024,
            ..Content::default()
        }),
        (0..100u8, 1..=100u8, proptest::option::of((1..=100u8, any::<bool>()))).prop_map(
            |(compress_percent, dedupe_percent, set)| Content {
                compress_percent,
                dedupe_percent,
                working_set_percent: set.map(|(percent, _)| percent),
                shared_set: set.is_some_and(|(_, shared)| shared),
                ..Content::default()
            }
        ),
    ]
}

fn priorities() -> impl Strategy<Value = IoPriority> {
    (proptest::sample::select(&PriorityClass::ALL[..]), 0..8u8)
        .prop_map(|(class, level)| IoPriority { class, level })
}

prop_compose! {
    fn shares()(
        stretches in proptest::option::of((1..9u64, 1..9u64, 0..9u64)),
        content in proptest::option::of(contents()),
        latency_target in proptest::option::of((1..9u64, 1..9u64, 1..=100u8, any::<bool>())),
        flow in proptest::option::of((1..1000u32, 0..9u32, 0..9000u64)),
        priority in proptest::option::of(priorities()),
        (first, second) in (priorities(), priorities()),
        (percent, bytes) in (1..50u8, proptest::option::of(1..9u32)),
        numa in proptest::option::of(prop_oneof![
            Just(Numa { cpu_nodes: vec![0, 1], memory: None }),
            Just(Numa { cpu_nodes: vec![], memory: Some(NumaMemory::Interleave(vec![0, 1])) }),
            Just(Numa { cpu_nodes: vec![0], memory: Some(NumaMemory::Prefer(1)) }),
        ]),
    ) -> Shares {
        let of = |reads, priority| PriorityShare {
            reads,
            bytes: bytes.map(|kib| kib * 1024),
            percent,
            priority,
        };
        Shares {
            stretches: stretches.map(|(bytes, range, skip)| Stretches {
                bytes: bytes << 20,
                range_bytes: range << 20,
                skip_bytes: skip << 20,
            }),
            latency_target: latency_target.map(|(ms, window, percentile, keeps_on)| LatencyTarget {
                target_ns: ms * 1_000_000,
                window_ns: window * 1_000_000_000,
                percentile: percentile.into(),
                keeps_on,
            }),
            content,
            flow: flow.map(|(weight, group, us)| Flow { weight, group, sleep_ns: us * 1000 }),
            priority,
            priorities: vec![of(true, first), of(false, second)],
            numa,
        }
    }
}

fn same_kind(a: &BlockSizes, b: &BlockSizes) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
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
        (shares, increment) in (shares(), 0..9u64),
        (write_sizes, write_random) in (proptest::option::of(sizes()), 1..99u8),
        trims in proptest::option::of(prop_oneof![Just(Trims::Only), Just(Trims::First)]),
    ) -> Job {
        let fixed = matches!(block_sizes, BlockSizes::Fixed(_));
        let pattern = match pattern {
            Pattern::Strided(_) if !fixed => Pattern::Sequential,
            // Blocks of several sizes have no order in which each comes once.
            Pattern::Shuffled if !fixed => Pattern::Random,
            pattern => pattern,
        };
        let trims = trims.filter(|_| read_percent == 0);
        let writes_data = read_percent < 100 && trims != Some(Trims::Only);
        let pattern = match pattern {
            // Pairs of fio's do not go to one place in these orders.
            Pattern::Runs(_) | Pattern::Mixed { .. } if trims == Some(Trims::First) => {
                Pattern::Sequential
            }
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
            Pattern::Sequential if is_both => {
                Some(Pattern::Mixed { random_percent: write_random })
            }
            _ => None,
        };
        let is_plain = matches!(
            pattern,
            Pattern::Random | Pattern::Shuffled | Pattern::Sequential
        );
        let of_job = |share: &PriorityShare| {
            if share.reads { read_percent > 0 } else { writes_data }
        };
        let Shares { latency_target, stretches, content, flow, priority, mut priorities, numa } = shares;
        priorities.retain(of_job);
        Job {
            stretches: stretches.filter(|_| is_plain && write_pattern.is_none() && write_block_sizes.is_none()),
            content: content.filter(|_| writes_data),
            trims,
            flow,
            latency_target,
            priority,
            priorities: if engine == Engine::IoUring { priorities } else { Vec::new() },
            numa,
            offset_increment_bytes: if threads > 1 { increment << 20 } else { 0 },
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
            write_through: write_through && writes_data,
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
