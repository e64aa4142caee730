//! The summary of a trace that was written to a file, like one of a database whose backends commit
//! in turn.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotax_trace::profile::{Profile, Severity, Summary, Trait};
use iotax_trace::{Call, End, Event, FileState, Head, NO_FILE, Op, Reader, Source, Writer};

const US: u64 = 1_000;
const BACKENDS: u64 = 8;
const COMMITS: u64 = 4_000;
/// From one commit to the next.
const TURN_NS: u64 = 2_500 * US;

fn event(op: Op, thread: u64, end_ns: u64, latency_ns: u64) -> Event {
    Event { thread: u32::try_from(thread).unwrap(), file: 0, end_ns, latency_ns, ..Event::new(op) }
}

/// A backend reads a page, appends to the log, syncs it, and lets the next one go on, which has
/// waited for six turns.
fn commit(number: u64) -> [Event; 4] {
    let thread = number % BACKENDS;
    let begin_ns = number * TURN_NS;
    let at = |op, end_us: u64, latency_us: u64| {
        event(op, thread, begin_ns + end_us * US, latency_us * US)
    };
    let page = number.wrapping_mul(0x9e37_79b9) % 100_000;
    let moves = |event, offset, length: u64| Event {
        offset,
        length,
        result: length.cast_signed(),
        ..event
    };
    let next = Event {
        file: NO_FILE,
        offset: Call::pair(Call::Futex as u64, Call::Futex as u64),
        length: 0,
        detail: (thread + 1) % BACKENDS,
        latency_ns: 6 * TURN_NS,
        ..at(Op::Wake, 2_450, 0)
    };
    [
        Event { file: 1, cpu_ns: 50 * US, ..moves(at(Op::Read, 80, 20), page * 8192, 8192) },
        moves(at(Op::Write, 100, 10), number * 8192, 8192),
        at(Op::Fdatasync, 2_420, 2_310),
        next,
    ]
}

fn summary() -> Summary {
    let head = Head { cpus: Some(2), ..Head::new("iotax 0.1.0", Source::Bpf) };
    let mut writer = Writer::new(Vec::new(), &head).unwrap();
    let log = FileState { class: Some("wal".to_owned()), ..FileState::default() };
    writer.file(log);
    writer.file(FileState { size_bytes: 100_000 * 8192, ..FileState::default() });
    for event in (0..COMMITS).flat_map(commit) {
        writer.push(event).unwrap();
    }
    let end = End { length_ns: COMMITS * TURN_NS, ..End::default() };
    let bytes = writer.finish(&end).unwrap();

    let mut reader = Reader::new(bytes.as_slice()).unwrap();
    let mut profile = Profile::default();
    while let Some(chunk) = reader.chunk().unwrap() {
        for event in &chunk {
            profile.add(event);
        }
    }
    profile.finish(&reader.head, &reader.files, reader.end.as_ref())
}

fn is_close(figure: f64, right: f64) -> bool {
    (figure / right - 1.0).abs() < 0.02
}

#[test]
fn commits_in_turn_are_recognised() {
    let summary = summary();
    let found: Vec<_> =
        summary.findings.iter().map(|finding| (finding.severity, finding.about)).collect();
    let has = |is: &dyn Fn(&Trait) -> bool| found.iter().any(|(_, about)| is(about));
    assert_eq!(found.len(), 7, "{found:?}");
    assert!(has(&|about| matches!(about, Trait::TimeInSyncs { share } if *share > 0.9)));
    assert!(has(&|about| matches!(about, Trait::SyncPerWrite { ratio: 1.0 })));
    let turns = Trait::SyncsTakeTurns { file: 0, threads: 8, overlapping_share: 0.0 };
    assert!(found.contains(&(Severity::High, turns)), "{found:?}");
    assert!(has(&|about| matches!(about, Trait::OneAtATime { .. })));
    assert!(has(&|about| matches!(about, Trait::ThreadsWait { .. })));
    assert!(has(&|about| matches!(about, Trait::HotFile { file: 0, .. })));
    assert!(has(&|about| matches!(about, Trait::RandomReads { median_bytes: 8192, .. })));
}

#[test]
fn figures_survive_the_rounding_of_the_file() {
    let summary = summary();
    assert_eq!(summary.length_ns, COMMITS * TURN_NS);
    assert!(is_close(summary.syncs.per_s, 400.0));
    let sync = summary.operation(Op::Fdatasync).unwrap();
    assert!(is_close(sync.latency.as_ref().unwrap().p50_ns as f64, 2_310_000.0));
    assert!(is_close(summary.depth.unwrap().mean, 2_340.0 / 2_500.0));
    assert!(is_close(summary.threads.all.cpu_ns as f64, (COMMITS * 50 * US) as f64));
    let log = &summary.files.named[0];
    assert_eq!((log.class.as_deref(), log.bytes_between_syncs), (Some("wal"), Some(8192)));
    let waits = summary.threads.waits.unwrap();
    assert_eq!((waits.all.wakes, waits.pairs.len()), (COMMITS, 8));
    assert!(is_close(waits.pairs[0].share, 1.0 / 8.0));
}
