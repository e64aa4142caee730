//! Stacks: layers from bottom to top, `file(size=2G) + aes + aes`.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Layers from bottom (the base, where bytes live) to top (what the load sees).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Never empty; the first one is a base.
    pub layers: Vec<Layer>,
}

/// One thing in the path that can cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "layer", rename_all = "snake_case")]
pub enum Layer {
    /// Memory.
    Mem {
        /// Size of the disk.
        size_bytes: u64,
    },
    /// A file; without a path iotax's own in the working directory, which vanishes.
    File {
        /// Where the bytes live.
        path: Option<PathBuf>,
        /// Size of the disk.
        size_bytes: u64,
        /// Sparse and never filled, so that it may be larger than the file system below.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        thin: bool,
    },
    /// AES-XTS encryption.
    Aes {
        /// Strength in bits: 256.
        key_bits: u32,
        /// Encryption sector: 512 or 4096.
        sector_bytes: u32,
    },
    /// A hop through a work queue.
    Queue {
        /// Worker threads.
        workers: u32,
    },
    /// Added latency.
    Delay {
        /// Mean.
        latency_ns: u64,
        /// Uniform spread around the mean, plus or minus.
        jitter_ns: u64,
    },
    /// Token buckets.
    Throttle(Throttle),
    /// A device that saturates.
    Flash(Flash),
    /// Read cache, write-through.
    Cache {
        /// Capacity.
        size_bytes: u64,
    },
    /// A read cache of any size, which holds no data: its hits are free below.
    Tier {
        /// Capacity.
        size_bytes: u64,
    },
    /// Deliberate faults.
    Fault(Fault),
    /// A directory of the user's.
    Dir {
        /// Where test files go.
        path: PathBuf,
    },
    /// A block device of the user's, whose content is lost.
    Dev {
        /// Its node.
        path: PathBuf,
    },
    /// A file system in memory.
    Tmpfs {
        /// Capacity.
        size_bytes: u64,
    },
    /// A directory of a file server.
    Nfs(Nfs),
    /// A virtual disk, mounted through FUSE.
    Vdisk {
        /// Its in-process layers.
        stack: Stack,
    },
    /// A loop device: makes a block device of a file.
    Loop {
        /// Whether the page cache below is bypassed.
        direct: bool,
    },
    /// LUKS, served by a storage daemon as a hypervisor does it.
    Luks {
        /// Strength of AES-XTS in bits: 128 or 256 (two such keys).
        key_bits: u32,
    },
    /// Device mapper's encryption.
    Dmcrypt(Dmcrypt),
    /// A file system on a block device.
    FileSystem(FileSystem),
    /// Encryption of files by the file system itself.
    Fscrypt,
    /// Encryption of files by a FUSE program.
    Gocryptfs {
        /// Its cipher, by the word of stack text.
        cipher: String,
    },
    /// The kernel's I/O limits for a group of processes.
    CgroupIo(CgroupIo),
}

/// A file server's export and how it is mounted; absent means the client's default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Nfs {
    /// Host name or address.
    pub server: String,
    /// Path on the server.
    pub export: String,
    /// Protocol version, e.g. `4.1`.
    pub vers: Option<String>,
    /// Security mode: `sys`, `krb5`, `krb5i` or `krb5p`.
    pub sec: Option<String>,
    /// Connections.
    pub nconnect: Option<u32>,
    /// Bytes per READ.
    pub rsize_bytes: Option<u64>,
    /// Bytes per WRITE.
    pub wsize_bytes: Option<u64>,
}

/// Device mapper's encryption, with the flags of its table line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags of dm-crypt, independent of each other"
)]
pub struct Dmcrypt {
    /// `plain` or `luks2`.
    pub format: String,
    /// As in the kernel: `aes-xts-plain64`.
    pub cipher: String,
    /// Length of the key in bits, as cryptsetup counts it.
    pub key_bits: u32,
    /// Encryption sector: 512 to 4096.
    pub sector_bytes: u32,
    /// Decrypts in the context that completes the read.
    pub no_read_workqueue: bool,
    /// Encrypts in the context that submits the write.
    pub no_write_workqueue: bool,
    /// Encrypts on the CPU that submits the I/O.
    pub same_cpu_crypt: bool,
    /// Writes are submitted by the thread that encrypted them.
    pub submit_from_crypt_cpus: bool,
}

/// A file system on a block device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Which one.
    pub kind: FileSystemKind,
    /// Made with support for [`Layer::Fscrypt`]; `ext4` only.
    pub encrypt: bool,
    /// Further arguments of mkfs, separated by spaces.
    pub mkfs: Option<String>,
    /// Mount options, separated by commas.
    pub mount: Option<String>,
}

/// File systems that can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSystemKind {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
}

impl FileSystemKind {
    /// The kernel's word for it, which is also the one in stack text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }
}

/// I/O limits of a cgroup; absent means unlimited.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CgroupIo {
    /// Reads per second.
    pub read_iops: Option<u64>,
    /// Writes per second.
    pub write_iops: Option<u64>,
    /// Bytes read per second.
    pub read_bw_bytes: Option<u64>,
    /// Bytes written per second.
    pub write_bw_bytes: Option<u64>,
}

