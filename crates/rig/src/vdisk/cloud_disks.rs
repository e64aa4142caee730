//! Disks of clouds, as they are composed and in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;

use insta::assert_snapshot;
use iotax_catalog::Caching;
use iotax_spec::layers::{CloudDisk, CloudDisks, CloudOptions, MadeDisks, Mem, Part, Throttle};
use iotax_spec::{Error, Layer};
use iotax_vdisk::{Clock, ManualClock, Request, Session, Submitted};

use super::open_in;

const MIB: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;

fn made(vm: &str, disks: &[&str], options: &CloudOptions) -> Result<MadeDisks, Error> {
    let vm = (!vm.is_empty()).then(|| vm.to_owned());
    let disks = disks.iter().map(|disk| (*disk).to_owned()).collect();
    let options = options.clone();
    CloudDisks { vm, variant: None, disks, caching: Caching::None, options }.made()
}

fn composed(vm: &str, disks: &[&str], options: &CloudOptions) -> Vec<CloudDisk> {
    made(vm, disks, options).unwrap().disks
}

/// Stacks and notes, with what each layer stands for.
fn told(disks: &[CloudDisk]) -> String {
    let part = |part: &Part| {
        let from = if part.sources.is_empty() { "" } else { ", documented" };
        format!("  {}: {}{from}\n", Layer::from(&part.layer), part.what)
    };
    let note = |note: &String| format!("  ({note})\n");
    let disk = |disk: &CloudDisk| {
        let parts: String = disk.parts.iter().map(part).collect();
        let notes: String = disk.notes.iter().map(note).collect();
        format!("{}, caching {}\n{parts}{notes}", disk.name, disk.caching)
    };
    disks.iter().map(disk).collect()
}

