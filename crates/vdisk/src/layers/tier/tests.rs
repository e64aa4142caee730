use std::sync::Arc;

use iotax_layers::{Delay, Fault, Flash, Layer, Mem, Throttle};

use super::*;
use crate::{ManualClock, Request, Session, Submitted, VirtualDisk};

const MISS_NS: u64 = 500_000;

fn delay(latency_ns: u64) -> Layer {
    Layer::Delay(Delay { latency_ns, jitter_ns: 0 })
}

fn tier(pages: u64) -> Layer {
    Layer::Tier(Tier { size_bytes: pages * PAGE_BYTES })
}

fn open(above: &[Layer]) -> VirtualDisk {
    let mem = Layer::Mem(Mem { size_bytes: 1 << 20 });
    let stack: Vec<_> = [mem].into_iter().chain(above.iter().cloned()).collect();
    VirtualDisk::open(&stack, Arc::new(ManualClock::default())).unwrap()
}

/// Simulated time of one request.
fn cost_ns(session: &mut Session, request: Request) -> u64 {
    let now_ns = session.disk().clock().now_ns();
    let Submitted::Done(io) = session.submit(0, request) else {
        unreachable!("no queue in this stack")
    };
    session.disk().clock().sleep_until(io.ready_at_ns);
    io.ready_at_ns.saturating_sub(now_ns)
}

#[test]
fn hits_are_free_below_and_pay_above() {
    let throttle = Throttle { iops: Some(1.0), bw_bytes: Some(4096.0), ..Throttle::default() };
    let fault = Fault { eio: 1.0, after_ios: 1, ..Fault::default() };
    let limits = [
        Layer::Fault(fault),
        Layer::Throttle(throttle),
        Layer::Flash(Flash { channels: 8, latency_ns: 80_000, bw_bytes: 5e8, jitter_ns: 0 }),
        delay(MISS_NS),
    ];
    let disk = open(&[&limits[..], &[tier(4), delay(7)]].concat());
    let mut session = Session::new(&disk, 1, 8192).unwrap();
    let read = Request::read(4096, 4096);
    assert!(cost_ns(&mut session, read) > MISS_NS + 80_000);
    let hits = [(); 3].map(|()| cost_ns(&mut session, read));
    assert_eq!(hits, [7; 3]);
    // Half of it is not held, so all of it goes below: into the fault, after the throttle's second.
    assert!(cost_ns(&mut session, Request::read(0, 8192)) > 900_000_000);
    assert_eq!(cost_ns(&mut session, read), 7);
    drop(session);
    assert_eq!(disk.stats()[5].own, [("hits", 4), ("misses", 2)]);
    assert_eq!(disk.stats()[1].own[0], ("eio", 1));
}

#[test]
fn writes_pay_and_leave_their_pages_behind_and_failed_ios_do_not() {
    let fault = Fault { eio: 1.0, after_ios: 2, ..Fault::default() };
    let disk = open(&[Layer::Fault(fault), delay(MISS_NS), tier(16)]);
    let mut session = Session::new(&disk, 1, 4096).unwrap();
    assert_eq!(cost_ns(&mut session, Request::write(0, 4096)), MISS_NS);
    assert_eq!(cost_ns(&mut session, Request::read(0, 4096)), 0);
    assert_eq!(cost_ns(&mut session, Request::write(8192, 4096)), MISS_NS);
    assert_eq!(cost_ns(&mut session, Request::write(0, 4096)), MISS_NS, "and failed");
    assert_eq!(cost_ns(&mut session, Request::read(0, 4096)), 0, "the old data are still there");
    assert_eq!(session.read_at(4096, &mut [0; 4096]), Err(rustix::io::Errno::IO));
    assert_eq!(cost_ns(&mut session, Request::read(4096, 4096)), MISS_NS);
}

#[test]
fn the_data_are_always_the_bases() {
    let disk = open(&[delay(MISS_NS), tier(16)]);
    let mut session = Session::new(&disk, 1, 4096).unwrap();
    for fill in [1, 2, 3] {
        session.write_at(0, &[fill; 4096]).unwrap();
        let mut back = [0; 4096];
        session.read_at(0, &mut back).unwrap();
        assert_eq!(back, [fill; 4096]);
    }
}

#[test]
fn dropping_caches_empties_it() {
    let disk = open(&[delay(MISS_NS), tier(16)]);
    let mut session = Session::new(&disk, 1, 4096).unwrap();
    let read = Request::read(0, 4096);
    assert_eq!([(); 2].map(|()| cost_ns(&mut session, read)), [MISS_NS, 0]);
    disk.drop_caches().unwrap();
    assert_eq!([(); 2].map(|()| cost_ns(&mut session, read)), [MISS_NS, 0]);
}

#[test]
fn of_two_tiers_the_upper_one_answers_first() {
    let disk = open(&[delay(100), tier(16), delay(10), tier(1), delay(1)]);
    let mut session = Session::new(&disk, 1, 4096).unwrap();
    let mut read = |page: u64| cost_ns(&mut session, Request::read(page * 4096, 4096));
    assert_eq!([read(0), read(0), read(1), read(0)], [111, 1, 111, 11]);
    drop(session);
    assert_eq!(disk.stats()[2].own, [("hits", 1), ("misses", 2)]);
    assert_eq!(disk.stats()[4].own, [("hits", 1), ("misses", 3)]);
}

#[test]
fn a_working_set_within_its_size_is_free_after_one_round_and_one_beyond_it_is_not() {
    const PAGES: u64 = 64;
    for (size, hits) in [(PAGES, PAGES), (PAGES / 2, 0)] {
        let disk = open(&[delay(MISS_NS), tier(size)]);
        let mut session = Session::new(&disk, 1, 4096).unwrap();
        let mut round = || {
            let costs = (0..PAGES)
                .map(|page| cost_ns(&mut session, Request::read(page * PAGE_BYTES, 4096)));
            costs.filter(|cost| *cost == 0).count() as u64
        };
        assert_eq!(round(), 0);
        assert_eq!(round(), hits, "{size} of {PAGES} pages");
    }
}
