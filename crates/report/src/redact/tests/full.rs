//! A record in which every field says something: a new field of the format does not compile until
//! it stands here, too, and then needs a rule.

use iotax_record::machine::{
    Confidential, ControlGroups, Counting, CpuThrottling, Crypt, Device, DeviceKind, GroupIoLimits,
    GroupMemory, KernelSettings, LoopFile, MappedTarget, Mapping, MemorySeen, MountSeen,
    NetworkPath, NfsSeen, NfsTransport, Node, PathKind, PathSeen, Queue, SeenLayer, Swap, Unseen,
    UsedAs, WritebackSettings,
};
use iotax_record::{
    CloudDisk, CloudInstance, Counters, DeviceCounters, DirectionRecord, Environment, Experiment,
    HostRecord, HostRole, JobRecord, LatencyHistogram, LoadRecord, Machine, NamedSite, NfsCounters,
    NfsOperation, OperationRecord, Outcome, Pressure, Site, Slow, SystemCounters, Trial,
};
use iotax_spec::layers::{
    CgroupIo, Dev, Dir, Dmcrypt, File, FileSystem, FileSystemKind, Gocryptfs, Nfs, Throttle, Vdisk,
};
use iotax_spec::{
    Arm, BlockSizes, Bound, CloudChoice, Design, DiskRole, Driver, Engine, Files, FioOption,
    Fitted, IndexLoads, Job, KnownLimit, Layer, NamedTarget, Operation, OperationShare, Pace,
    Pattern, Requirement, SideRuns, Spec, Stack, Stop, StopMode, Target, Think, Tree, Workload,
    Yields,
};

/// A text, to be replaced by others.
const T: &str = "text";

fn t() -> String {
    T.to_owned()
}

#[expect(clippy::unnecessary_wraps, reason = "as the fields are")]
fn some() -> Option<String> {
    Some(t())
}

pub(super) fn experiment() -> Experiment {
    Experiment {
        format: 1,
        id: some(),
        iotax_version: t(),
        started: t(),
        command: vec![t()],
        spec: spec(),
        hosts: vec![HostRecord {
            id: some(),
            role: HostRole::Agent,
            environment: environment(),
            generator_ns_per_io: Some(1.0),
            machine: Some(Box::new(machine())),
            instance: Some(instance()),
        }],
        sites: vec![Site {
            kind: t(),
            target: t(),
            file_system: some(),
            device: some(),
            device_model: some(),
            device_id: some(),
            host: 0,
            direct: Some(true),
            has_device: true,
            storage_id: t(),
            notes: vec![t()],
            caches: vec![t()],
            known: vec![KnownLimit { scope: t(), of: t(), iops: None, bw_bytes: None }],
            targets: vec![NamedSite { name: t(), site: Site::default() }],
        }],
    }
}

fn environment() -> Environment {
    Environment {
        host: some(),
        os: some(),
        kernel: some(),
        cpu_model: some(),
        cpus: 1,
        cpu_aes: Some(true),
        cpu_governor: some(),
        memory_bytes: Some(1),
        memory_copy_bytes_per_s: Some(1.0),
        hypervisor: some(),
        load_average: Some(1.0),
        cgroup_cpus: Some(1.0),
    }
}

fn instance() -> CloudInstance {
    CloudInstance {
        cloud: t(),
        vm: t(),
        region: some(),
        disks: vec![CloudDisk {
            name: some(),
            lun: Some(1),
            kind: some(),
            tier: some(),
            caching: some(),
            size_bytes: Some(1),
            is_os: true,
            is_ephemeral: Some(true),
            is_guest_encrypted: Some(true),
            targets: vec![0],
        }],
        encryption_at_host: Some(true),
        security_type: some(),
        temporary_disk_bytes: Some(1),
    }
}