#[test]
fn a_cached_disk_of_a_small_vm() {
    let options = CloudOptions::default();
    assert_snapshot!(told(&composed("DS1_v2", &["P10:caching=readonly"], &options)), @"
    P10, caching read only
      file(size=128G, thin): of the documented size, documented
      delay(latency=1ms): latency: an assumption, not documented
      throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000, credits=30m, unit=256k): disk limit of P10, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      tier(size=43G): cache of Standard_DS1_v2, documented
      (reads that miss the cache, and writes, count against the VM's cached limits alone, as measured on Standard_DS1_v2)
    ");
}

#[test]
fn cached_and_uncached_disks_have_buckets_apart_and_share_the_cache() {
    let disks = ["P30:caching=readonly", "P10:caching=readonly", "P30"];
    let options = CloudOptions { latency_ns: Some(0), ..CloudOptions::default() };
    assert_snapshot!(told(&composed("DS1_v2", &disks, &options)), @"
    P30, caching read only
      file(size=1T, thin): of the documented size, documented
      throttle(iops=5000, bw=200000000, unit=256k): disk limit of P30, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      tier(size=22016M): cache of Standard_DS1_v2, divided evenly: an assumption, documented
      (reads that miss the cache, and writes, count against the VM's cached limits alone, as measured on Standard_DS1_v2)
    P10, caching read only
      file(size=128G, thin): of the documented size, documented
      throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000, credits=30m, unit=256k): disk limit of P10, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      tier(size=22016M): cache of Standard_DS1_v2, divided evenly: an assumption, documented
      (reads that miss the cache, and writes, count against the VM's cached limits alone, as measured on Standard_DS1_v2)
    P30, caching none
      file(size=1T, thin): of the documented size, documented
      throttle(iops=5000, bw=200000000, unit=256k): disk limit of P30, documented
      throttle(iops=3200, bw=46875k, group=Standard_DS1_v2-uncached): VM uncached limit of Standard_DS1_v2, documented
    ");
}

#[test]
fn encryption_is_where_it_is_done_and_a_smaller_disk_keeps_its_limits() {
    let options = CloudOptions {
        size_bytes: Some(4 << 30),
        encryption_at_host: true,
        hardware_encrypted: true,
        latency_ns: Some(500_000),
        credits: 0.1,
    };
    assert_snapshot!(told(&composed("Standard_DS1_v2", &["P10:caching=readonly"], &options)), @"
    P10, caching read only
      file(size=4G, thin): of the size asked for
      aes(sector=512): the disk's own encryption, as asked for
      delay(latency=500us): latency, as asked for
      throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000, credits=3m, unit=256k): disk limit of P10, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      tier(size=43G): cache of Standard_DS1_v2, documented
      aes(sector=512): encryption at host, as asked for
      (reads that miss the cache, and writes, count against the VM's cached limits alone, as measured on Standard_DS1_v2)
    ");
}

#[test]
fn local_disks_have_the_limits_of_local_storage_and_the_host_encrypts_on_top() {
    let options = CloudOptions {
        size_bytes: Some(4 << 30),
        encryption_at_host: true,
        hardware_encrypted: true,
        ..CloudOptions::default()
    };
    assert_snapshot!(told(&composed("E16d_v5", &["local"], &options)), @"
    temporary disk, caching none
      file(size=4G, thin): of the size asked for
      aes(sector=512): the disk's own encryption, as asked for
      delay(latency=100us): latency: an assumption, not documented
      throttle(iops=75000, bw=1000000000, group=Standard_E16d_v5-temporary): VM temporary disk limit of Standard_E16d_v5, documented
      aes(sector=512): encryption at host, as asked for
    ");
    let plain = CloudOptions::default();
    assert_snapshot!(told(&composed("E16ds_v6", &["nvme"; 2], &plain)), @"
    local NVMe disk, caching none
      file(size=440G, thin): of the documented size, documented
      delay(latency=100us): latency: an assumption, not documented
      throttle(iops=300000, bw=1406250k, counts=reads, group=Standard_E16ds_v6-nvme-reads): local NVMe limit of Standard_E16ds_v6, documented
      throttle(iops=120000, bw=703125k, counts=writes, group=Standard_E16ds_v6-nvme-writes): local NVMe limit of Standard_E16ds_v6, documented
    local NVMe disk, caching none
      file(size=440G, thin): of the documented size, documented
      delay(latency=100us): latency: an assumption, not documented
      throttle(iops=300000, bw=1406250k, counts=reads, group=Standard_E16ds_v6-nvme-reads): local NVMe limit of Standard_E16ds_v6, documented
      throttle(iops=120000, bw=703125k, counts=writes, group=Standard_E16ds_v6-nvme-writes): local NVMe limit of Standard_E16ds_v6, documented
    ");
}

#[test]
fn a_temporary_disk_shares_the_bucket_of_cached_disks_where_that_is_documented() {
    let options = CloudOptions { latency_ns: Some(0), ..CloudOptions::default() };
    let temporary = composed("DS1_v2", &["temporary"], &options).remove(0);
    let cached = composed("DS1_v2", &["P30:caching=readonly"], &options).remove(0);
    assert_snapshot!(told(std::slice::from_ref(&temporary)), @"
    temporary disk, caching none
      file(size=7G, thin): of the documented size, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      (it draws on the bucket of cached disks)
    ");
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

#[test]
fn what_is_not_documented_is_said_and_left_out() {
    let options = CloudOptions::default();
    assert_snapshot!(told(&composed("E16d_v5", &["E30:caching=readonly", "E30"], &options)), @"
    E30, caching read only
      file(size=1T, thin): of the documented size, documented
      delay(latency=1ms): latency: an assumption, not documented
      throttle(iops=500, bw=100000000, burst_iops=1000, burst_bw=250000000, credits=30m, unit=256k): disk limit of E30, documented
      (VM cached limit of Standard_E16d_v5: not documented, so nothing is limited by it)
      (Standard_E16d_v5: no size of the cache is documented, so nothing is ever hit)
    E30, caching none
      file(size=1T, thin): of the documented size, documented
      delay(latency=1ms): latency: an assumption, not documented
      throttle(iops=500, bw=100000000, burst_iops=1000, burst_bw=250000000, credits=30m, unit=256k): disk limit of E30, documented
      throttle(iops=25600, bw=600000000, group=Standard_E16d_v5-uncached): VM uncached limit of Standard_E16d_v5, documented
      (VM uncached limit of Standard_E16d_v5: how long it lasts is not documented, so there is no burst to 40000 I/Os per second)
      (VM uncached limit of Standard_E16d_v5: how long it lasts is not documented, so there is no burst to 1200000000 bytes per second)
    ");
}

#[test]
fn disks_of_other_clouds() {
    let options = CloudOptions::default();
    assert_snapshot!(told(&composed("m5.large", &["gp2:size=100G", "st1:size=2T"], &options)), @"
    gp2:size=100G, caching none
      file(size=100G, thin): of the documented size, documented
      delay(latency=1ms): latency: an assumption, not documented
      throttle(iops=300, bw=128M, burst_iops=3000, credits=2000s, unit=256k): disk limit of gp2:size=100G, documented
      throttle(iops=3600, bw=81250000, burst_iops=18750, burst_bw=593750000, credits=30m, group=m5.large-instance): instance limit of m5.large, documented
    st1:size=2T, caching none
      file(size=2T, thin): of the documented size, documented
      delay(latency=1ms): latency: an assumption, not documented
      throttle(iops=500, bw=80M, burst_bw=500M, credits=4993219047619ns, unit=1M): disk limit of st1:size=2T, documented
      throttle(iops=3600, bw=81250000, burst_iops=18750, burst_bw=593750000, credits=30m, group=m5.large-instance): instance limit of m5.large, documented
    ");
    assert_snapshot!(told(&composed("n2-standard-8", &["pd-ssd:size=500G", "pd-ssd:size=100G"], &options)), @"
    pd-ssd:size=500G, caching none
      file(size=500G, thin): of the documented size, documented
      delay(latency=1ms): latency: an assumption, not documented
      throttle(iops=24000, bw=528M, group=all-pd-ssd-disks): disk limit of all pd-ssd, documented
      throttle(iops=15000, bw=800M, group=n2-standard-8-instance-pd-ssd): instance limit of n2-standard-8, documented
    pd-ssd:size=100G, caching none
      file(size=100G, thin): of the documented size, documented
      delay(latency=1ms): latency: an assumption, not documented
      throttle(iops=24000, bw=528M, group=all-pd-ssd-disks): disk limit of all pd-ssd, documented
      throttle(iops=15000, bw=800M, group=n2-standard-8-instance-pd-ssd): instance limit of n2-standard-8, documented
    ");
    assert_snapshot!(told(&composed("", &["gp2:size=100G"], &CloudOptions { credits: 0.0, ..options })), @"
    gp2:size=100G, caching none
      file(size=100G, thin): of the documented size, documented
      delay(latency=1ms): latency: an assumption, not documented
      throttle(iops=300, bw=128M, unit=256k): disk limit of gp2:size=100G, documented
    ");
}

#[test]
fn what_cannot_be_made_is_refused() {
    let refused = |disk: &str, size_bytes| {
        let options = CloudOptions { size_bytes, ..CloudOptions::default() };
        made("DS1_v2", &[disk], &options).unwrap_err().to_string()
    };
    assert_snapshot!(refused("P10:caching=readwrite", None), @"P10:caching=readwrite: a cache that holds writes back is not modelled: use readonly or none");
    assert_snapshot!(refused("P10", Some(0)), @"P10: a disk of no size holds nothing");
    assert_snapshot!(refused("P10", Some(1000)), @"P10: its size must be a multiple of 4k");
    let refused_local = |vm: &str, asked: &[&str]| {
        made(vm, asked, &CloudOptions::default()).unwrap_err().to_string()
    };
    assert_snapshot!(refused_local("E16s_v5", &["local"]), @"local of Standard_E16s_v5: no such storage of its host is in the catalog");
    assert_snapshot!(refused_local("r6id.4xlarge", &["nvme"]), @"nvme of r6id.4xlarge: no such storage of its host is in the catalog");
    assert_snapshot!(refused_local("L8s_v3", &["local"]), @"local of Standard_L8s_v3: it has a temporary disk and NVMe disks: write temporary or nvme");
    assert_snapshot!(refused_local("E16d_v5", &["local"; 2]), @"temporary disk of Standard_E16d_v5: the size has fewer of them");
    assert_snapshot!(refused("premium-v2", None), @"premium-v2: its name gives no size: say one, as in size=4G");
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
            let open = open_in(&stack, Path::new(""), 1, clock).unwrap();
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
fn full_credits_are_the_documented_number() {
    let credits = |disk: &str| {
        let disks = composed("", &[disk], &CloudOptions::default());
        let text = disks[0].stack().to_string();
        let throttle = text.split(" + ").last().unwrap();
        throttle.to_owned()
    };
    // 5,400,000 I/Os beyond the sustained rate: of 3000 a second for 30 minutes, and of 2700.
    assert_snapshot!(credits("P10"), @"throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000, credits=30m, unit=256k)");
    assert_snapshot!(credits("gp2:size=100G"), @"throttle(iops=300, bw=128M, burst_iops=3000, credits=2000s, unit=256k)");
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
