//! What measurements point to: made-up trials with made-up counters, each with one cause.

use iotax_diagnose::{Confidence, Suspect, of_arms};
use iotax_experiment::{BlockSizes, Design, Engine, Job, Pattern, Target};
use iotax_record::machine::{
    ControlGroups, Crypt, Device, DeviceKind, GroupIoLimits, GroupMemory, LoopFile, MappedTarget,
    Mapping, MountSeen, Node, PathSeen, Queue, SeenLayer,
};
use iotax_record::{
    Counters, DISK_COUNTERS, DeviceCounters, JobRecord, Machine, MemoryCounters, Series,
};

use crate::confidence;
use crate::support::{BLOCK, Bed, SECOND_NS, SECONDS, disk_site, job, load};

/// A run on a directory on a disk, its counters and what was seen of its machine.
pub(crate) struct Scene {
    pub bed: Bed,
    pub iops: f64,
    pub counters: Counters,
    pub machine: Machine,
    /// Time that CPUs were busy, in nanoseconds.
    pub cpu_busy_ns: Option<u64>,
    /// CPU time of this program, in nanoseconds.
    pub process_cpu_ns: Option<u64>,
    /// Changes of the trial that the counters do not show.
    pub seconds: Option<Vec<u32>>,
    /// So many syncs, each of which took so many nanoseconds.
    pub sync_ns: Option<(u64, u64)>,
    /// Latencies in nanoseconds, and how many I/Os had each.
    pub latencies: Vec<(u64, u64)>,
    /// What a second job wrote.
    pub beside: Option<JobRecord>,
}

impl Scene {
    /// A healthy run: 1,000 reads of 4 KiB per second, and the disk served just these.
    pub(crate) fn healthy() -> Self {
        let mut bed = Bed::new(&[("a", &[])], Design::Single);
        bed.edit(|spec| spec.arms[0].target = Target::Path("/data".into()));
        bed.experiment.sites = vec![disk_site()];
        bed.edit(|spec| {
            let job = &mut spec.phases[0].jobs[0];
            (job.engine, job.direct, job.queue_depth) = (Engine::IoUring, true, 8);
        });
        let iops = 1000.0;
        let counters = Counters {
            at_ns: vec![0, SECONDS * SECOND_NS],
            window_ns: Some([0, SECONDS * SECOND_NS]),
            devices: vec![device("vda", [1000, 8], [0, 0], 1.0)],
            ticks_per_s: 100,
            memory: Some(memory(0, 1_000_000, 0)),
            ..Counters::default()
        };
        let disk = Device {
            name: "vda".to_owned(),
            queue: Queue {
                read_ahead_bytes: Some(128 << 10),
                requests: Some(256),
                max_io_bytes: Some(1 << 20),
                max_hardware_io_bytes: Some(1 << 20),
                rotational: Some(false),
                ..Queue::default()
            },
            ..Device::default()
        };
        let mount = MountSeen {
            mount_point: "/data".to_owned(),
            file_system: "ext4".to_owned(),
            ..MountSeen::default()
        };
        let machine = Machine {
            format: 1,
            paths: vec![PathSeen { path: "/data".to_owned(), top: Some(0), ..PathSeen::default() }],
            nodes: vec![
                Node { layer: SeenLayer::Mount(mount), below: vec![1] },
                Node { layer: SeenLayer::Device(disk), below: Vec::new() },
            ],
            ..Machine::default()
        };
        Self {
            bed,
            iops,
            counters,
            machine,
            cpu_busy_ns: None,
            process_cpu_ns: None,
            seconds: None,
            sync_ns: None,
            latencies: Vec::new(),
            beside: None,
        }
    }

    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Job)) {
        self.bed.edit(|spec| change(&mut spec.phases[0].jobs[0]));
    }

    pub(crate) fn queue(&mut self) -> &mut Queue {
        let Some(SeenLayer::Device(device)) = self.machine.nodes.last_mut().map(|n| &mut n.layer)
        else {
            panic!("the last node is the disk")
        };
        &mut device.queue
    }

    pub(crate) fn suspects(mut self) -> Vec<Suspect> {
        self.bed.experiment.hosts[0].machine = Some(Box::new(self.machine));
        let mut trial = self.bed.trial_with(0, 0, self.iops, 8e9 / self.iops);
        trial.counters = Some(self.counters);
        load(&mut trial).system.cpu_busy_ns = self.cpu_busy_ns;
        load(&mut trial).system.process_cpu_ns = self.process_cpu_ns;
        let record = job(&mut trial);
        if !self.latencies.is_empty() {
            record.read.service.reset();
            self.latencies.iter().for_each(|(ns, ios)| record.read.service.record_many(*ns, *ios));
            record.read.response =
                record.read.response.is_some().then(|| record.read.service.clone());
        }
        if self.bed.experiment.spec.workload().jobs[0].read_percent == 0 {
            std::mem::swap(&mut record.read, &mut record.write);
        }
        let block = self.bed.experiment.spec.workload().jobs[0].block_sizes.max_bytes();
        record.read.bytes = record.read.ios * u64::from(block);
        record.write.bytes = record.write.ios * u64::from(block);
        if let Some(seconds) = self.seconds {
            record.read.per_second_ios = seconds;
        }
        if let Some((count, ns)) = self.sync_ns {
            record.sync.record_many(ns, count);
        }
        if let Some(beside) = self.beside {
            let other = Job { read_percent: 0, ..Job::new(beside.name.clone()) };
            self.bed.edit(|spec| spec.phases[0].jobs.push(other));
            load(&mut trial).jobs.push(beside);
        }
        let analysis = self.bed.analyze(&[trial]);
        let mut causes = of_arms(&self.bed.experiment, &analysis);
        let own = |suspect: &Suspect| suspect.explains.is_some_and(|share| share >= 0.5);
        for suspect in causes.iter().flat_map(|of| &of.suspects) {
            assert!(suspect.confidence < Confidence::Sure || own(suspect), "{suspect:?}");
        }
        causes.pop().map_or_else(Vec::new, |diagnosis| diagnosis.suspects)
    }

    /// How sure the first suspect is, and what it is.
    pub(crate) fn first(self) -> String {
        let named = |first: &Suspect| format!("{} {}", confidence(first.confidence), first.cause);
        self.suspects().first().map_or_else(|| "nothing".to_owned(), named)
    }
}