/// Token-bucket limits; absent means unlimited.
///
/// Each limit with a burst is one bucket: it drains at the burst rate, refills at the sustained
/// rate, and a full one (all start full) holds `(burst - sustained) * credits` tokens. So credits
/// are a *duration*, as providers document theirs ("30 minutes at the maximum burst rate"), and
/// one value serves I/Os and bytes alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Throttle {
    /// Sustained I/Os per second.
    pub iops: Option<f64>,
    /// Sustained bytes per second.
    pub bw_bytes: Option<f64>,
    /// I/Os per second while credits last.
    pub burst_iops: Option<f64>,
    /// Bytes per second while credits last.
    pub burst_bw_bytes: Option<f64>,
    /// How long a full bucket pays for full burst, in nanoseconds. Given exactly when there is a
    /// burst rate.
    pub credits_ns: Option<u64>,
    /// An I/O counts as one for each unit of this many bytes that it has or begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_unit_bytes: Option<u64>,
    /// Which I/Os are limited.
    #[serde(default, skip_serializing_if = "Counts::is_both")]
    pub counts: Counts,
    /// Throttles of one group share one bucket.
    pub group: Option<String>,
}

/// Which I/Os a limit counts; others pass it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// Reads and writes.
    #[default]
    Both,
    /// Reads alone.
    Reads,
    /// Writes alone.
    Writes,
}

impl Counts {
    /// The word in stack text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }

    pub(crate) fn named(word: &str) -> Option<Self> {
        [Self::Both, Self::Reads, Self::Writes].into_iter().find(|counts| counts.name() == word)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    const fn is_both(&self) -> bool {
        matches!(self, Self::Both)
    }
}

/// A device with a few channels, each of which does one I/O at a time in `latency + bytes / bw`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flash {
    /// I/Os served side by side.
    pub channels: u32,
    /// Mean service time of an I/O without bytes.
    pub latency_ns: u64,
    /// Bytes per second that one channel moves.
    pub bw_bytes: f64,
    /// Uniform spread of service times, plus or minus.
    pub jitter_ns: u64,
}

/// Deliberate faults; probabilities in 0..=1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fault {
    /// Share of I/Os that fail with EIO.
    pub eio: f64,
    /// I/Os that succeed before the first fault of any kind.
    pub after_ios: u64,
    /// Share of reads that return fewer bytes.
    pub short: f64,
    /// Share of I/Os that stall.
    pub stall: f64,
    /// Length of a stall.
    pub stall_ns: u64,
}

impl Layer {
    /// The word that names the layer in stack text.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Mem { .. } => "mem",
            Self::File { .. } => "file",
            Self::Aes { .. } => "aes",
            Self::Queue { .. } => "queue",
            Self::Delay { .. } => "delay",
            Self::Throttle(_) => "throttle",
            Self::Flash(_) => "flash",
            Self::Cache { .. } => "cache",
            Self::Tier { .. } => "tier",
            Self::Fault(_) => "fault",
            Self::Dir { .. } => "dir",
            Self::Dev { .. } => "dev",
            Self::Tmpfs { .. } => "tmpfs",
            Self::Nfs(_) => "nfs",
            Self::Vdisk { .. } => "vdisk",
            Self::Loop { .. } => "loop",
            Self::Luks { .. } => "luks",
            Self::Dmcrypt(_) => "dmcrypt",
            Self::FileSystem(file_system) => file_system.kind.name(),
            Self::Fscrypt => "fscrypt",
            Self::Gocryptfs { .. } => "gocryptfs",
            Self::CgroupIo(_) => "cgroup-io",
        }
    }

    /// Whether bytes live in this layer; a base is at the bottom and cannot be taken off.
    pub fn is_base(&self) -> bool {
        self.info().takes.is_empty()
    }

    /// Whether the layer only turns what is below into another form: a file into a block device,
    /// a block device into a directory. Without it the load could not be the same, so a peel
    /// keeps it.
    pub(crate) const fn is_carrier(&self) -> bool {
        matches!(self, Self::Loop { .. } | Self::FileSystem(_))
    }

    /// Whether the layer can be taken off a stack.
    pub(crate) fn is_optional(&self) -> bool {
        !self.is_base() && !self.is_carrier()
    }
}

/// What an arm drives load at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A directory, a file or a block device; which one is found out on the machine.
    Path(PathBuf),
    /// A stack of layers, in this process or of the system.
    Stack(Stack),
    /// Results that fio or `DiskSpd` has written: nothing is driven, they are read.
    Results(Vec<PathBuf>),
}

impl Target {
    /// Whether it is a stack with layers of the system.
    pub fn is_in_system(&self) -> bool {
        matches!(self, Self::Stack(stack) if !stack.is_in_process())
    }

    /// Whether it is results that exist already.
    pub(crate) const fn is_results(&self) -> bool {
        matches!(self, Self::Results(_))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Stack(stack) => stack.fmt(f),
            Self::Results(files) => {
                let names: Vec<String> =
                    files.iter().map(|file| file.display().to_string()).collect();
                write!(f, "{}", names.join(","))
            }
        }
    }
}
