//! A trace is read back as written, up to a cut; damage is detected.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotax_trace::{
    CHUNK, End, Error, Event, FileKind, FileState, Flags, Gap, Head, NO_FILE, Op, Reader, Source,
    TICK_NS, Unseen, VERSION, Writer,
};
use proptest::prelude::*;

fn head() -> Head {
    Head {
        started: "2026-11-28T02:30:00Z".to_owned(),
        kernel: "6.1.0 x86_64".to_owned(),
        cpus: Some(2),
        memory_bytes: Some(1 << 34),
        unseen: vec![Unseen::Faults],
        ..Head::new("iotax 0.1.0", Source::Bpf)
    }
}

fn event() -> impl Strategy<Value = Event> {
    let op = proptest::sample::select(Op::ALL);
    let numbers = (any::<u64>(), any::<u64>(), any::<i64>(), any::<u64>());
    let usual = (0_u64..1 << 40, 0_u64..1 << 20, -200_i64..1 << 20, 0_u64..1 << 33);
    let file = prop_oneof![Just(NO_FILE), 0_u32..5, any::<u32>()];
    let times = [0_u64..1 << 40, 0..1 << 34, 0..1 << 34, 0..1 << 34]
        .map(|range| range.prop_map(|n| n * TICK_NS));
    let numbers = prop_oneof![numbers, usual];
    (op, 0_u16..1 << 12, any::<u32>(), file, numbers, times).prop_map(
        |(
            op,
            flags,
            thread,
            file,
            (offset, length, result, detail),
            [end_ns, latency_ns, cpu_ns, run_delay_ns],
        )| {
            Event {
                op,
                flags: Flags(flags),
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
            .rounded()
        },
    )
}

fn written(events: &[Event], files: &[FileState]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &head()).unwrap();
    for (number, file) in (0..).zip(files) {
        assert_eq!(writer.file(file.clone()), number);
    }
    for (at, event) in events.iter().enumerate() {
        writer.push(*event).unwrap();
        if at % 100 == 99 {
            writer.flush().unwrap();
        }
    }
    writer.finish(&End { lost: 3, ..End::default() }).unwrap()
}

/// All events, whether the end was there, and why reading ended if it failed.
fn read(bytes: &[u8]) -> (Vec<Event>, Option<End>, Option<Error>) {
    let mut events = Vec::new();
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (events, None, Some(error)),
    };
    loop {
        match reader.chunk() {
            Ok(Some(chunk)) => events.extend(chunk),
            Ok(None) => return (events, reader.end, None),
            Err(error) => return (events, reader.end, Some(error)),
        }
    }
}

proptest! {
    #[test]
    fn a_trace_is_read_as_it_was_written(events in prop::collection::vec(event(), 0..300)) {
        let bytes = written(&events, &[]);
        let (found, end, error) = read(&bytes);
        prop_assert!(error.is_none());
        prop_assert_eq!(&found, &events);
        let end = end.unwrap();
        prop_assert_eq!((end.events, end.lost), (events.len() as u64, 3));
        prop_assert_eq!(end.chunks.iter().map(|chunk| u64::from(chunk.events)).sum::<u64>(), end.events);
    }

    #[test]
    fn reading_goes_on_at_any_chunk(events in prop::collection::vec(event(), 1..300)) {
        let bytes = written(&events, &[FileState::default()]);
        let mut reader = Reader::new(&bytes[..]).unwrap();
        let mut before = 0;
        while let Some(chunk) = reader.chunk().unwrap() {
            let at = usize::try_from(reader.chunk_at()).unwrap();
            let mut resumed = Reader::resume(&bytes[at..], reader.chunk_at(), &reader.head);
            let mut rest = Vec::new();
            while let Some(chunk) = resumed.chunk().unwrap() {
                rest.extend(chunk);
            }
            prop_assert_eq!(&rest, &events[before..]);
            before += chunk.len();
        }
        prop_assert_eq!(before, events.len());
    }

    #[test]
    fn what_was_written_before_the_end_is_read(
        events in prop::collection::vec(event(), 1..300),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = written(&events, &[]);
        let (found, end, error) = read(&bytes[..cut.index(bytes.len())]);
        prop_assert!(error.is_none_or(|error| matches!(error, Error::NotATrace)));
        prop_assert!(end.is_none());
        prop_assert_eq!(&found, &events[..found.len()]);
    }

    #[test]
    fn a_changed_byte_is_found(
        events in prop::collection::vec(event(), 1..200),
        at in any::<prop::sample::Index>(),
        other in 1_u8..,
    ) {
        let mut bytes = written(&events, &[]);
        let at = at.index(bytes.len());
        bytes[at] ^= other;
        let (found, end, error) = read(&bytes);
        // A longer length looks like a trace that was cut off.
        prop_assert!(error.is_some() || end.is_none());
        prop_assert_eq!(&found, &events[..found.len()]);
    }

    #[test]
    fn garbage_is_no_trace(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(matches!(read(&bytes), (_, None, Some(Error::NotATrace))));
    }
}