/// So many reads and writes per second, each of so many sectors, each of which took so long.
pub(crate) fn device(
    name: &str,
    reads: [u64; 2],
    writes: [u64; 2],
    await_ms: f64,
) -> DeviceCounters {
    let mut counters = [0_u64; DISK_COUNTERS];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    let time = |ios: u64| (ios as f64 * SECONDS as f64 * await_ms) as u64;
    for (first, [per_s, sectors]) in [(0, reads), (4, writes)] {
        counters[first] = per_s * SECONDS;
        counters[first + 2] = per_s * SECONDS * sectors;
        counters[first + 3] = time(per_s);
    }
    counters[9] = time(reads[0] + writes[0]).min(1000 * SECONDS);
    counters[10] = time(reads[0] + writes[0]);
    DeviceCounters {
        name: name.to_owned(),
        model: None,
        targets: Vec::new(),
        counters: Box::new(counters.map(|end| [Some(0), Some(end)].into_iter().collect())),
    }
}

/// With so many flushes per second, each of which took so many milliseconds.
pub(crate) fn flushed(mut device: DeviceCounters, per_s: u64, each_ms: u64) -> DeviceCounters {
    let count = |end| [Some(0), Some(end)].into_iter().collect();
    device.counters[15] = count(per_s * SECONDS);
    device.counters[16] = count(per_s * SECONDS * each_ms);
    device
}

pub(crate) fn memory(dirty_pages: u64, threshold_pages: u64, refaults: u64) -> MemoryCounters {
    let steady = |value| -> Series { [Some(value), Some(value)].into_iter().collect() };
    MemoryCounters {
        page_bytes: 4096,
        dirty_pages: steady(dirty_pages),
        dirty_threshold_pages: steady(threshold_pages),
        file_refaults: [Some(0), Some(refaults * SECONDS)].into_iter().collect(),
        ..MemoryCounters::default()
    }
}

#[test]
fn a_healthy_run_points_to_nothing() {
    assert_eq!(Scene::healthy().suspects(), []);
}

#[test]
fn a_cpu_quota_that_was_used_up() {
    let mut scene = Scene::healthy();
    let waited = 3_000_000;
    scene.counters.throttled_us = Some([Some(7), Some(7 + waited)].into_iter().collect());
    assert_eq!(scene.first(), "sure cpu-quota");
    let mut scene = Scene::healthy();
    scene.counters.throttled_us = Some([Some(7), Some(7 + waited / 20)].into_iter().collect());
    assert_eq!(scene.first(), "nothing", "3 % of the time is no cause");
}

