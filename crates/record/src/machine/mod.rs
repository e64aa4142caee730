//! A machine as observed: the layers under some paths, limits on this process, and where it runs.
//!
//! Only facts; other crates interpret them. Each type names the source file of its facts, so that a
//! finding can name file, field and value. `None` and empty lists mean that the system does not
//! report a fact, or that access was denied: [`Machine::unseen`] tells which.
//!
//! | module | facts |
//! |---|---|
//! | `stack` | mounts and block devices under a path, each above those it lies on |
//! | `mapped` | device mapper tables |
//! | `network` | routes to peers, and the interfaces below them |
//! | `nfs` | NFS mounts, and the way to their server |
//! | `raid` | software RAIDs |
//! | `zfs` | datasets of ZFS, and their pool |
//! | `group` | control groups: limits, and what they have cost |
//! | `system` | memory, virtual machine, kernel settings |
//! | `counting` | how long counters have counted |
//! | `file` | a machine in a file of its own |

mod file;
mod group;
mod mapped;
mod network;
mod nfs;
mod stack;
mod system;
mod zfs;

use serde::{Deserialize, Serialize};

pub use group::{ControlGroups, CpuThrottling, GroupIoLimits, GroupMemory};
pub use mapped::{Crypt, MappedTarget, Mapping};
pub use network::{
    Conntrack, EncryptingInterface, Interface, InterfaceCounters, NetworkSeen, Offloads, PathProbe,
    Qdisc, Ring, Route, Softnet, TcpSettings,
};
pub use nfs::{Listener, NetworkPath, NfsSeen, NfsTransport};
pub use stack::{
    Device, DeviceKind, EbsCounters, LoopFile, MountSeen, Node, Queue, RaidSeen, SeenLayer, UsedAs,
};
pub use system::{
    Confidential, Counting, Environment, KernelSettings, MemorySeen, PressureAverages, Swap,
    Swiotlb, WritebackSettings,
};
pub use zfs::{ZfsSeen, ZfsVdev};

use crate::cloud::CloudInstance;

/// Version of the format of [`Machine`] that this program writes.
pub const MACHINE_FORMAT: u32 = 1;

/// An observed machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub format: u32,
    /// Source of the facts, if not a running machine: `built from documented formats`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Version of iotax that observed it.
    pub iotax_version: String,
    /// Time of observation, RFC 3339, UTC.
    pub taken: String,
    pub environment: Environment,
    /// The requested paths.
    pub paths: Vec<PathSeen>,
    /// The layers under them. [`Node::below`] and [`PathSeen::top`] are indices in this list.
    pub nodes: Vec<Node>,
    /// The cgroups of the observing process.
    pub groups: ControlGroups,
    /// Memory, page cache and swap.
    pub memory: MemorySeen,
    /// Since when counters have counted.
    pub counting: Counting,
    /// Memory encryption that hides the memory from the host.
    pub confidential: Confidential,
    /// Settings of kernel modules.
    pub kernel: KernelSettings,
    /// The network of this process, if a peer or an interface was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSeen>,
    /// The cloud VM.
    pub cloud: Option<CloudInstance>,
    /// What could not be observed.
    pub unseen: Vec<Unseen>,
}

/// A requested path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PathSeen {
    /// The path as requested, with invalid UTF-8 replaced.
    pub path: String,
    /// The path quoted for a shell, if it has special characters: `$'a\377'`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<PathKind>,
    /// Size, for regular files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// A directory on the same mount in which files can be created: the path itself, or the one
    /// that contains the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Index of the topmost layer in [`Machine::nodes`].
    pub top: Option<usize>,
    /// Why nothing was observed, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl PathSeen {
    /// [`PathSeen::shell`], if it is one quoted word. A machine may come from an untrusted file,
    /// and this text is part of commands that users paste.
    pub fn shell_word(&self) -> Option<&str> {
        let word = self.shell.as_deref()?;
        let mut rest = word.strip_prefix("$'")?.strip_suffix('\'')?.chars();
        while let Some(character) = rest.next() {
            let is_sound = match character {
                // Everything that follows is part of the word, and something must follow.
                '\\' => rest.next().is_some_and(|escaped| !escaped.is_control()),
                '\'' => false,
                other => !other.is_control(),
            };
            if !is_sound {
                return None;
            }
        }
        Some(word)
    }
}

/// What a path is for a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    Directory,
    File,
    Device,
    /// A character device, a FIFO, a socket.
    Other,
    /// Not a path: the other end of a network path, `tcp://HOST:PORT`.
    Peer,
    /// Not a path: a network interface.
    Interface,
}

/// Something that could not be observed, and how to observe it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// What: `the cipher of dm-0`.
    pub what: String,
    /// What would show it: `dmsetup table`, as root.
    pub how: String,
}

impl Unseen {
    pub fn new(what: impl Into<String>, how: impl Into<String>) -> Self {
        Self { what: what.into(), how: how.into() }
    }
}

impl Machine {
    /// The nodes under a path, each once and before those it is stacked on.
    pub fn under(&self, path: &PathSeen) -> Vec<&Node> {
        let mut places: Vec<usize> = Vec::new();
        let mut next: Vec<usize> = path.top.into_iter().collect();
        // In a file edited by hand, indices may be circular or invalid.
        while let Some(place) = next.pop() {
            if let Some(node) = self.nodes.get(place)
                && !places.contains(&place)
            {
                places.push(place);
                next.extend(node.below.iter().rev());
            }
        }
        places.into_iter().map(|place| &self.nodes[place]).collect()
    }

    /// All devices under the paths.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        self.nodes.iter().filter_map(|node| node.layer.device())
    }

    /// All network interfaces under the paths.
    pub fn interfaces(&self) -> impl Iterator<Item = &Interface> {
        self.nodes.iter().filter_map(|node| node.layer.interface())
    }

    /// All mounts under the paths.
    pub fn mounts(&self) -> impl Iterator<Item = &MountSeen> {
        self.nodes.iter().filter_map(|node| node.layer.mount())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_quoted_word_is_pasted() {
        let told = |shell: &str| {
            let seen = PathSeen { shell: Some(shell.to_owned()), ..PathSeen::default() };
            seen.shell_word().is_some()
        };
        for word in [r"$'a\377'", r"$'it\'s\\'", "$''"] {
            assert!(told(word), "{word}");
        }
        for not in [
            "$'a'; reboot '", "$'a'$(reboot)'", "a", "", "$'", r"$'a\'", r"$'\\' x '",
            "$'\u{1b}[31m'", "$'a\nb'",
        ] {
            assert!(!told(not), "{not}");
        }
    }
}
