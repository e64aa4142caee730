//! The groups this process is in, and how many CPUs they let it use: the CPU controller's quota,
//! in cgroup versions 1 and 2.
//!
//! Sources: the kernel's `Documentation/admin-guide/cgroup-v2.rst` (`cpu.max`) and
//! `Documentation/scheduler/sched-bwc.rst` (`cpu.cfs_quota_us`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::mounts::{Mount, has_option, mounts};

/// CPUs' worth of time this process's cgroup and those above it allow; `None` without a limit.
pub(crate) fn cpu_limit() -> Option<f64> {
    cpu_quota().map(|quota| quota.cpus)
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CpuQuota {
    /// CPUs' worth of time.
    pub(crate) cpus: f64,
    /// The group that has it.
    pub(crate) level: Level,
}

/// The tightest quota on this process.
pub(crate) fn cpu_quota() -> Option<CpuQuota> {
    let mounts = mounts().ok()?;
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    tightest_quota(&mounts, &membership, |path| fs::read_to_string(path).ok())
}

/// The tightest quota over all hierarchies and all levels, reading files through `read`.
pub(crate) fn tightest_quota(
    mounts: &[Mount],
    membership: &str,
    read: impl Fn(&Path) -> Option<String>,
) -> Option<CpuQuota> {
    let mut tightest: Option<CpuQuota> = None;
    for mount in mounts {
        for level in levels(mount, membership, "cpu") {
            if let Some(cpus) = quota(&level, &read)
                && tightest.as_ref().is_none_or(|known| cpus < known.cpus)
            {
                tightest = Some(CpuQuota { cpus, level });
            }
        }
    }
    tightest
}

/// CPUs' worth of time that one group allows.
fn quota(level: &Level, read: impl Fn(&Path) -> Option<String>) -> Option<f64> {
    let file = |name: &str| read(&level.directory.join(name));
    match level.version {
        CgroupVersion::V2 => parse_cpu_max(&file("cpu.max")?),
        CgroupVersion::V1 => cpus(&file("cpu.cfs_quota_us")?, &file("cpu.cfs_period_us")?),
    }
}

impl Level {
    /// The file that counts how often a quota was used up.
    pub(crate) fn cpu_stat(&self) -> PathBuf {
        self.directory.join("cpu.stat")
    }
}

/// A group that this process is in, or one above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Level {
    /// Of its hierarchy.
    pub version: CgroupVersion,
    /// Where its files are.
    pub directory: PathBuf,
    /// As its hierarchy names it: `/system.slice/db.service`.
    pub group: PathBuf,
}

/// The groups of this process that are visible under a mount of version 2, or of the hierarchy with
/// this controller of version 1: its own first.
pub(crate) fn levels(mount: &Mount, membership: &str, v1: &str) -> Vec<Level> {
    let own = own_directory(mount, membership, v1);
    let directories = own.iter().flat_map(|own| own.ancestors());
    let visible = directories.take_while(|path| path.starts_with(&mount.mount_point));
    let level = |directory: &Path| {
        let below = directory.strip_prefix(&mount.mount_point).unwrap_or(Path::new(""));
        Level {
            version: version(mount),
            directory: directory.to_owned(),
            // Joining nothing would leave a slash at the end.
            group: mount.root.join(below).components().collect(),
        }
    };
    visible.map(level).collect()
}

fn version(mount: &Mount) -> CgroupVersion {
    if mount.file_system == "cgroup2" { CgroupVersion::V2 } else { CgroupVersion::V1 }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgroupVersion {
    /// A hierarchy for each controller.
    V1,
    /// One hierarchy for all controllers.
    V2,
}

/// The hierarchy of a controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    pub version: CgroupVersion,
    pub top: PathBuf,
    /// This process's group in it.
    pub own: PathBuf,
}

/// The hierarchy that has a controller, by its names in both versions. One of version 2 only
/// counts if groups directly below its top have the controller.
pub fn hierarchy(v1: &str, v2: &str) -> Option<Hierarchy> {
    let mounts = mounts().ok()?;
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    hierarchy_of(&mounts, &membership, v1, v2, |path| fs::read_to_string(path).ok())
}

fn hierarchy_of(
    mounts: &[Mount],
    membership: &str,
    v1: &str,
    v2: &str,
    read: impl Fn(&Path) -> Option<String>,
) -> Option<Hierarchy> {
    mounts.iter().find_map(|mount| {
        let own = own_directory(mount, membership, v1)?;
        let top = mount.mount_point.clone();
        let version = version(mount);
        let enabled = || {
            let controllers = read(&top.join("cgroup.subtree_control")).unwrap_or_default();
            controllers.split_whitespace().any(|controller| controller == v2)
        };
        (version == CgroupVersion::V1 || enabled()).then(|| Hierarchy {
            version,
            top: top.clone(),
            own,
        })
    })
}