#[test]
fn a_short_read_ahead_under_a_mapping() {
    let scene = |window: u64| {
        let mut scene = Scene::healthy();
        scene.edit(|job| {
            (job.engine, job.pattern) = (Engine::Mmap, Pattern::Sequential);
            job.block_sizes = BlockSizes::Fixed(128 << 10);
        });
        scene.queue().read_ahead_bytes = Some(window);
        let requests = (128 << 10) / window.min(128 << 10);
        scene.counters.devices = vec![device("vda", [1000 * requests, window / 512], [0, 0], 0.05)];
        scene.first()
    };
    assert_eq!(scene(8 << 10), "sure read-ahead");
    assert_eq!(scene(128 << 10), "nothing");
}

#[test]
fn the_uppermost_read_ahead_counts() {
    let mut scene = Scene::healthy();
    scene.edit(|job| {
        (job.engine, job.pattern) = (Engine::Mmap, Pattern::Sequential);
        job.block_sizes = BlockSizes::Fixed(128 << 10);
    });
    scene.queue().read_ahead_bytes = Some(8 << 10);
    // A loop device on a file system with a window of its own.
    let below = MountSeen {
        number: Some("0:51".to_owned()),
        read_ahead_bytes: Some(1 << 20),
        ..MountSeen::default()
    };
    scene.machine.nodes[1].below = vec![2];
    scene.machine.nodes.push(Node { layer: SeenLayer::Mount(below), below: Vec::new() });
    scene.counters.devices = vec![device("vda", [16_000, 16], [0, 0], 0.05)];
    assert_eq!(scene.first(), "sure read-ahead");
}

#[test]
fn a_long_read_ahead_of_random_places() {
    let mut scene = Scene::healthy();
    scene.edit(|job| job.engine = Engine::Mmap);
    scene.counters.devices = vec![device("vda", [1000, 256], [0, 0], 6.0)];
    assert_eq!(scene.first(), "sure read-ahead-waste");
}

#[test]
fn writers_that_wait_for_dirty_pages() {
    let scene = |dirty: u64| {
        let mut scene = Scene::healthy();
        scene.edit(|job| {
            (job.engine, job.direct, job.read_percent) = (Engine::Psync, false, 0);
        });
        scene.counters.memory = Some(memory(dirty, 1000, 0));
        scene.counters.devices = vec![device("vda", [0, 0], [500, 8], 1.0)];
        scene.first()
    };
    assert_eq!(scene(800), "sure dirty-throttling");
    assert_eq!(scene(100), "nothing");
}

#[test]
fn pages_that_are_read_again() {
    let scene = |group: Option<GroupMemory>| {
        let mut scene = Scene::healthy();
        scene.edit(|job| {
            (job.engine, job.direct) = (Engine::Psync, false);
        });
        scene.counters.memory = Some(memory(0, 1000, 800));
        scene.counters.devices = vec![device("vda", [1000, 8], [0, 0], 6.0)];
        scene.machine.groups = ControlGroups { memory: group, ..ControlGroups::default() };
        scene.first()
    };
    assert_eq!(scene(None), "likely page-cache-thrash");
    let group = GroupMemory { max_bytes: Some(1 << 26), ..GroupMemory::default() };
    assert_eq!(scene(Some(group)), "likely cgroup-memory");
}

#[test]
fn a_group_at_its_limit() {
    let scene = |limit: f64| {
        let mut scene = Scene::healthy();
        scene.machine.groups.io = vec![GroupIoLimits {
            group: "/db".to_owned(),
            path: "/data".to_owned(),
            read_iops: Some(limit),
            ..GroupIoLimits::default()
        }];
        scene.first()
    };
    assert_eq!(scene(1020.0), "sure cgroup-io-max");
    assert_eq!(scene(5000.0), "nothing", "a limit that is far above is no cause");
}

#[test]
fn a_disk_that_others_use() {
    let mut scene = Scene::healthy();
    scene.counters.devices = vec![device("vda", [1000, 8], [400, 256], 5.0)];
    assert_eq!(scene.first(), "likely neighbour");
    // Journal and metadata of the program's own writes.
    let mut scene = Scene::healthy();
    scene.edit(|job| job.read_percent = 0);
    scene.counters.devices = vec![device("vda", [0, 0], [2000, 16], 1.0)];
    assert_eq!(scene.first(), "nothing");
}

