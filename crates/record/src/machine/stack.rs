//! Layers under a path: mounts, block devices, routes, network interfaces.

use serde::{Deserialize, Serialize};

use super::mapped::Mapping;
use super::network::{Interface, Route};
use super::nfs::NfsSeen;
use super::zfs::ZfsSeen;

/// One layer under a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    #[serde(flatten)]
    pub layer: SeenLayer,
    /// The layers it is stacked on: indices in [`super::Machine::nodes`].
    #[serde(default)]
    pub below: Vec<usize>,
}

/// A mount or a device; a route or an interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeenLayer {
    /// A mounted file system.
    Mount(MountSeen),
    Device(Device),
    /// The route to a peer.
    Route(Route),
    Interface(Interface),
}

impl SeenLayer {
    /// The device that it is, if it is one.
    pub const fn device(&self) -> Option<&Device> {
        match self {
            Self::Device(device) => Some(device),
            _ => None,
        }
    }

    /// Mutable [`SeenLayer::device`].
    pub const fn device_mut(&mut self) -> Option<&mut Device> {
        match self {
            Self::Device(device) => Some(device),
            _ => None,
        }
    }

    /// The mount that it is, if it is one.
    pub const fn mount(&self) -> Option<&MountSeen> {
        match self {
            Self::Mount(mount) => Some(mount),
            _ => None,
        }
    }

    /// Mutable [`SeenLayer::mount`].
    pub const fn mount_mut(&mut self) -> Option<&mut MountSeen> {
        match self {
            Self::Mount(mount) => Some(mount),
            _ => None,
        }
    }

    /// The route that it is, if it is one.
    pub const fn route(&self) -> Option<&Route> {
        match self {
            Self::Route(route) => Some(route),
            _ => None,
        }
    }

    /// Mutable [`SeenLayer::route`].
    pub const fn route_mut(&mut self) -> Option<&mut Route> {
        match self {
            Self::Route(route) => Some(route),
            _ => None,
        }
    }

    /// The interface that it is, if it is one.
    pub const fn interface(&self) -> Option<&Interface> {
        match self {
            Self::Interface(interface) => Some(interface),
            _ => None,
        }
    }

    /// Mutable [`SeenLayer::interface`].
    pub const fn interface_mut(&mut self) -> Option<&mut Interface> {
        match self {
            Self::Interface(interface) => Some(interface),
            _ => None,
        }
    }
}

/// A mounted file system, from `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MountSeen {
    pub mount_point: String,
    /// Type: `ext4`, `nfs4`, `fuse.gcsfuse`.
    pub file_system: String,
    /// Its source: a device, `host:/export`, or a word.
    pub source: String,
    /// The mount's own options: `rw,noatime`.
    pub options: String,
    /// The file system's options: `rw,discard,data=ordered`.
    pub super_options: String,
    /// Features from ext4's superblock, as named by `dumpe2fs`; reading it requires root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// Read-ahead of the mount's own backing device if there is no block device below, in bytes:
    /// `/sys/class/bdi/MAJOR:MINOR/read_ahead_kb`.
    pub read_ahead_bytes: Option<u64>,
    /// `MAJOR:MINOR` of its files.
    pub number: Option<String>,
    /// For NFS mounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nfs: Option<NfsSeen>,
    /// For ZFS, if its programs report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zfs: Option<ZfsSeen>,
    /// The file system that a user-space driver mounted: `ntfs`, `exfat`, from udev or the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contents: Option<String>,
}

impl MountSeen {
    /// The value of an option of the mount or its file system; `Some("")` for options without a
    /// value.
    pub fn option(&self, name: &str) -> Option<&str> {
        let options = self.options.split(',').chain(self.super_options.split(','));
        options
            .map(|option| option.split_once('=').unwrap_or((option, "")))
            .find_map(|(key, value)| (key == name).then_some(value))
    }
}

/// Kind of block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A disk, real or virtual, with no layer below that this machine can see.
    #[default]
    Disk,
    Partition,
    /// A device mapper device.
    Mapped,
    /// A software RAID.
    Raid,
    /// A loop device.
    Loop,
    /// A disk in memory.
    Memory,
}

/// Use of a disk in a cloud VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsedAs {
    /// The disk of the operating system.
    Os,
    /// A local disk of the host, lost with the VM.
    Temporary,
    /// A data disk, with its logical unit number if it has one.
    Data {
        /// Logical unit number.
        lun: Option<u32>,
    },
}

