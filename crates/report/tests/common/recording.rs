//! A recording of a database: two threads commit in turn, a third one reads, and a sync stalls.

use iotax_report::{Document, ShownRecording, recording, recording_json};
use iotax_trace::profile::{Profile, Summary};
use iotax_trace::{Call, End, Event, FileState, Head, NO_FILE, Op, Source, Unseen};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// From one commit to the next.
const TURN_NS: u64 = 20 * MS;
const COMMITS: u64 = 500;
/// The commit whose sync stalls all others.
const STALLED: u64 = 300;
const STALL_NS: u64 = 2 * SECOND;

/// A recording with its path.
pub(crate) struct Recording {
    pub(crate) path: String,
    pub(crate) head: Head,
    pub(crate) end: Option<End>,
    pub(crate) summary: Summary,
}

impl Recording {
    pub(crate) fn document(&self) -> Document {
        recording(self.shown())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        recording_json(self.shown())
    }

    fn shown(&self) -> ShownRecording<'_> {
        let Self { path, head, end, summary } = self;
        ShownRecording { path, head, end: end.as_ref(), summary }
    }
}

fn event(op: Op, thread: u32, end_ns: u64, latency_ns: u64) -> Event {
    Event { thread, file: 0, end_ns, latency_ns, ..Event::new(op) }
}

fn moved(event: Event, file: u32, offset: u64, length: u64) -> Event {
    Event { file, offset, length, result: length.cast_signed(), ..event }
}

/// A client's request, a write of 8 KiB to the log, a sync of 10 ms, a wake-up of the other thread,
/// and the answer. Thread 2 reads 4 KiB elsewhere meanwhile.
fn commit(number: u64) -> [Event; 7] {
    let stalls = if number > STALLED { STALL_NS } else { 0 };
    let begin_ns = number * TURN_NS + stalls;
    let sync_ns = if number == STALLED { STALL_NS + 10 * MS } else { 10 * MS };
    let thread = u32::try_from(number % 2).expect("0 or 1");
    let page = number.wrapping_mul(0x9e37_79b9) % 100_000;
    let stat = Event { file: 1, ..event(Op::Stat, 2, begin_ns + 5 * MS, MS / 100) };
    let wake_ns = begin_ns + 2 * MS + sync_ns;
    let wake = Event {
        file: NO_FILE,
        offset: Call::pair(Call::Futex as u64, Call::Futex as u64),
        length: MS,
        result: (MS / 2).cast_signed(),
        detail: u64::from(1 - thread),
        ..event(Op::Wake, thread, wake_ns, TURN_NS / 2)
    };
    let client = |op, end_ns| Event {
        file: NO_FILE,
        result: 100,
        detail: thread.into(),
        ..event(op, thread, end_ns, 0)
    };
    [
        client(Op::Request, begin_ns + MS / 2),
        moved(event(Op::Write, thread, begin_ns + MS, MS / 20), 0, number * 8192, 8192),
        moved(event(Op::Read, 2, begin_ns + 4 * MS, MS / 2), 1, page * 4096, 4096),
        stat,
        Event { cpu_ns: MS, ..event(Op::Fdatasync, thread, begin_ns + MS + sync_ns, sync_ns) },
        wake,
        client(Op::Answer, wake_ns + MS / 10),
    ]
}

pub(crate) fn head() -> Head {
    Head {
        started: "2026-01-02T03:04:05Z".to_owned(),
        kernel: "6.1.0-28-amd64 x86_64".to_owned(),
        cpus: Some(8),
        memory_bytes: Some(16 << 30),
        unseen: vec![Unseen::Uring],
        ..Head::new("iotax 0.1.0", Source::Bpf)
    }
}

fn end() -> End {
    End {
        length_ns: COMMITS * TURN_NS + STALL_NS,
        overhead: Some(0.012),
        lost: 20,
        ..End::default()
    }
}

fn made(path: &str, head: Head, end: Option<End>, class: &str, events: &[Event]) -> Recording {
    let mut profile = Profile::default();
    for event in events {
        profile.add(event);
    }
    let log = FileState { class: Some(class.to_owned()), ..FileState::default() };
    let data = FileState {
        size_bytes: 100_000 * 4096,
        cached_bytes: Some(64 << 20),
        ..FileState::default()
    };
    let summary = profile.finish(&head, &[log, data], end.as_ref());
    Recording { path: path.to_owned(), head, end, summary }
}

fn commits() -> Vec<Event> {
    let mut events: Vec<Event> = (0..COMMITS).flat_map(commit).collect();
    events.sort_by_key(|event| event.end_ns);
    events
}

pub(crate) fn database() -> Recording {
    made("app.iotx", head(), Some(end()), "wal", &commits())
}

/// Every kind of operation, and all that may be wrong with a recording.
pub(crate) fn of_everything(path: &str) -> Recording {
    let mut events = commits();
    for (number, op) in (0_u64..).zip(Op::ALL) {
        let at = |turn: u64| (turn * 40 + number) * MS;
        let calls = (1..120).map(|turn| Event {
            file: 1 + u32::try_from(turn % 7).expect("small"),
            length: 100,
            result: 100,
            detail: 1,
            ..event(*op, u32::try_from(turn % 9).expect("small"), at(turn) + 40 * MS, 39 * MS)
        });
        events.extend(calls);
    }
    events.sort_by_key(|event| event.end_ns);
    let unseen = vec![Unseen::Faults, Unseen::DirtiedPages, Unseen::Uring, Unseen::StartState];
    let end = End { lost: 99_999, ..end() };
    made(path, Head { unseen, ..head() }, Some(end), "data", &events)
}

/// A block trace without latencies, and cut off.
pub(crate) fn of_little() -> Recording {
    let unseen = vec![
        Unseen::Wakes,
        Unseen::CpuTime,
        Unseen::Calls,
        Unseen::Latencies,
        Unseen::Times,
        Unseen::StartState,
    ];
    let head = Head { source: Source::BlockCsv, unseen, ..head() };
    let events: Vec<Event> = (0..200)
        .map(|number| moved(event(Op::Read, 0, number * 50 * MS, 0), 0, number * 4096, 4096))
        .collect();
    made("blocks.iotx", head, None, "data", &events)
}

pub(crate) fn empty() -> Recording {
    made("empty.iotx", head(), Some(End::default()), "", &[])
}

/// Text that a recording may contain if it was not made by iotax.
pub(crate) fn hostile() -> Recording {
    let hostile = super::HOSTILE.to_owned();
    let head = Head {
        program: hostile.clone(),
        started: hostile.clone(),
        kernel: hostile.clone(),
        ..head()
    };
    made(&format!("{hostile}.iotx"), head, Some(end()), &hostile, &commits())
}