fn spec() -> Spec {
    let stop = Stop {
        mode: StopMode::Default,
        margin: 0.1,
        alpha: 0.1,
        simultaneous: true,
        max_blocks: 1,
        min_blocks: 1,
        max_time_ns: Some(1),
    };
    let stack = Target::Stack(Stack { layers: layers() });
    let several = Target::Several(vec![NamedTarget { name: t(), target: Target::Path(T.into()) }]);
    let targets = [Target::Path(T.into()), Target::Results(vec![T.into()]), stack, several];
    Spec {
        workload: workload(),
        then: vec![workload()],
        suite: some(),
        arms: targets.map(arm).into(),
        design: Design::Peel { layers: vec![t()], masks: vec![1] },
        stop,
        seed: 1,
        cloud: CloudChoice {
            vm: some(),
            variant: some(),
            caching: some(),
            disks: vec![t()],
            roles: vec![DiskRole::Os],
            encryption_at_host: Some(true),
        },
        fail_if: vec![rule()],
        side_runs: SideRuns {
            depth_check: true,
            below_cap: true,
            precondition: true,
            drain_ns: Some(1),
        },
        fitted: Some(Fitted {
            arm: 1,
            free_bytes: 1,
            from_bytes: 1,
            to_bytes: 1,
            scale: Some(0.5),
        }),
    }
}

/// Those that hold a text; the others are numbers.
fn layers() -> Vec<Layer> {
    let nfs = Nfs {
        server: t(),
        export: t(),
        vers: some(),
        sec: some(),
        nconnect: Some(1),
        rsize_bytes: Some(1),
        wsize_bytes: Some(1),
    };
    let dmcrypt = Dmcrypt {
        format: t(),
        cipher: t(),
        key_bits: 1,
        sector_bytes: 1,
        no_read_workqueue: true,
        no_write_workqueue: true,
        same_cpu_crypt: true,
        submit_from_crypt_cpus: true,
    };
    let kind = FileSystemKind::Ext4;
    vec![
        Layer::File(File { path: Some(T.into()), size_bytes: 1, thin: true }),
        Layer::Dir(Dir { path: T.into() }),
        Layer::Dev(Dev { path: T.into() }),
        Layer::Nfs(nfs),
        Layer::Dmcrypt(dmcrypt),
        Layer::FileSystem(FileSystem { kind, encrypt: true, mkfs: some(), mount: some() }),
        Layer::Gocryptfs(Gocryptfs { cipher: t() }),
        Layer::CgroupIo(CgroupIo::default()),
        Layer::Throttle(Throttle { group: some(), ..Throttle::default() }),
        Layer::Vdisk(Vdisk { stack: Stack { layers: vec![Layer::Dev(Dev { path: T.into() })] } }),
    ]
}

fn arm(target: Target) -> Arm {
    let levels = vec![iotax_spec::Setting { factor: t(), level: t() }];
    Arm { name: t(), target, driver: Driver::Fio, part: some(), levels }
}

fn rule() -> iotax_spec::Rule {
    iotax_spec::Rule::parse(&format!("{}: {} iops < 1", t(), t())).expect("a rule")
}

fn workload() -> Workload {
    Workload {
        name: t(),
        about: t(),
        ramp_ns: 1,
        time_ns: 1,
        jobs: vec![job()],
        index: Some(IndexLoads {
            versions_per_second: 1.0,
            index_bytes: 1,
            slow_load_ns: 1,
            queries_per_second: 1.0,
            query_bytes: 1,
        }),
        primary: t(),
        requires: Some(Requirement { rule: rule(), source: t() }),
        origin: some(),
        notes: vec![t()],
        yields: Some(Yields::Spans),
    }
}