/// A block device, from `/sys/block/NAME` or `/sys/class/block/NAME`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// The kernel's name: `nvme0n1`, `dm-0`.
    pub name: String,
    /// `MAJOR:MINOR`.
    pub number: String,
    pub kind: DeviceKind,
    /// Vendor and model according to the disk, or its creator.
    pub model: Option<String>,
    pub size_bytes: u64,
    /// How it is attached: `nvme`, `scsi`, `virtio`, `xen`, `mmc`.
    pub transport: Option<String>,
    /// Its use in a cloud VM.
    pub used_as: Option<UsedAs>,
    /// `queue/`: limits and settings.
    pub queue: Queue,
    /// For device mapper devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Mapping>,
    /// For loop devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_file: Option<LoopFile>,
    /// For software RAIDs: `md/level`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid_level: Option<String>,
    /// For software RAIDs: `md/chunk_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_bytes: Option<u64>,
    /// For software RAIDs: their state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid: Option<RaidSeen>,
    /// For Amazon EBS volumes: log page 0xD0 of their controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ebs: Option<EbsCounters>,
    /// Whether the first feature word has bit 33, `VIRTIO_F_ACCESS_PLATFORM`:
    /// `/sys/bus/virtio/devices/*/features`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtio_access_platform: Option<bool>,
    /// CPUs that handled its interrupts, with counts: `/proc/interrupts`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interrupts_per_cpu: Vec<u64>,
}

/// Settings of a device's queue: the files of `/sys/block/NAME/queue/`, and
/// `/sys/block/NAME/device/queue_depth`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Queue {
    /// `rotational`; many hypervisors always report 1.
    pub rotational: Option<bool>,
    /// `zoned`: `none`, `host-aware`, `host-managed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoned: Option<String>,
    /// `logical_block_size`.
    pub logical_block_bytes: Option<u64>,
    /// `physical_block_size`.
    pub physical_block_bytes: Option<u64>,
    /// The scheduler in use: the word in brackets in `scheduler`.
    pub scheduler: Option<String>,
    /// `nr_requests`.
    pub requests: Option<u64>,
    /// `device/queue_depth`, for SCSI disks.
    pub depth: Option<u64>,
    /// Hardware queues: directories in `mq/`.
    pub hardware_queues: Option<u64>,
    /// `read_ahead_kb`, in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// `max_sectors_kb`, in bytes.
    pub max_io_bytes: Option<u64>,
    /// `max_hw_sectors_kb`, in bytes.
    pub max_hardware_io_bytes: Option<u64>,
    /// `nomerges`: 0 merges, 2 never.
    pub no_merges: Option<u64>,
    /// `rq_affinity`.
    pub completion_affinity: Option<u64>,
    /// `write_cache`: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// `fua`.
    pub forced_unit_access: Option<bool>,
    /// `discard_max_bytes`; 0 if discard is not supported.
    pub discard_max_bytes: Option<u64>,
    /// `io_timeout`, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// `wbt_lat_usec`; 0 is off.
    pub writeback_throttling_us: Option<u64>,
}

/// The file behind a loop device: `loop/`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopFile {
    /// `backing_file`.
    pub path: String,
    /// `dio`: whether the page cache below it is bypassed.
    pub is_direct: Option<bool>,
}

/// Counters of an EBS volume's controller since it was attached: microseconds for which the load
/// exceeded a limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EbsCounters {
    /// The volume's IOPS.
    pub volume_iops_exceeded_us: u64,
    /// The volume's throughput.
    pub volume_throughput_exceeded_us: u64,
    /// The instance's IOPS.
    pub instance_iops_exceeded_us: u64,
    /// The instance's throughput.
    pub instance_throughput_exceeded_us: u64,
    /// I/Os in the queue at the time of reading.
    pub queue_length: u64,
}

/// State of an array, and its background activity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RaidSeen {
    /// `raid_disks`.
    pub members: Option<u64>,
    /// `degraded`: missing members.
    pub missing: Option<u64>,
    /// `sync_action`: `idle`, `resync`, `recover`, `check`, `repair`, `reshape`.
    pub action: Option<String>,
    /// `bitmap/location`: `none`, `file`, or its position on the members, such as `+8`.
    pub bitmap: Option<String>,
    /// `consistency_policy`: `bitmap`, `resync`, `journal`, `ppl`.
    pub policy: Option<String>,
    /// `stripe_cache_size`, for parity levels: entries of one page per member.
    pub stripe_cache: Option<u64>,
    /// `group_thread_cnt`, for parity levels: threads in addition to that of the array.
    pub threads: Option<u64>,
}