#[test]
fn a_disk_with_a_file_system_between_it_and_a_loop_device_is_the_lowest() {
    let mut scene = Scene::healthy();
    let device_of = |name: &str| Device { name: name.to_owned(), ..Device::default() };
    let node = |layer, below| Node { layer, below };
    scene.machine.nodes = vec![
        node(SeenLayer::Device(device_of("loop0")), vec![1]),
        node(SeenLayer::Mount(MountSeen::default()), vec![2]),
        node(SeenLayer::Device(device_of("vda")), Vec::new()),
    ];
    let reads = |name: &str| device(name, [1000, 8], [0, 0], 1.0);
    scene.counters.devices = vec![reads("loop0"), reads("vda")];
    assert_eq!(scene.first(), "nothing", "both saw the same reads");
}

#[test]
fn a_loop_device_of_which_no_device_below_is_counted() {
    let scene = |has_disk: bool| {
        let mut scene = Scene::healthy();
        let file = LoopFile { path: "/far/image".to_owned(), is_direct: Some(false) };
        let looped =
            Device { name: "loop0".to_owned(), loop_file: Some(file), ..Device::default() };
        let disk = Device { name: "vda".to_owned(), ..Device::default() };
        let node = |layer, below| Node { layer, below };
        scene.machine.nodes = vec![
            node(SeenLayer::Device(looped), vec![1]),
            node(SeenLayer::Mount(MountSeen::default()), vec![2]),
            node(SeenLayer::Device(disk), Vec::new()),
        ];
        scene.counters.devices = vec![device("loop0", [1000, 8], [0, 0], 1.0)];
        if has_disk {
            scene.counters.devices.push(device("vda", [1000, 8], [0, 0], 1.0));
        } else {
            scene.machine.nodes.truncate(2);
            scene.machine.nodes[1].below.clear();
        }
        scene.first()
    };
    assert_eq!(scene(true), "nothing", "measured, and no time passes there");
    assert_eq!(scene(false), "likely loop-double-caching", "seen, and not measured");
}

#[test]
fn an_arm_that_is_spread_over_disks_is_on_all_of_them() {
    let mut scene = Scene::healthy();
    let disk = |name: &str| {
        let device = Device { name: name.to_owned(), ..Device::default() };
        Node { layer: SeenLayer::Device(device), below: Vec::new() }
    };
    scene.machine.nodes.truncate(1);
    scene.machine.nodes[0].below = vec![1, 2];
    scene.machine.nodes.extend([disk("sda"), disk("sdb")]);
    let half = |name: &str| device(name, [500, 8], [0, 0], 1.0);
    scene.counters.devices = vec![half("sda"), half("sdb")];
    assert_eq!(scene.first(), "nothing");
}

#[test]
fn a_cache_that_answers() {
    let answered = |is_direct| {
        let mut scene = Scene::healthy();
        scene.edit(|job| job.direct = is_direct);
        scene.counters.devices = vec![device("vda", [100, 8], [0, 0], 1.0)];
        scene.first()
    };
    assert_eq!(answered(true), "sure cache-answers");
    // It was asked for, and may be what is to be measured.
    assert_eq!(answered(false), "possible cache-answers");
}

#[test]
fn ios_that_are_cut() {
    let mut scene = Scene::healthy();
    scene.edit(|job| job.block_sizes = BlockSizes::Fixed(128 << 10));
    scene.queue().max_io_bytes = Some(8 << 10);
    scene.counters.devices = vec![device("vda", [16_000, 16], [0, 0], 0.5)];
    assert_eq!(scene.first(), "likely io-split");
}

#[test]
fn a_queue_that_is_too_short() {
    let mut scene = Scene::healthy();
    scene.edit(|job| job.queue_depth = 64);
    scene.queue().requests = Some(4);
    scene.counters.devices = vec![device("vda", [1000, 8], [0, 0], 3.0)];
    assert_eq!(scene.first(), "sure queue-too-short");
}