fn job() -> Job {
    Job {
        name: t(),
        target: some(),
        engine: Engine::Psync,
        threads: 1,
        queue_depth: 1,
        read_percent: 50,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Fixed(4096),
        files: Files::Shared(t()),
        size_bytes: 1 << 20,
        pace: Pace::Closed,
        bound: Bound::Time,
        start_delay_ns: 1,
        end_after_ns: Some(1),
        direct: false,
        invalidate: true,
        fsync_every: Some(1),
        end_fsync: true,
        verify: true,
        sqpoll: true,
        engine_asked: true,
        advise: true,
        align_bytes: Some(1),
        offset_bytes: 1,
        write_through: true,
        think: Some(Think { time_ns: 1, after_ios: 1 }),
        cpus: vec![1],
        files_per_thread: 2,
        uncached: true,
        fresh: true,
        least_threads: Some(1),
        pre_read: true,
        ends_all: true,
        submit_batch: Some(1),
        tree: Some(Tree {
            files: 1,
            files_per_directory: 1,
            file_bytes: 1,
            operations: vec![OperationShare { operation: Operation::Stat, weight: 1 }],
        }),
        fio: vec![FioOption { name: t(), value: some(), place: t(), beyond: some() }],
    }
}

pub(super) fn machine() -> Machine {
    Machine {
        format: 1,
        note: some(),
        iotax_version: t(),
        taken: t(),
        environment: environment(),
        paths: vec![PathSeen {
            path: t(),
            shell: some(),
            kind: Some(PathKind::Directory),
            size_bytes: Some(1),
            directory: some(),
            top: Some(0),
            problem: some(),
        }],
        nodes: [SeenLayer::Mount(mount()), SeenLayer::Device(device())]
            .map(|layer| Node { layer, below: vec![1] })
            .into(),
        groups: groups(),
        memory: MemorySeen {
            available_bytes: Some(1),
            writeback: WritebackSettings::default(),
            dirty_bytes: Some(1),
            being_written_bytes: Some(1),
            dirty_threshold_bytes: Some(1),
            file_refaults: Some(1),
            pressure: None,
            io_pressure: None,
            swaps: vec![Swap { path: t(), size_bytes: 1, used_bytes: 1 }],
        },
        counting: Counting { up_s: Some(1), watched_ms: Some(1), more_file_refaults: Some(1) },
        confidential: Confidential { kind: some(), seen_in: some(), swiotlb: None, log: vec![t()] },
        kernel: KernelSettings {
            nvme_timeout_s: Some(1),
            nvme_sleep_latency_us: Some(1),
            crypt_max_read_bytes: Some(1),
            crypt_max_write_bytes: Some(1),
            nfs_most_slots: Some(1),
            nfs_session_slots: Some(1),
            xts_driver: some(),
        },
        cloud: Some(instance()),
        unseen: vec![Unseen { what: t(), how: t() }],
    }
}

fn mount() -> MountSeen {
    let network = NetworkPath {
        server: t(),
        interface: t(),
        mtu_bytes: Some(1),
        kind: some(),
        ipsec: Some(true),
    };
    MountSeen {
        mount_point: t(),
        file_system: t(),
        source: t(),
        options: t(),
        super_options: t(),
        features: vec![t()],
        read_ahead_bytes: Some(1),
        number: some(),
        nfs: Some(NfsSeen {
            options: t(),
            transports: vec![NfsTransport { protocol: t(), most_slots: Some(1) }],
            operations: 1,
            transmissions: 1,
            major_timeouts: 1,
            age_s: Some(1),
            sent_again_while_watched: Some(1),
            network: Some(network),
        }),
    }
}

fn device() -> Device {
    let crypt = Crypt { cipher: t(), flags: vec![t()], sector_bytes: 1, integrity: some() };
    let target = MappedTarget { kind: t(), version: some(), parameters: t(), crypt: Some(crypt) };
    Device {
        name: t(),
        number: t(),
        kind: DeviceKind::Mapped,
        model: some(),
        size_bytes: 1,
        transport: some(),
        used_as: Some(UsedAs::Os),
        queue: queue(),
        mapping: Some(Mapping { name: t(), maker: some(), targets: Some(vec![target]) }),
        loop_file: Some(LoopFile { path: t(), is_direct: Some(true) }),
        raid_level: some(),
        stripe_bytes: Some(1),
        ebs: None,
        virtio_access_platform: Some(true),
        interrupts_per_cpu: vec![1],
    }
}

