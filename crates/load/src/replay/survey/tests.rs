use proptest::prelude::*;

use super::*;

fn facts(kind: FileKind) -> FileFacts {
    FileFacts::new(FileState { kind, size_bytes: 1 << 20, ..FileState::default() })
}

fn event(op: Op, offset: u64, length: u64) -> Event {
    Event { file: 0, offset, length, result: length.cast_signed(), ..Event::new(op) }
}

#[test]
fn what_is_read_before_it_is_written_must_be_there() {
    let mut file = facts(FileKind::Regular);
    for (op, offset, length) in [
        (Op::Read, 0, 4096),
        (Op::Write, 8192, 4096),
        (Op::Read, 4096, 12_288),
        (Op::Write, 0, 100),
    ] {
        file.note(&event(op, offset, length), 0, 100);
    }
    assert_eq!(file.read_first.iter().collect::<Vec<_>>(), [0..8192, 12_288..16_384]);
    assert_eq!(file.extent_bytes, 16_384);
    assert!(file.is_written && !file.loses_data);
    assert_eq!(file.touched.iter().count(), 0);
    file.note(&Event { result: 0, ..event(Op::Truncate, 4096, 0) }, 0, 100);
    assert!(file.loses_data);
}

proptest! {
    #[test]
    fn syncs_in_turn_are_told_from_those_at_a_time(
        gaps in prop::collection::vec(1000..5000_u64, 100), overlap in 0..100_usize,
    ) {
        let mut syncs = Syncs::default();
        let (mut now_ns, mut one_thread) = (0, Syncs::default());
        for (thread, gap_ns) in (0..).zip(gaps) {
            let latency_ns = if (thread as usize) < overlap { gap_ns + 900 } else { gap_ns / 2 };
            now_ns += gap_ns;
            let sync = event(Op::Fdatasync, 0, 0);
            let sync = Event { thread, end_ns: now_ns, latency_ns, result: 0, ..sync };
            syncs.note(&sync);
            one_thread.note(&Event { thread: 0, ..sync });
        }
        // The first has nothing to overlap with.
        prop_assert_eq!(syncs.are_shared(), overlap <= 3);
        prop_assert!(!one_thread.are_shared());
    }
}
