//! A program that writes down each of its I/Os: all of them must be in the recording.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use iotax_capture::Subject;
use iotax_testing::{needs_bpf, needs_program};
use iotax_trace::{Event, Flags, Op};

use crate::support::{Driver, Trace, record};

const PAGE: u64 = 4096;

/// How the threads of `oracle.c` do their I/O. Each has its own file.
const WAYS: [Way; 8] = [
    Way { flags: Flags(0), order: Order::Strict },
    Way { flags: Flags(0), order: Order::Strict },
    Way { flags: Flags::AIO, order: Order::None },
    Way { flags: Flags::URING, order: Order::None },
    Way { flags: Flags(Flags::URING.0 | Flags::SQ_POLL.0), order: Order::None },
    Way { flags: Flags::URING, order: Order::Strict },
    Way { flags: Flags(0), order: Order::ByOperation },
    Way { flags: Flags(0), order: Order::ByOperation },
];

struct Way {
    flags: Flags,
    order: Order,
}

/// What the program can know about the order of its I/Os.
#[derive(PartialEq)]
enum Order {
    Strict,
    /// A store to a page that is not in memory is a fault and makes the page dirty.
    ByOperation,
    /// Requests in flight at the same time complete in any order.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Io {
    op: Op,
    offset: u64,
    length: u64,
}

/// Size of the file of a way, which is how the recording tells them apart.
const fn size_bytes(way: usize) -> u64 {
    (4096 + way as u64) * PAGE
}

/// Records a program with this many I/Os in all.
pub(crate) fn check(ios: usize) {
    if !needs_bpf() || !needs_program("cc") {
        return;
    }
    let driver = Driver::build("oracle");
    let place = tempfile::tempdir().unwrap();
    for way in 0..WAYS.len() {
        let path = place.path().join(format!("f{way}"));
        fs::write(&path, vec![7; usize::try_from(size_bytes(way)).unwrap()]).unwrap();
        // Only clean pages can be dropped from the page cache and fault again later.
        fs::File::open(path).unwrap().sync_all().unwrap();
    }
    let output = tempfile::tempdir().unwrap();
    let output = output.path().join("x.iotx");
    let command = vec![driver.path().into(), place.path().into(), ios.to_string().into()];
    let done = record(&Subject::Command(command), &output, &mut || ());
    assert!(done.failure.is_none());
    let trace = Trace::read(&output);
    assert_eq!(trace.end.as_ref().unwrap().lost, 0);
    let logs = logs(&place.path().join("log"));
    let all: usize = logs.iter().map(Vec::len).sum();
    assert!(all * 10 > ios * 9, "{all} of {ios}");
    for (way, log) in logs.into_iter().enumerate() {
        compare(way, log, &trace);
    }
}

fn logs(path: &Path) -> Vec<Vec<Io>> {
    let mut logs = vec![Vec::new(); WAYS.len()];
    for line in fs::read_to_string(path).unwrap().lines() {
        let numbers: Vec<u64> = line.split(' ').map(|field| field.parse().unwrap()).collect();
        let op = Op::from_number(u8::try_from(numbers[1]).unwrap()).unwrap();
        let io = Io { op, offset: numbers[3], length: numbers[4] };
        logs[usize::try_from(numbers[0]).unwrap()].push(io);
    }
    logs
}

const fn is_compared(op: Op) -> bool {
    op.moves_data() || op.is_sync() || matches!(op, Op::Dirty)
}

fn compare(way: usize, mut expected: Vec<Io>, trace: &Trace) {
    let is_of_way = |event: &&Event| {
        let file = trace.files.get(event.file as usize);
        is_compared(event.op) && file.is_some_and(|file| file.size_bytes == size_bytes(way))
    };
    let events: Vec<&Event> = trace.events.iter().filter(is_of_way).collect();
    // Each thread begins by reading a few bytes with a system call.
    let is_own = |event: &&&Event| event.length >= 512 || event.op.is_sync();
    for event in events.iter().filter(is_own) {
        let issued = if event.op == Op::Fault || event.op == Op::Dirty {
            Flags::default()
        } else {
            WAYS[way].flags
        };
        assert!(event.flags.contains(issued), "way {way}: {event:?}");
        assert!(event.errno().is_none(), "way {way}: {event:?}");
    }
    let threads = events.iter().filter(is_own).fold(HashMap::new(), |mut threads, event| {
        *threads.entry(event.thread).or_insert(0) += 1;
        threads
    });
    assert_eq!(threads.len(), 1, "way {way}: {threads:?}");
    let io = |event: &&Event| Io { op: event.op, offset: event.offset, length: event.length };
    let mut seen: Vec<Io> = events.iter().map(io).collect();
    match WAYS[way].order {
        Order::Strict => {}
        Order::ByOperation => {
            seen.sort_by_key(|io| io.op);
            expected.sort_by_key(|io| io.op);
        }
        Order::None => {
            seen.sort_unstable();
            expected.sort_unstable();
        }
    }
    let first = seen.iter().zip(&expected).position(|(seen, expected)| seen != expected);
    if let Some(first) = first {
        let near = first.saturating_sub(2)..(first + 3).min(seen.len()).min(expected.len());
        panic!(
            "way {way}, I/O {first} of {}: recorded {:?}, done {:?}",
            expected.len(),
            &seen[near.clone()],
            &expected[near]
        );
    }
    assert_eq!(seen.len(), expected.len(), "way {way}");
}