fn queue() -> Queue {
    Queue {
        rotational: Some(true),
        logical_block_bytes: Some(1),
        physical_block_bytes: Some(1),
        scheduler: some(),
        requests: Some(1),
        depth: Some(1),
        hardware_queues: Some(1),
        read_ahead_bytes: Some(1),
        max_io_bytes: Some(1),
        max_hardware_io_bytes: Some(1),
        no_merges: Some(1),
        completion_affinity: Some(1),
        write_cache: some(),
        forced_unit_access: Some(true),
        discard_max_bytes: Some(1),
        timeout_ms: Some(1),
        writeback_throttling_us: Some(1),
    }
}

fn groups() -> ControlGroups {
    ControlGroups {
        version: some(),
        io: vec![GroupIoLimits {
            group: t(),
            file: t(),
            path: t(),
            read_iops: Some(1.0),
            write_iops: Some(1.0),
            read_bw_bytes: Some(1.0),
            write_bw_bytes: Some(1.0),
        }],
        cpu: Some(CpuThrottling {
            group: t(),
            file: t(),
            cpus: Some(1.0),
            periods: 1,
            throttled_periods: 1,
            throttled_us: 1,
        }),
        memory: Some(GroupMemory {
            group: t(),
            directory: t(),
            max_bytes: Some(1),
            high_bytes: Some(1),
            current_bytes: Some(1),
            page_cache_bytes: Some(1),
            file_refaults: Some(1),
            pressure: None,
        }),
        io_pressure: None,
    }
}

/// Trials of each outcome that says something.
pub(super) fn trials() -> [Trial; 2] {
    let outcomes = [Outcome::Degraded { reasons: vec![t()] }, Outcome::Failed { error: t() }];
    outcomes.map(|outcome| Trial {
        block: 0,
        slot: 0,
        arm: t(),
        phase: 0,
        started_ns: 1,
        switch_ns: 1,
        outcome,
        load: Some(load()),
        counters: Some(counters()),
    })
}

fn load() -> LoadRecord {
    LoadRecord {
        driver: t(),
        window_ns: 1,
        jobs: vec![job_record()],
        operations: vec![operation()],
        system: SystemCounters::default(),
        warnings: vec![t()],
    }
}

fn job_record() -> JobRecord {
    JobRecord {
        name: t(),
        engine: t(),
        threads: 1,
        queue_depth: 1,
        active_ns: 1,
        read: DirectionRecord::default(),
        write: DirectionRecord::default(),
        both: None,
        sync: LatencyHistogram::new(),
        sync_summary: None,
        cpu_user_ns: 1,
        cpu_system_ns: 1,
        minor_faults: 1,
        major_faults: 1,
        context_switches: 1,
        offered_ios: Some(1),
        max_slip_ns: 1,
        in_flight_io_ns: 1,
        verify_mismatches: Some(1),
        first_error: some(),
        operations: vec![operation()],
    }
}

fn operation() -> OperationRecord {
    OperationRecord {
        name: t(),
        latency: LatencyHistogram::new(),
        errors: 1,
        first_error: some(),
        slow: Some(Slow { above_ns: 1, count: 1 }),
        waited: Some(1),
    }
}

fn counters() -> Counters {
    let operation = NfsOperation { name: t(), counters: Box::default() };
    Counters {
        at_ns: vec![1],
        window_ns: Some([1, 2]),
        devices: vec![DeviceCounters {
            name: t(),
            model: some(),
            targets: vec![t()],
            counters: Box::default(),
        }],
        cpu_ticks: None,
        ticks_per_s: 1,
        pressure: Pressure::default(),
        memory: None,
        nfs: vec![NfsCounters { mount_point: t(), source: t(), operations: vec![operation] }],
        sampler_cpu_ns: 1,
        throttled_us: None,
    }
}
