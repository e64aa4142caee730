//! A record in which every field says something: a new field of the format does not compile until
//! it stands here, too, and then needs a rule.

use std::path::PathBuf;

use iotax_catalog::{Caching, Direction, Note, Source};
use iotax_experiment::documented::LimitBy;
use iotax_experiment::layers::{
    CgroupIo, Cloud, CloudDisk, CloudDisks, CloudOptions, CloudPart, Dev, Dir, Dmcrypt, File,
    FileSystem, FileSystemKind, Gocryptfs, Nfs, PartLayer, Throttle, Vdisk,
};
use iotax_experiment::plan::Phase;
use iotax_experiment::{
    Arm, Arrivals, BlockSizes, Bound, CloudChoice, Content, Depth, Design, DiskRole, Draft, Driver,
    Engine, Extent, Files, FioLogs, FioOption, Fitted, Flow, HostCommands, IndexLoads, IoPriority,
    Job, KnownLimit, LatencyTarget, Layer, NamedTarget, Numa, NumaMemory, Operation,
    OperationShare, Origin, Pace, Pattern, PriorityClass, PriorityShare, RecordedLoad, Requirement,
    SidePhase, SideRole, SideRuns, Slices, Spec, Stack, Stop, StopMode, Stretches, Target, Think,
    Tree, Trims, Uncut, Workload, Yields, Zone,
};
use iotax_record::{
    Busiest, BusyOne, Counters, DeviceCounters, DirectionRecord, ExperimentHead, FioLatency,
    HostRecord, HostRole, InterfaceCounters, JobRecord, LatencyHistogram, LoadRecord, NamedSite,
    NfsClientCounters, NfsCounters, NfsGranted, NfsOperation, NfsTransportCounters,
    OperationRecord, Outcome, PathEnd, PauseRecord, Placed, Pressure, QdiscCounters, ReplayRecord,
    Site, Slow, SystemCounters, Trial,
};

use super::machine::{environment, instance, machine};

/// A text, to be replaced by others.
const T: &str = "text";

pub(super) fn t() -> String {
    T.to_owned()
}

#[expect(clippy::unnecessary_wraps, reason = "as the fields are")]
pub(super) fn some() -> Option<String> {
    Some(t())
}

pub(super) fn experiment() -> ExperimentHead {
    ExperimentHead {
        cloud: CloudChoice::default(),
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
            io_uring: Some(true),
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
            placed: Some(Placed { cluster: t(), node: some(), zone: some(), class: some() }),
            host: 0,
            direct: Some(true),
            has_device: true,
            storage_id: t(),
            smallest_io_bytes: Some(512),
            mean_latency: Some(FioLatency::Clat),
            notes: vec![t()],
            caches: vec![t()],
            known: vec![KnownLimit {
                by: LimitBy::Shaper(t()),
                of: t(),
                direction: Some(Direction::Read),
                iops: None,
                bw_bytes: None,
            }],
            targets: vec![NamedSite { name: t(), site: Site::default() }],
        }],
    }
}

fn spec() -> Spec {
    let stop = Stop {
        mode: StopMode::Default,
        margin: 0.1,
        alpha: 0.1,
        simultaneous: true,
        max_blocks: 1,
        max_blocks_asked: true,
        min_blocks: 1,
        max_time_ns: Some(1),
    };
    let stack = Target::Stack(Stack { layers: layers() });
    let several = Target::Several(vec![NamedTarget { name: t(), target: Target::Path(T.into()) }]);
    let targets = [Target::Path(T.into()), stack, several];
    Draft {
        hold_ns: Some(1),
        at_once: 2,
        phases: vec![workload(), workload()],
        source: iotax_experiment::Source::SavedResults,
        side_phases: vec![SidePhase { of: 1, role: SideRole::Depth(Depth::Half) }],
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
        undecided: Some(iotax_experiment::rule::UndecidedAs::Pass),
        side_runs: SideRuns {
            depth_check: true,
            below_cap: true,
            precondition: true,
            drain_ns: Some(1),
        },
        unmatched_jobs: 1,
        fitted: Some(Fitted {
            arm: 1,
            free_bytes: 1,
            from_bytes: 1,
            to_bytes: 1,
            scale: Some(0.5),
        }),
    }
    .unchecked()
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
        xprtsec: some(),
        read_ahead_bytes: Some(1),
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
        Layer::Cloud(cloud()),
        Layer::Dir(Dir { path: T.into() }),
        Layer::Dev(Dev { path: T.into() }),
        Layer::Nfs(nfs),
        Layer::Dmcrypt(dmcrypt),
        Layer::FileSystem(FileSystem {
            kind,
            encrypt: true,
            mkfs: some(),
            mount: some(),
            read_ahead_bytes: Some(4096),
        }),
        Layer::Gocryptfs(Gocryptfs { cipher: t() }),
        Layer::CgroupIo(CgroupIo::default()),
        Layer::Throttle(Throttle { group: some(), ..Throttle::default() }),
        Layer::Vdisk(Vdisk { stack: Stack { layers: vec![Layer::Dev(Dev { path: T.into() })] } }),
    ]
}

fn cloud() -> Cloud {
    let throttle = Throttle { group: some(), ..Throttle::default() };
    let part = CloudPart {
        layer: PartLayer::Throttle(throttle),
        what: t(),
        sources: vec![Source { text: t(), as_of: t() }],
    };
    Cloud {
        asked: CloudDisks {
            vm: some(),
            variant: some(),
            disks: vec![t()],
            caching: Caching::ReadOnly,
            options: CloudOptions::default(),
        },
        made: CloudDisk {
            name: t(),
            caching: Caching::ReadOnly,
            parts: vec![part],
            notes: vec![t()],
        },
        notes: vec![Note::Tabled(t())],
    }
}