#[test]
fn credits_that_run_out() {
    let mut scene = Scene::healthy();
    scene.seconds = Some([vec![4000; 8], vec![1000; 12]].concat());
    assert_eq!(scene.first(), "likely burst-spent");
    let mut scene = Scene::healthy();
    scene.seconds = Some((0..20).map(|second| 900 + 10 * second).collect());
    assert_eq!(scene.first(), "nothing", "a slow rise is none");
}

#[test]
fn flushes_that_take_the_time() {
    let mut scene = Scene::healthy();
    scene.sync_ns = Some((400, 10_000_000));
    scene.counters.devices[0] = flushed(scene.counters.devices[0].clone(), 80, 9);
    assert_eq!(scene.first(), "sure flush-bound");
}

#[test]
fn one_io_at_a_time() {
    let mut scene = Scene::healthy();
    scene.edit(|job| job.queue_depth = 1);
    scene.counters.devices = vec![device("vda", [1000, 8], [0, 0], 7.5)];
    assert_eq!(scene.first(), "likely too-little-parallelism");
}

#[test]
fn time_that_passes_in_dm_crypt() {
    let crypt = |flags: &[&str], sector_bytes| {
        let crypt = Crypt {
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            sector_bytes,
            ..Crypt::default()
        };
        let target = MappedTarget {
            kind: "crypt".to_owned(),
            crypt: Some(crypt),
            ..MappedTarget::default()
        };
        Device {
            name: "dm-0".to_owned(),
            kind: DeviceKind::Mapped,
            mapping: Some(Mapping { targets: Some(vec![target]), ..Mapping::default() }),
            ..Device::default()
        }
    };
    let scene = |device_seen: Device, cpu_busy_ns| {
        let mut scene = Scene::healthy();
        let node = Node { layer: SeenLayer::Device(device_seen), below: vec![2] };
        scene.machine.nodes.insert(1, node);
        scene.counters.devices =
            vec![device("dm-0", [1000, 8], [0, 0], 7.9), device("vda", [1000, 8], [0, 0], 0.4)];
        scene.cpu_busy_ns = cpu_busy_ns;
        scene.first()
    };
    // Eight are in flight on two CPUs: of a second, one in ten makes an I/O wait 0.4 ms, all 4 ms.
    let (idle, busy) = (Some(SECONDS * SECOND_NS / 10), Some(SECONDS * SECOND_NS));
    let inline = ["no_read_workqueue", "no_write_workqueue"];
    assert_eq!(scene(crypt(&[], 4096), idle), "sure dm-crypt-workqueues");
    assert_eq!(scene(crypt(&[], 4096), busy), "sure encryption-in-path");
    assert_eq!(scene(crypt(&[], 4096), None), "likely dm-crypt-workqueues");
    assert_eq!(scene(crypt(&inline, 512), idle), "likely dm-crypt-small-sectors");
    assert_eq!(scene(crypt(&inline, 4096), idle), "sure encryption-in-path");
}

#[test]
fn a_mount_that_waits_for_each_change() {
    let with = |options: &str, engine| {
        let mut scene = Scene::healthy();
        let SeenLayer::Mount(mount) = &mut scene.machine.nodes[0].layer else {
            panic!("the mount")
        };
        mount.options = options.to_owned();
        scene.edit(|job| (job.engine, job.read_percent) = (engine, 0));
        scene.edit(|job| job.direct = false);
        scene.counters.devices = vec![device("vda", [0, 0], [2000, 8], 3.0)];
        scene.first()
    };
    assert_eq!(with("rw,sync", Engine::Psync), "sure sync-mount");
    assert_eq!(with("rw,dirsync", Engine::Metadata), "sure sync-mount");
    assert_ne!(with("rw,dirsync", Engine::Psync), "sure sync-mount");
    assert_ne!(with("rw", Engine::Metadata), "sure sync-mount");
}

#[test]
fn what_was_only_seen_is_likely_at_most() {
    let mut scene = Scene::healthy();
    let SeenLayer::Mount(mount) = &mut scene.machine.nodes[0].layer else { panic!("the mount") };
    mount.options = "rw,data=journal".to_owned();
    scene.edit(|job| job.read_percent = 0);
    scene.counters.devices = vec![device("vda", [0, 0], [1000, 8], 1.0)];
    assert_eq!(scene.first(), "likely data-journal");
}

#[test]
fn block_is_what_the_bed_reads() {
    assert_eq!(
        u64::from(Scene::healthy().bed.experiment.spec.workload().jobs[0].block_sizes.max_bytes()),
        BLOCK
    );
}
