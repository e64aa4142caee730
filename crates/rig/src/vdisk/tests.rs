//! Disks of clouds in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use iotax_layers::{CloudDisk, CloudDisks, CloudOptions, Layer, Mem, Throttle};
use iotax_vdisk::{Clock, ManualClock, Request, Session, Submitted, VirtualDisk};

const MIB: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;

fn composed(vm: &str, disks: &[&str], options: &CloudOptions) -> Vec<CloudDisk> {
    let vm = (!vm.is_empty()).then(|| vm.to_owned());
    let disks = disks.iter().map(|disk| (*disk).to_owned()).collect();
    let (caching, options) = (<_>::default(), options.clone());
    CloudDisks { vm, variant: None, disks, caching, options }.made().unwrap().disks
}

#[test]
fn a_temporary_disk_shares_the_bucket_of_cached_disks_where_that_is_documented() {
    let options = CloudOptions { latency_ns: Some(0), ..CloudOptions::default() };
    let temporary = composed("DS1_v2", &["temporary"], &options).remove(0);
    let cached = composed("DS1_v2", &["P30:caching=readonly"], &options).remove(0);
    let mut simulation = Simulation::new(&[temporary, cached], &[Load { len: 4096, depth: 64 }; 2]);
    simulation.run(1);
    assert_rate(simulation.run(5).iter().sum(), 5, 4000.0, "both");
}

#[test]
fn local_disks_are_held_at_their_documented_rates() {
    let disks = composed("E16d_v5", &["local"], &CloudOptions::default());
    for (len, limit) in [(4096, 75_000.0), (1 << 20, 1e9 / f64::from(1 << 20))] {
        let mut simulation = Simulation::new(&disks, &[Load { len, depth: 256 }]);
        simulation.run(1);
        assert_rate(simulation.run(2)[0], 2, limit, &format!("{len} bytes"));
    }
}

/// Composed disks in virtual time, on memory in place of the file, each written to by its load.
struct Simulation {
    clock: Arc<ManualClock>,
    sessions: Vec<Session>,
    loads: Vec<Load>,
    /// When each I/O of any load ends, and on which disk; the next one on top.
    in_flight: BinaryHeap<Reverse<(u64, usize)>>,
}

/// So many writes of one size at once.
#[derive(Clone, Copy)]
struct Load {
    len: usize,
    depth: usize,
}

impl Simulation {
    fn new(disks: &[CloudDisk], loads: &[Load]) -> Self {
        // Long after the start, so that no arithmetic profits from zero.
        let start_ns = 1_000 * SECOND_NS;
        let clock = Arc::new(ManualClock::starting_at(start_ns));
        let session = |(disk, load): (&CloudDisk, &Load)| {
            let mut stack = disk.stack();
            stack.layers[0] = Layer::Mem(Mem { size_bytes: 4 * MIB });
            // Other tests of this process have other clocks.
            let apart = format!("{:p}", Arc::as_ptr(&clock));
            for layer in &mut stack.layers {
                if let Layer::Throttle(Throttle { group: Some(group), .. }) = layer {
                    group.push_str(&apart);
                }
            }
            let clock = Arc::clone(&clock) as Arc<dyn Clock>;
            let open = VirtualDisk::open(&stack.layers, clock).unwrap();
            Session::new(&open, 1, load.len).unwrap()
        };
        let sessions = disks.iter().zip(loads).map(session).collect();
        let slots = loads.iter().enumerate().flat_map(|(disk, load)| vec![disk; load.depth]);
        let in_flight = slots.map(|disk| Reverse((start_ns, disk))).collect();
        Self { clock, sessions, loads: loads.to_vec(), in_flight }
    }

    /// I/Os of each load that end within the next `seconds`.
    fn run(&mut self, seconds: u64) -> Vec<u64> {
        let end_ns = self.clock.now_ns() + seconds * SECOND_NS;
        let mut done = vec![0; self.loads.len()];
        loop {
            let mut next = self.in_flight.peek_mut().unwrap();
            let Reverse((ready_ns, disk)) = *next;
            if ready_ns > end_ns {
                self.clock.sleep_until(end_ns);
                return done;
            }
            self.clock.sleep_until(ready_ns);
            done[disk] += 1;
            let len = self.loads[disk].len;
            let offset = done[disk] % (4 * MIB / len as u64) * len as u64;
            let submitted = self.sessions[disk].submit(0, Request::write(offset, len));
            let Submitted::Done(io) = submitted else { unreachable!("no queue in these stacks") };
            assert_eq!(io.result, Ok(len));
            *next = Reverse((io.ready_at_ns, disk));
        }
    }
}

