//! How much memory is available.
//!
//! The kernel allocates more memory than there is, and kills a process when it is used. So the
//! limits are checked before: those of the machine without swapping, of the cgroup, and of the
//! address space.

use std::fmt;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

/// Without a limit, cgroup version 1 shows the largest number of pages: far above any memory.
const NO_LIMIT_BYTES: u64 = 1 << 60;
const GROUPS: &str = "/sys/fs/cgroup";

/// Memory that can be allocated, and what limits it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AvailableMemory {
    /// How much, bytes.
    pub bytes: u64,
    /// The limit that more would exceed.
    pub limit: MemoryLimit,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryLimit {
    Machine,
    /// A control group's limit.
    Group(PathBuf),
    /// `RLIMIT_AS` of the process.
    AddressSpace,
}

impl fmt::Display for AvailableMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} available{}", iotax_quantity::size(self.bytes), self.limit)
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => Ok(()),
            Self::Group(group) => {
                write!(f, " within the limit of control group {}", group.display())
            }
            Self::AddressSpace => f.write_str(" within the `ulimit -v` limit of this process"),
        }
    }
}

/// The minimum of what the machine, the cgroups of this process and its own limits allow; `None` if
/// none of them is known.
pub fn available_memory() -> Option<AvailableMemory> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let machine =
        machine_bytes(&read).map(|bytes| AvailableMemory { bytes, limit: MemoryLimit::Machine });
    let mapped = read(Path::new("/proc/self/statm")).and_then(|statm| {
        let pages: u64 = statm.split(' ').next()?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    });
    let own = getrlimit(Resource::As).current.map(|limit| AvailableMemory {
        bytes: limit.saturating_sub(mapped.unwrap_or(0)),
        limit: MemoryLimit::AddressSpace,
    });
    machine.into_iter().chain(group_bytes(&read)).chain(own).min()
}

fn machine_bytes(read: &impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let meminfo = read(Path::new("/proc/meminfo"))?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// What the process's cgroup of either version, or one above it, may still allocate. Page cache can
/// be reclaimed.
fn group_bytes(read: &impl Fn(&Path) -> Option<String>) -> Option<AvailableMemory> {
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (mounts, version): (&[&str], _) = match controllers {
            "" => (&["", "unified"], &V2),
            _ if controllers.split(',').any(|name| name == "memory") => (&["memory"], &V1),
            _ => continue,
        };
        for mount in mounts {
            // In a container, the paths may be those of the host, and only the root exists.
            for group in Path::new(group).ancestors() {
                let inside = group.strip_prefix("/").unwrap_or(group);
                let directory = Path::new(GROUPS).join(mount).join(inside);
                let left = version.left(&directory, read).map(|bytes| AvailableMemory {
                    bytes,
                    limit: MemoryLimit::Group(group.to_owned()),
                });
                least = least.into_iter().chain(left).min();
            }
        }
    }
    least
}

/// Names of a group's files.
struct Version {
    limit: &'static str,
    used: &'static str,
    cache: &'static [&'static str],
}

const V2: Version = Version {
    limit: "memory.max",
    used: "memory.current",
    cache: &["active_file ", "inactive_file "],
};
const V1: Version = Version {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cache: &["total_active_file ", "total_inactive_file "],
};

impl Version {
    fn left(&self, directory: &Path, read: &impl Fn(&Path) -> Option<String>) -> Option<u64> {
        let bytes = |name: &str| read(&directory.join(name))?.trim().parse::<u64>().ok();
        let limit = bytes(self.limit).filter(|limit| *limit < NO_LIMIT_BYTES)?;
        let stat = read(&directory.join("memory.stat")).unwrap_or_default();
        let cache = |name: &&str| {
            let line = stat.lines().find_map(|line| line.strip_prefix(*name))?;
            line.trim().parse::<u64>().ok()
        };
        let cache_bytes: u64 = self.cache.iter().filter_map(cache).sum();
        let used_bytes = bytes(self.used).unwrap_or(0).saturating_sub(cache_bytes);
        Some(limit.saturating_sub(used_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of a machine: paths and texts.
    fn group(files: &[(&str, &str)]) -> Option<AvailableMemory> {
        group_bytes(&|path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn a_group_s_limit_holds_less_what_cannot_give_way() {
        let v2 = [
            ("/proc/self/cgroup", "0::/a/b\n"),
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/memory.max", "1000000\n"),
            ("/sys/fs/cgroup/a/memory.current", "900000\n"),
            ("/sys/fs/cgroup/a/memory.stat", "anon 1\nactive_file 500000\ninactive_file 100000\n"),
        ];
        let available = group(&v2).unwrap();
        assert_eq!(available.bytes, 700_000);
        assert_eq!(available.limit, MemoryLimit::Group("/a".into()));
        let v1 = [
            ("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/x\n0::/\n"),
            // What a container sees of it.
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n"),
            ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n"),
            ("/sys/fs/cgroup/memory/memory.stat", "active_file 7\ntotal_inactive_file 100000\n"),
        ];
        assert_eq!(group(&v1).unwrap().bytes, 1_600_000);
        let none = [
            ("/proc/self/cgroup", "4:memory:/\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        assert_eq!(group(&none), None);
    }

    #[test]
    fn the_least_of_all_limits_is_named() {
        let of = |bytes, limit| AvailableMemory { bytes, limit }.to_string();
        assert_eq!(of(20 << 30, MemoryLimit::Machine), "20 GiB available");
        insta::assert_snapshot!(of(3 << 30, MemoryLimit::Group("/docker/x".into())), @"3 GiB available within the limit of control group /docker/x");
        insta::assert_snapshot!(of(5 << 20, MemoryLimit::AddressSpace), @"5 MiB available within the `ulimit -v` limit of this process");
        assert!(available_memory().is_some_and(|available| available.bytes > 0));
    }
}
