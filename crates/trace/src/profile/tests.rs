//! The profile as a whole.

use proptest::prelude::*;

use super::testing::{head, io, wake};
use super::*;
use crate::event::Flags;
use crate::{FileKind, Source};

fn finished(events: &[Event], length_ns: u64) -> Summary {
    let mut profile = Profile::default();
    for event in events {
        profile.add(event);
    }
    profile.finish(&head(), &[], Some(&End { length_ns, ..End::default() }))
}

fn any_event() -> impl Strategy<Value = Event> {
    let op = prop::sample::select(Op::ALL);
    let numbers = (any::<u64>(), any::<u64>(), any::<i64>(), any::<u64>());
    let usual = (0_u64..1 << 40, 0_u64..1 << 20, -200_i64..1 << 20, 0_u64..20);
    let times = (any::<u64>(), any::<u64>(), any::<u64>());
    let usual_times = (0_u64..1 << 34, 0_u64..1 << 30, 0_u64..1 << 30);
    let file = prop_oneof![Just(NO_FILE), 0_u32..5, any::<u32>()];
    (
        op,
        0_u16..1 << 12,
        0_u32..9,
        file,
        prop_oneof![1 => numbers, 20 => usual],
        prop_oneof![1 => times, 20 => usual_times],
    )
        .prop_map(|(op, flags, thread, file, numbers, times)| {
            let (offset, length, result, detail) = numbers;
            let (end_ns, latency_ns, cpu_ns) = times;
            let run_delay_ns = latency_ns / 2;
            let flags = Flags(flags);
            Event {
                op,
                flags,
                thread,
                file,
                offset,
                length,
                result,
                end_ns,
                latency_ns,
                cpu_ns,
                run_delay_ns,
                detail,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_events_have_a_summary(events in prop::collection::vec(any_event(), 0..100)) {
        let summary = finished(&events, 0);
        let text = serde_json::to_string(&summary).expect("plain data");
        let back: Summary = serde_json::from_str(&text).expect("it was written");
        prop_assert_eq!(back, summary);
    }

    #[test]
    fn parts_of_a_life_add_up(events in prop::collection::vec(any_event(), 1..100)) {
        let threads = finished(&events, 0).threads;
        for figures in &threads.busiest {
            let times = figures.times;
            let parts = [
                times.io_ns,
                times.waiting_ns,
                times.cpu_ns,
                times.run_delay_ns,
                times.asynchronous_io_ns,
                times.idle_ns,
            ];
            prop_assert_eq!(parts.iter().map(|part| u128::from(*part)).sum::<u128>(), times.life_ns.into());
        }
    }
}

/// Two threads on one file, one on another, for one second.
#[test]
fn figures_of_a_small_trace() {
    const MS: u64 = 1_000_000;
    let mut events = Vec::new();
    for number in 0..10_u64 {
        let at = number * 100 * MS;
        let by = |thread, end_ns, latency_ns, event| Event { thread, end_ns, latency_ns, ..event };
        events.push(by(0, at + 10 * MS, 10 * MS, io(Op::Write, number * 8192, 8192)));
        events.push(by(0, at + 40 * MS, 30 * MS, io(Op::Fdatasync, 0, 0)));
        let read = Event { file: 1, ..io(Op::Read, number * 4096, 4096) };
        events.push(by(1, at + 50 * MS, 20 * MS, read));
        events.push(by(1, at + 60 * MS, 0, io(Op::Stat, 0, 0)));
        events.push(wake(0, 1, 30 * MS, at + 90 * MS));
    }
    let mut profile = Profile::default();
    for event in &events {
        profile.add(event);
    }
    let state = |kind| FileState { kind, size_bytes: 1 << 20, ..FileState::default() };
    let files = [state(FileKind::Regular), state(FileKind::BlockDevice)];
    let end = End { length_ns: 1_000 * MS, ..End::default() };
    let summary = profile.finish(&Head { source: Source::Strace, ..head() }, &files, Some(&end));

    assert_eq!((summary.length_ns, summary.events, summary.lost), (1_000 * MS, 50, 0));
    assert_eq!(summary.rates.reads_per_s, 10.0);
    assert_eq!(summary.rates.written_bytes_per_s, 81_920.0);
    assert_eq!(summary.rates.metadata_per_s, 10.0);
    let sum: Bin = summary.series.bins.iter().sum();
    assert_eq!((sum.syncs, sum.read_bytes), (10, 40_960));
    let write = summary.operation(Op::Write).expect("there are writes");
    assert_eq!(write.latency.as_ref().expect("seen").max_ns, 10 * MS);
    assert_eq!(write.order.expect("of writes").sequential_share, 1.0);
    let depth = summary.depth.expect("latencies are there");
    assert_eq!((depth.mean, depth.highest, depth.busy_share), (0.6, 2, 0.5));
    assert_eq!(depth.levels.iter().map(|level| level.share).collect::<Vec<_>>(), [0.5, 0.4, 0.1]);
    let times = summary.syncs.times.expect("latencies are there");
    assert_eq!((summary.syncs.count, times.share_of_io_time, times.mean_in_flight), (10, 0.5, 0.3));
    assert_eq!(summary.syncs.bytes_per_sync, 8192.0);
    assert_eq!(summary.pages.written_bytes, 81_920);
    assert_eq!(summary.pages.rewrite_factor, Some(1.0));
    assert_eq!((summary.files.count, summary.files.block_devices), (2, 1));
    assert_eq!(summary.files.by_time[0].file, 0);
    assert_eq!(summary.threads.count, 2);
    let waits = summary.threads.waits.expect("wakes are recorded");
    assert_eq!((waits.pairs[0].waits, waits.pairs[0].waits_for), (1, 0));
    assert_eq!(waits.all.waited_ns, 300 * MS);
}

#[test]
fn unseen_figures_are_none() {
    let mut profile = Profile::default();
    profile.add(&io(Op::Fsync, 0, 0));
    let head = Head { unseen: vec![Unseen::Latencies, Unseen::Wakes], ..head() };
    let summary = profile.finish(&head, &[], None);
    assert_eq!(summary.depth, None);
    assert_eq!(summary.syncs.times, None);
    assert_eq!(summary.threads.waits, None);
    assert_eq!(summary.operations[0].latency, None);
    assert!(summary.is_cut_off);
}

/// A different file, thread, offset and size in nearly every event.
fn scattered(number: u64) -> Event {
    let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let small = |shift: u32, bits: u32| (random >> shift) & ((1 << bits) - 1);
    let narrow = |wide: u64| u32::try_from(wide).expect("few bits");
    let op =
        [Op::Read, Op::Write, Op::Fsync, Op::Wake, Op::Fault, Op::Write][(number % 6) as usize];
    let length = if op == Op::Wake { 0 } else { small(3, 14) };
    let offset = if op == Op::Wake { 0x11 } else { small(17, 36) };
    Event {
        thread: narrow(small(40, 20)),
        file: narrow(small(20, 22)),
        detail: small(12, 20),
        end_ns: number * 1_000,
        latency_ns: small(30, 18),
        ..io(op, offset, length)
    }
}

#[test]
fn memory_does_not_grow_with_the_trace() {
    check_entries(1_000_000);
}

#[test]
#[ignore = "takes a minute without optimisation"]
fn memory_does_not_grow_with_ten_million_events() {
    check_entries(10_000_000);
}

fn check_entries(events: u64) {
    let mut profile = Profile::default();
    let mut entries = Vec::new();
    for number in 1..=events {
        profile.add(&scattered(number));
        if number.is_multiple_of(100_000) {
            entries.push(profile.entries());
        }
    }
    let most = *entries.iter().max().expect("there are some");
    assert!(most < 450_000, "{entries:?}");
    let summary = profile.finish(&head(), &[], None);
    assert_eq!(summary.events, events);
    assert!(summary.files.others.entries > 0 && summary.threads.retired > 0);
    assert!(summary.pages.sampled_share < 1.0);
    let waits = summary.threads.waits.expect("wakes are recorded");
    assert!(waits.retired_pairs.wakes > 0 && waits.retired_pairs.wakes < waits.all.wakes);
}