fn assert_rate(ios: u64, seconds: u64, expected_per_s: f64, what: &str) {
    let share = ios as f64 / seconds as f64 / expected_per_s;
    assert!((share - 1.0).abs() < 0.001, "{what}: {share} of {expected_per_s}");
}

#[test]
fn cached_and_uncached_buckets_are_reached_exactly_and_add_up() {
    let disks = composed("DS1_v2", &["P30:caching=readonly", "P30"], &CloudOptions::default());
    for (len, cached, uncached) in
        [(4096, 4000.0, 3200.0), (65_536, 32_768_000.0 / 65_536.0, 48e6 / 65_536.0)]
    {
        for depths in [[64, 1], [1, 64], [64, 64]] {
            let mut simulation = Simulation::new(&disks, &depths.map(|depth| Load { len, depth }));
            simulation.run(1);
            let done = simulation.run(5);
            for (place, limit) in [cached, uncached].into_iter().enumerate() {
                // At depth 1 the latency of a millisecond binds.
                if depths[place] > 1 {
                    assert_rate(done[place], 5, limit, &format!("{len} bytes, {depths:?}"));
                }
            }
        }
    }
}

#[test]
fn disks_on_one_bucket_share_it() {
    let disks = composed("DS1_v2", &["P30", "P30"], &CloudOptions::default());
    let mut simulation = Simulation::new(&disks, &[Load { len: 4096, depth: 64 }; 2]);
    simulation.run(1);
    let done = simulation.run(5);
    assert_rate(done.iter().sum(), 5, 3200.0, "both");
    assert!(done[0].abs_diff(done[1]) < done[0] / 10, "{done:?}");
}

#[test]
fn credits_pay_for_the_burst_as_long_as_documented_and_come_back() {
    // A hundredth of the documented 30 minutes: 18 s at 3,500 instead of 500.
    let options = CloudOptions { credits: 0.01, ..CloudOptions::default() };
    let disks = composed("", &["P10"], &options);
    let mut simulation = Simulation::new(&disks, &[Load { len: 4096, depth: 64 }]);
    let mut run = |seconds| simulation.run(seconds)[0];
    let first = run(1);
    assert_rate(run(16), 16, 3500.0, "the burst");
    let last = run(2);
    assert_rate(run(20), 20, 500.0, "after it");
    let over = first + 16 * 3500 + last - 19 * 500;
    assert!(over.abs_diff(54_000) < 150, "{over} of 54,000 credits spent");
    // 500 credits a second come back while nothing is done: a minute pays for 10 s.
    simulation.clock.advance(60 * SECOND_NS);
    let mut run = |seconds| simulation.run(seconds)[0];
    run(1);
    assert_rate(run(8), 8, 3500.0, "the second burst");
    run(2);
    assert_rate(run(20), 20, 500.0, "after it");
}

#[test]
fn large_ios_count_once_for_each_unit() {
    let options = CloudOptions { credits: 0.0, ..CloudOptions::default() };
    let disks = composed("", &["gp2:size=100G"], &options);
    for (kib, expected) in [(16, 300.0), (256, 300.0), (320, 150.0), (512, 150.0), (1024, 75.0)] {
        let mut simulation = Simulation::new(&disks, &[Load { len: kib * 1024, depth: 64 }]);
        simulation.run(2);
        assert_rate(simulation.run(20)[0], 20, expected, &format!("{kib} KiB"));
    }
}

#[test]
fn hits_of_the_cache_are_free_of_all_limits() {
    let disks = composed("DS1_v2", &["P10:caching=readonly"], &CloudOptions::default());
    let mut simulation = Simulation::new(&disks, &[Load { len: 4096, depth: 1 }]);
    let Simulation { clock, sessions, .. } = &mut simulation;
    let mut cost_ns = |request| {
        let now_ns = clock.now_ns();
        let Submitted::Done(io) = sessions[0].submit(0, request) else {
            unreachable!("no queue in these stacks")
        };
        clock.sleep_until(io.ready_at_ns);
        io.ready_at_ns.saturating_sub(now_ns)
    };
    let pages = || (0..1024).map(|page| Request::read(page * 4096, 4096));
    assert!(pages().all(|miss| cost_ns(miss) >= 1_000_000));
    for _ in 0..10 {
        assert!(pages().all(|hit| cost_ns(hit) == 0));
    }
    assert!(cost_ns(Request::write(0, 4096)) >= 1_000_000);
}