#[test]
fn files_keep_their_state() {
    let gap = Gap { offset: 4096, bytes: 8192, is_unwritten: true };
    let files = [
        FileState {
            size_bytes: 1 << 30,
            gaps: vec![gap],
            cached_bytes: Some(7),
            ..FileState::default()
        },
        FileState { kind: FileKind::BlockDevice, device: 1, is_new: false, ..FileState::default() },
    ];
    let bytes = written(&[], &files);
    let mut reader = Reader::new(bytes.as_slice()).unwrap();
    assert_eq!(reader.chunk().unwrap(), None);
    assert_eq!((reader.head.clone(), reader.files.as_slice()), (head(), files.as_slice()));
}

#[test]
fn as_many_files_as_a_recorder_may_find_are_read() {
    let gap = Gap { offset: 1 << 40, bytes: 1 << 40, is_unwritten: true };
    let files = vec![FileState { gaps: vec![gap; 4096], ..FileState::default() }; 300];
    let bytes = written(&[], &files);
    let mut reader = Reader::new(bytes.as_slice()).unwrap();
    assert_eq!(reader.chunk().unwrap(), None);
    assert!(reader.files == files);
}

#[test]
fn more_gaps_than_a_trace_may_have_are_left_out() {
    let files = vec![
        FileState {
            gaps: vec![Gap { offset: 0, bytes: 1, is_unwritten: false }; 4096],
            ..FileState::default()
        };
        1030
    ];
    let bytes = written(&[], &files);
    let mut reader = Reader::new(bytes.as_slice()).unwrap();
    assert_eq!(reader.chunk().unwrap(), None);
    let gaps: usize = reader.files.iter().map(|file| file.gaps.len()).sum();
    assert_eq!((reader.files.len(), gaps), (1030, 1 << 22));
}

#[test]
fn a_newer_version_says_so() {
    let newer = Head { version: VERSION + 1, ..head() };
    let bytes = Writer::new(Vec::new(), &newer).unwrap().finish(&End::default()).unwrap();
    let Err(error) = Reader::new(bytes.as_slice()) else { panic!("it was read") };
    assert!(matches!(error, Error::TooNew { found } if found == VERSION + 1), "{error}");
}

/// As a database writes: appends and a sync each, from several threads, and random reads.
#[test]
fn an_io_takes_at_most_six_bytes() {
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut end_ns = 0;
    let mut wal = 0;
    let events: Vec<Event> = (0..2 * CHUNK as u64)
        .map(|at| {
            end_ns += 200_000 + random(400_000);
            let (op, file, offset, length) = match at % 4 {
                0 => {
                    let length = 8192 * (1 + random(3));
                    wal += length;
                    (Op::Write, 0, wal - length, length)
                }
                1 => (Op::Fdatasync, 0, 0, 0),
                _ => (Op::Read, 1, 8192 * random(1 << 17), 8192),
            };
            Event {
                op,
                flags: Flags::default(),
                thread: u32::try_from(random(8)).unwrap(),
                file,
                offset,
                length,
                result: length.cast_signed(),
                end_ns,
                latency_ns: 50_000 + random(100_000),
                cpu_ns: 5_000 + random(20_000),
                run_delay_ns: [0, 2_000, 40_000][usize::try_from(random(20)).unwrap() / 9],
                detail: 0,
            }
        })
        .collect();
    let mut writer = Writer::new(Vec::new(), &head()).unwrap();
    for event in &events {
        writer.push(*event).unwrap();
    }
    let bytes = writer.finish(&End::default()).unwrap().len();
    let each = bytes as f64 / events.len() as f64;
    assert!(each <= 6.0, "{each}");
}