/// Where this process's cgroup is visible under a mount of version 2, or of the hierarchy with
/// this controller of version 1.
fn own_directory(mount: &Mount, membership: &str, v1: &str) -> Option<PathBuf> {
    let path = match mount.file_system.as_str() {
        "cgroup2" => cgroup_path(membership, |id, _| id == "0")?,
        "cgroup" if has_option(&mount.super_options, v1) => {
            cgroup_path(membership, |_, controllers| has_option(controllers, v1))?
        }
        _ => return None,
    };
    // In a container without a cgroup namespace the mount shows only the subtree `root`.
    let below = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
    Some(mount.mount_point.join(below))
}

/// The path in the first line `id:controllers:path` of `/proc/self/cgroup` that matches.
fn cgroup_path(membership: &str, matches: impl Fn(&str, &str) -> bool) -> Option<&Path> {
    membership.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        matches(id, controllers).then_some(Path::new(path))
    })
}

/// `max 100000` or `150000 100000`.
fn parse_cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    cpus(quota, period)
}

/// Quota over period, both in microseconds; `max` and -1 mean no limit.
fn cpus(quota: &str, period: &str) -> Option<f64> {
    let quota: u32 = quota.trim().parse().ok()?;
    let period: u32 = period.trim().parse().ok().filter(|period| *period > 0)?;
    Some(f64::from(quota) / f64::from(period))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::parse_mountinfo;
    use proptest::prelude::*;

    fn limit_of(mountinfo: &str, membership: &str, files: &[(&str, &str)]) -> Option<f64> {
        tightest_quota(&parse_mountinfo(mountinfo), membership, |path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some(found.1.to_owned())
        })
        .map(|quota| quota.cpus)
    }

    #[test]
    fn the_tightest_level_of_version_2_counts() {
        let files = [
            ("/sys/fs/cgroup/pod/box/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/cpu.max", "400000 100000\n"),
        ];
        let mounts = "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(limit_of(mounts, "0::/pod/box\n", &files), Some(1.5));
    }

    #[test]
    fn version_1_reads_quota_and_period_of_the_cpu_hierarchy_only() {
        let mounts = "\
1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
2 0 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
";
        let files = [
            ("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n"),
            ("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ];
        assert_eq!(limit_of(mounts, "4:memory:/b\n1:cpu,cpuacct:/a\n", &files), Some(0.5));
    }

    #[test]
    fn a_container_without_a_cgroup_namespace_sees_its_own_subtree() {
        let mounts = "1 0 0:1 /docker/ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
        let files = [
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ];
        assert_eq!(limit_of(mounts, "3:cpu:/docker/ab\n", &files), Some(2.0));
    }

    #[test]
    fn no_controller_and_no_quota_are_no_limit() {
        let mounts = "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(limit_of(mounts, "0::/\n", &[]), None);
        assert_eq!(limit_of(mounts, "0::/\n", &[("/sys/fs/cgroup/cpu.max", "max 100000")]), None);
        assert_eq!(limit_of(mounts, "0::/\n", &[("/sys/fs/cgroup/cpu.max", "1 0")]), None);
    }

    #[test]
    fn the_controller_is_found_in_either_version_if_it_can_be_used() {
        let mounts = parse_mountinfo(
            "\
1 0 0:1 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
2 0 0:2 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio
",
        );
        let membership = "7:blkio:/user.slice\n0::/user.slice/session-1.scope\n";
        let enabled = |controllers: &'static str| {
            let control = Path::new("/sys/fs/cgroup/unified/cgroup.subtree_control");
            let read = move |path: &Path| (path == control).then(|| controllers.to_owned());
            let found = hierarchy_of(&mounts, membership, "blkio", "io", read).unwrap();
            (found.version, found.own.display().to_string())
        };
        let own = "/sys/fs/cgroup/blkio/user.slice".to_owned();
        assert_eq!(enabled("cpu memory\n"), (CgroupVersion::V1, own));
        let own = "/sys/fs/cgroup/unified/user.slice/session-1.scope".to_owned();
        assert_eq!(enabled("cpu io\n"), (CgroupVersion::V2, own));
        assert_eq!(hierarchy_of(&mounts[..1], membership, "blkio", "io", |_| None), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*", line in "[0-9:,/a-z\n]*") {
            parse_cpu_max(&text);
            cgroup_path(&line, |_, controllers| has_option(controllers, "cpu"));
        }
    }
}