fn arm(target: Target) -> Arm {
    let levels = vec![iotax_experiment::Setting { factor: t(), level: t() }];
    let host_commands = Some(HostCommands { before: t(), after: some(), directory: t().into() });
    Arm {
        name: t(),
        target,
        driver: Driver::Fio,
        part: some(),
        levels,
        against: some(),
        host_commands,
    }
}

fn rule() -> iotax_experiment::Rule {
    iotax_experiment::Rule::parse(&format!("{}: {} iops < 1", t(), t())).expect("a rule")
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
        origin: Some(Origin::Results { tools: vec![t()], are_ours: false }),
        notes: vec![t()],
        yields: Some(Yields::Spans),
        slices: Some(Slices { least_ns: 1, usual: Phase { ramp_ns: 1, time_ns: 1 } }),
    }
}

fn job() -> Job {
    let priority = IoPriority { class: PriorityClass::Idle, level: 1 };
    Job {
        name: t(),
        target: some(),
        engine: Engine::Psync,
        threads: 1,
        queue_depth: 1,
        read_percent: 50,
        pattern: Pattern::Random,
        block_sizes: BlockSizes::Fixed(4096),
        write_block_sizes: Some(BlockSizes::Fixed(8192)),
        write_pattern: Some(Pattern::Zoned(vec![Zone {
            accesses_percent: 100,
            extent: Extent::Rest,
        }])),
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
        zero_copy: true,
        least_threads: Some(1),
        pre_read: true,
        ends_all: true,
        submit_batch: Some(1),
        recording: Some(RecordedLoad {
            path: PathBuf::from(t()),
            hash: t(),
            length_ns: 1,
            threads: 1,
            requests: 0,
            waits_for_syncs: true,
            allow_loss: true,
            arrivals: Arrivals::ByTheClock,
            copies: 2,
            parts: 2,
            uncut: Some(Uncut::Short),
            writes: true,
            device_bytes: Some(1),
            logs: Some(FioLogs { others: vec![PathBuf::from(t())], direct: true, no_stall: true }),
        }),
        tree: Some(Tree {
            files: 1,
            files_per_directory: 1,
            file_bytes: 1,
            operations: vec![OperationShare { operation: Operation::Stat, weight: 1 }],
        }),
        verify_every: Some(1),
        verify_apart: true,
        verify_ends: true,
        trims: Some(Trims::First),
        stretches: Some(Stretches { bytes: 1, range_bytes: 1, skip_bytes: 1 }),
        offset_increment_bytes: 1,
        content: Some(Content { pattern: vec![1], ..Content::default() }),
        latency_target: Some(LatencyTarget {
            target_ns: 1,
            window_ns: 1,
            percentile: 99.0,
            keeps_on: false,
        }),
        flow: Some(Flow { weight: 1, group: 1, sleep_ns: 1 }),
        priority: Some(priority),
        priorities: vec![PriorityShare { reads: true, bytes: Some(1), percent: 1, priority }],
        numa: Some(Numa { cpu_nodes: vec![1], memory: Some(NumaMemory::Local) }),
        fio: vec![FioOption { name: t(), value: some(), place: t(), beyond: some() }],
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
        length: iotax_record::TrialLength::default(),
        started_ns: 1,
        switch_ns: 1,
        outcome,
        load: Some(load()),
        counters: Some(counters()),
    })
}

fn load() -> LoadRecord {
    LoadRecord {
        far_end: None,
        busiest: vec![Busiest {
            end: PathEnd::Near,
            one: BusyOne::Thread { name: t() },
            busy_ns: 1,
        }],
        driver: t(),
        window_ns: 1,
        jobs: vec![job_record()],
        operations: vec![operation()],
        system: SystemCounters::default(),
        paused: Some(PauseRecord::default()),
        replay: Some(ReplayRecord::default()),
        warnings: vec![t()],
    }
}

fn job_record() -> JobRecord {
    JobRecord {
        tcp: None,
        udp: None,
        name: t(),
        engine: t(),
        instead_of: some(),
        threads: 1,
        queue_depth: 1,
        found_depth: Some(1),
        active_ns: 1,
        read: DirectionRecord::default(),
        write: DirectionRecord::default(),
        trim: Some(DirectionRecord::default()),
        both: None,
        sync: LatencyHistogram::new(),
        sync_summary: None,
        cpu_user_ns: 1,
        cpu_system_ns: 1,
        minor_faults: 1,
        major_faults: 1,
        waiting_ns: Some(1),
        cpu_wait_ns: Some(1),
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
        nfs: vec![NfsCounters {
            mount_point: t(),
            source: t(),
            granted: NfsGranted {
                vers: some(),
                sec: some(),
                xprtsec: some(),
                rsize_bytes: Some(1),
                wsize_bytes: Some(1),
                nconnect: Some(1),
            },
            transports: vec![NfsTransportCounters { protocol: t(), counters: Box::default() }],
            operations: vec![operation],
        }],
        nfs_client: Some(NfsClientCounters::default()),
        sampler_cpu_ns: 1,
        throttled_us: None,
        interfaces: vec![InterfaceCounters {
            end: PathEnd::Far,
            name: t(),
            counters: Box::default(),
            qdiscs: vec![QdiscCounters { kind: t(), place: t(), counters: Box::default() }],
        }],
    }
}
