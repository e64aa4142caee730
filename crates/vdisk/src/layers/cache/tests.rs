use std::sync::Arc;

use iotax_layers::{Layer, Mem};

use super::*;
use crate::{ManualClock, Session, VirtualDisk};

const SIZE_BYTES: u64 = 1 << 20;

fn session(cache_bytes: u64) -> Session {
    let stack = [
        Layer::Mem(Mem { size_bytes: SIZE_BYTES }),
        Layer::Cache(Cache { size_bytes: cache_bytes }),
    ];
    let disk = VirtualDisk::open(&stack, Arc::new(ManualClock::default())).unwrap();
    Session::new(&disk, 1, 65_536).unwrap()
}

fn counts(session: &Session) -> [u64; 2] {
    let own = &session.disk().stats()[1].own;
    [own[0].1, own[1].1]
}

fn read(session: &mut Session, offset: u64, len: usize) {
    assert_eq!(session.read_at(offset, &mut vec![0; len]), Ok(len));
}

#[test]
fn a_second_read_hits_and_does_not_go_below() {
    let mut session = session(65_536);
    read(&mut session, 8192, 8192);
    read(&mut session, 8192, 8192);
    read(&mut session, 12_288, 512);
    assert_eq!(counts(&session), [2, 1]);
    assert_eq!(session.disk().stats()[0].reads, 1);
}

#[test]
fn a_partial_hit_is_a_miss() {
    let mut session = session(65_536);
    read(&mut session, 0, 4096);
    read(&mut session, 0, 8192);
    assert_eq!(counts(&session), [0, 2]);
    read(&mut session, 0, 8192);
    assert_eq!(counts(&session), [1, 2]);
}

#[test]
fn a_part_of_a_page_is_not_kept_but_served() {
    let mut session = session(65_536);
    read(&mut session, 512, 512);
    read(&mut session, 512, 512);
    assert_eq!(counts(&session), [0, 2]);
}

#[test]
fn a_written_page_is_cached_and_a_part_of_one_updated() {
    let mut session = session(65_536);
    session.write_at(0, &[1; 4096]).unwrap();
    session.write_at(512, &[2; 512]).unwrap();
    let mut page = [0; 4096];
    session.read_at(0, &mut page).unwrap();
    assert_eq!(counts(&session), [1, 0]);
    assert!(page[..512] == [1; 512] && page[512..1024] == [2; 512] && page[1024..] == [1; 3072]);
    assert_eq!(session.disk().stats()[0].writes, 2, "written through");
}

#[test]
fn a_loop_through_more_than_the_capacity_evicts_and_the_rest_stays() {
    let mut session = session(65_536);
    for page in 0..16 {
        read(&mut session, page * 4096, 4096);
    }
    for page in 0..16 {
        read(&mut session, page * 4096, 4096);
    }
    assert_eq!(counts(&session), [16, 16]);
    // All have been used again: the hand clears every mark, then evicts the first.
    read(&mut session, 100 * 4096, 4096);
    read(&mut session, 0, 4096);
    assert_eq!(counts(&session), [16, 18]);
    session.disk().drop_caches().unwrap();
    read(&mut session, 0, 4096);
    assert_eq!(counts(&session), [16, 19]);
}

/// Drives a read and a write of one page step by step in a given order, as threads would.
fn race(order: &str) -> Option<u8> {
    let mut shard = Shard::new(4).unwrap();
    let (mut below, mut seq, mut noted, mut begun) = (0_u8, 10_u64, 0, 0);
    let mut fetched = 0;
    for step in order.chars() {
        match step {
            'n' => noted = seq,
            'f' => fetched = below,
            'k' => shard.keep(7, noted, &[fetched; PAGE_BYTES]),
            'b' => {
                seq += 1;
                begun = seq;
                shard.begin_write(7, begun, 0, &[1; PAGE_BYTES]);
            }
            'w' => below = 1,
            'e' => {
                seq += 1;
                shard.end_write(7, begun, seq, true);
            }
            _ => unreachable!(),
        }
    }
    let mut byte = [0];
    shard.read(7, 0, &mut byte).then_some(byte[0])
}

#[test]
fn no_interleaving_of_a_read_and_a_write_leaves_a_stale_page() {
    // All merges of note-fetch-keep and begin-write-end, which end with the write's data below.
    let mut orders = vec![(String::new(), "nfk", "bwe")];
    let mut merged = Vec::new();
    while let Some((done, read, write)) = orders.pop() {
        if read.is_empty() && write.is_empty() {
            merged.push(done);
            continue;
        }
        for (from_read, rest) in [(true, read), (false, write)] {
            let Some(step) = rest.chars().next() else { continue };
            let next = format!("{done}{step}");
            let (read, write) = if from_read { (&read[1..], write) } else { (read, &write[1..]) };
            orders.push((next, read, write));
        }
    }
    assert_eq!(merged.len(), 20);
    for order in merged {
        assert!(race(&order) != Some(0), "{order}");
    }
    // And a read that comes after the write, or before it alone, is kept.
    assert_eq!(race("bwenfk"), Some(1));
    assert_eq!(race("nfk"), Some(0));
}

#[test]
fn overlapping_or_failed_writes_leave_nothing() {
    let mut shard = Shard::new(4).unwrap();
    let cached = |shard: &mut Shard| shard.read(7, 0, &mut [0]);
    shard.begin_write(7, 1, 0, &[1; PAGE_BYTES]);
    shard.begin_write(7, 2, 0, &[2; PAGE_BYTES]);
    shard.end_write(7, 2, 3, true);
    shard.end_write(7, 1, 4, true);
    assert!(!cached(&mut shard));
    shard.begin_write(7, 5, 0, &[1; PAGE_BYTES]);
    assert!(cached(&mut shard));
    shard.end_write(7, 5, 6, false);
    assert!(!cached(&mut shard));
}
