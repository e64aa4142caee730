//! A machine of which every text is the same word.

use iotax_record::machine::{
    Confidential, Conntrack, ControlGroups, Counting, CpuThrottling, Crypt, Device, DeviceKind,
    EncryptingInterface, GroupIoLimits, GroupMemory, Interface, InterfaceCounters, KernelSettings,
    Listener, LoopFile, MappedTarget, Mapping, MemorySeen, MountSeen, NetworkPath, NetworkSeen,
    NfsSeen, NfsTransport, Node, Offloads, PathKind, PathProbe, PathSeen, Qdisc, Queue, RaidSeen,
    Ring, Route, SeenLayer, Softnet, Swap, TcpSettings, Unseen, UsedAs, WritebackSettings, ZfsSeen,
    ZfsVdev,
};
use iotax_record::{CloudDisk, CloudInstance, Environment, Machine};

use super::full::{some, t};

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
        nodes: [
            SeenLayer::Mount(mount()),
            SeenLayer::Device(device()),
            SeenLayer::Route(route()),
            SeenLayer::Interface(interface()),
        ]
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
        network: Some(network()),
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
        listener: Some(Listener {
            program: t(),
            threads: Some(1),
            cpu_ms: Some(1),
            age_ms: Some(1),
        }),
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
        zfs: Some(ZfsSeen {
            record_bytes: Some(1),
            primary_cache: some(),
            sync: some(),
            compression: some(),
            special_small_bytes: Some(1),
            ashift: Some(1),
            vdevs: vec![ZfsVdev { role: t(), kind: t(), devices: 1, rotates: Some(true) }],
        }),
        contents: some(),
    }
}

fn route() -> Route {
    Route {
        destination: t(),
        gateway: some(),
        source: some(),
        mtu_bytes: Some(1),
        ipsec: Some(true),
        probe: Some(PathProbe {
            arrived_bytes: Some(1),
            lost_bytes: Some(1),
            known_mtu_bytes: Some(1),
            rtt_ns: Some(1),
        }),
    }
}

fn interface() -> Interface {
    Interface {
        name: t(),
        kind: some(),
        served_by: some(),
        driver: some(),
        state: some(),
        mtu_bytes: Some(1),
        overhead_bytes: Some(1),
        speed_mbit: Some(1),
        receive_queues: Some(1),
        transmit_queues: Some(1),
        spread_by_software: Some(true),
        is_pair_elsewhere: true,
        offloads: Offloads::default(),
        ring: Some(Ring::default()),
        qdiscs: vec![Qdisc {
            kind: t(),
            handle: t(),
            rate_bytes_per_s: Some(1.0),
            delay_us: Some(1.0),
            loss_share: Some(1.0),
            packets: 1,
            drops: 1,
            overlimits: 1,
        }],
        counters: InterfaceCounters::default(),
        while_watched: Some(InterfaceCounters::default()),
    }
}

fn network() -> NetworkSeen {
    NetworkSeen {
        namespace: some(),
        encrypting: vec![EncryptingInterface { interface: t(), plugin: some() }],
        softnet: Softnet::default(),
        softnet_while_watched: Some(Softnet::default()),
        conntrack: Some(Conntrack::default()),
        tcp: TcpSettings {
            congestion_control: some(),
            most_receive_bytes: Some(1),
            most_send_bytes: Some(1),
            mtu_probing: Some(1),
            window_scaling: Some(true),
        },
        kernel_wireguard: Some(true),
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
        raid: Some(RaidSeen {
            members: Some(1),
            missing: Some(1),
            action: some(),
            bitmap: some(),
            policy: some(),
            stripe_cache: Some(1),
            threads: Some(1),
        }),
        ebs: None,
        virtio_access_platform: Some(true),
        interrupts_per_cpu: vec![1],
    }
}

fn queue() -> Queue {
    Queue {
        rotational: Some(true),
        zoned: some(),
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

pub(super) fn environment() -> Environment {
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

pub(super) fn instance() -> CloudInstance {
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
