//! The control groups of this process, and the number of CPUs that they allow: the CPU controller's
//! quota, in cgroup versions 1 and 2.
//!
//! Sources: the kernel's `Documentation/admin-guide/cgroup-v2.rst` (`cpu.max`) and
//! `Documentation/scheduler/sched-bwc.rst` (`cpu.cfs_quota_us`).

use std::fs;
use std::path::{Path, PathBuf};

use iotax_record::machine::GroupIoLimits;

use crate::block::{DeviceNumber, text_in};
use crate::mounts::{Mount, has_option, mounts};
use crate::stack::{Layer, LayerKind, Stack};

/// CPUs' worth of time that this process's cgroup and its parents allow; `None` without a limit.
pub(crate) fn cpu_limit() -> Option<f64> {
    cpu_quota().map(|quota| quota.cpus)
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CpuQuota {
    /// CPUs' worth of time.
    pub(crate) cpus: f64,
    /// The group with this limit.
    pub(crate) level: Level,
}

/// The tightest quota on this process.
pub(crate) fn cpu_quota() -> Option<CpuQuota> {
    let mounts = mounts().ok()?;
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    tightest_quota(&mounts, &membership, |path| fs::read_to_string(path).ok())
}

/// The tightest quota over all hierarchies and levels; reads files through `read`.
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

/// A group of this process, or one of its parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Level {
    /// The version of its hierarchy.
    pub version: CgroupVersion,
    /// The directory of its files.
    pub directory: PathBuf,
    /// Its name in its hierarchy: `/system.slice/db.service`.
    pub group: PathBuf,
}

/// The groups of this process that are visible under a mount of version 2, or of the version 1
/// hierarchy with this controller, innermost first.
pub(crate) fn levels(mount: &Mount, membership: &str, v1: &str) -> Vec<Level> {
    let own = own_directory(mount, membership, v1);
    let directories = own.iter().flat_map(|own| own.ancestors());
    let visible = directories.take_while(|path| path.starts_with(&mount.mount_point));
    let level = |directory: &Path| {
        let below = directory.strip_prefix(&mount.mount_point).unwrap_or(Path::new(""));
        Level {
            version: version(mount),
            directory: directory.to_owned(),
            // Joining an empty path would leave a slash at the end.
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
    /// One hierarchy for each controller.
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

/// The hierarchy with a controller, by its names in both versions. A version 2 hierarchy only
/// counts if groups directly below its root have the controller.
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

/// Where this process's cgroup is visible under a mount of version 2, or of the version 1 hierarchy
/// with this controller.
fn own_directory(mount: &Mount, membership: &str, v1: &str) -> Option<PathBuf> {
    let path = match mount.file_system.as_str() {
        "cgroup2" => cgroup_path(membership, |id, _| id == "0")?,
        "cgroup" if has_option(&mount.super_options, v1) => {
            cgroup_path(membership, |_, controllers| has_option(controllers, v1))?
        }
        _ => return None,
    };
    // In a container without a cgroup namespace, the mount shows only the subtree `root`.
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

// The I/O limits that control groups set on this process: `io.max` in version 2, the files
// `blkio.throttle.*` in version 1.
//
// Sources: the kernel's `Documentation/admin-guide/cgroup-v2.rst` (`io.max`) and
// `Documentation/admin-guide/cgroup-v1/blkio-controller.rst`. In version 2, the limits of a group
// apply to everything below it. In version 1, only a group's own limits apply to it ("Hierarchical
// Cgroups": without `sane_behavior` all groups are treated as at the same level).

/// The limits on this process for the disk under `path` (a file, directory or device): one entry
/// for each group with limits, innermost first.
pub fn io_limits(path: &Path) -> Vec<GroupIoLimits> {
    let (Ok(mounts), Ok(membership)) = (mounts(), fs::read_to_string("/proc/self/cgroup")) else {
        return Vec::new();
    };
    let mut stack = Stack::new(Path::new("/sys"), mounts.clone());
    let top = stack.path(path).ok().flatten();
    let disks = disks_under(top, &stack.layers);
    limits_on(&mounts, &membership, &disks, &path.display().to_string())
}

/// The limits on a process of these groups for one of `disks`, which are the disks under `path`.
pub(crate) fn limits_on(
    mounts: &[Mount],
    membership: &str,
    disks: &[DeviceNumber],
    path: &str,
) -> Vec<GroupIoLimits> {
    let limits = limits(mounts, membership, disks, |path| fs::read_to_string(path).ok());
    limits.into_iter().map(|one| GroupIoLimits { path: path.to_owned(), ..one }).collect()
}

/// The disks under a layer, as long as each is on exactly one device. Limits on each of them count.
/// A layer over several devices has no single limit below it. Partitions cannot have limits.
pub(crate) fn disks_under(top: Option<usize>, layers: &[Layer]) -> Vec<DeviceNumber> {
    let mut disks = Vec::new();
    let mut next = top.and_then(|top| layers.get(top));
    while let Some(layer) = next {
        if let LayerKind::Device(node) = &layer.kind
            && !node.join("partition").exists()
        {
            disks.extend(text_in(&node.join("dev")).and_then(|text| DeviceNumber::parse(&text)));
        }
        let below = match (&layer.kind, layer.below.as_slice()) {
            // A file system on several devices lists the one with its data first.
            (LayerKind::Mount(_), [one, ..]) | (_, [one]) => layers.get(*one),
            _ => None,
        };
        // Devices below, but not the mount of a loop device's file.
        next = below.filter(|below| matches!(below.kind, LayerKind::Device(_)));
    }
    disks
}

fn limits(
    mounts: &[Mount],
    membership: &str,
    disks: &[DeviceNumber],
    read: impl Fn(&Path) -> Option<String>,
) -> Vec<GroupIoLimits> {
    let mut found: Vec<GroupIoLimits> = Vec::new();
    for mount in mounts {
        let levels = levels(mount, membership, "blkio");
        let is_v2 = mount.file_system == "cgroup2";
        for level in levels.iter().take(if is_v2 { usize::MAX } else { 1 }) {
            let text = |file: &str| read(&level.directory.join(file));
            let here = disks.iter().filter_map(|disk| {
                if is_v2 {
                    parse_io_max(&text("io.max")?, *disk)
                } else {
                    Some(throttles(*disk, text))
                }
            });
            let four = here.reduce(least).unwrap_or_default();
            let Some(first) = four.iter().position(Option::is_some) else { continue };
            let file = level.directory.join(if is_v2 { "io.max" } else { FILES[first] });
            let [read_bw_bytes, write_bw_bytes, read_iops, write_iops] = four;
            let limits = GroupIoLimits {
                group: level.group.display().to_string(),
                // In version 1, the first of several.
                file: file.display().to_string(),
                path: String::new(),
                read_iops,
                write_iops,
                read_bw_bytes,
                write_bw_bytes,
            };
            // A hierarchy can be mounted twice.
            let is_same = |other: &GroupIoLimits| {
                *other == GroupIoLimits { file: other.file.clone(), ..limits.clone() }
            };
            if !found.iter().any(is_same) {
                found.push(limits);
            }
        }
    }
    found
}

/// `rbps`, `wbps`, `riops`, `wiops`.
type Four = [Option<f64>; 4];

const KEYS: [&str; 4] = ["rbps", "wbps", "riops", "wiops"];
const FILES: [&str; 4] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];

fn least(a: Four, b: Four) -> Four {
    std::array::from_fn(|at| [a[at], b[at]].into_iter().flatten().reduce(f64::min))
}

/// The line of `disk` in `io.max`: `8:16 rbps=2097152 wbps=max riops=max wiops=120`.
fn parse_io_max(text: &str, disk: DeviceNumber) -> Option<Four> {
    let line = of_disk(text, disk)?;
    Some(KEYS.map(|key| {
        let value = line.split_whitespace().find_map(|pair| pair.strip_prefix(key));
        rate(value?.strip_prefix('=')?)
    }))
}

/// Version 1, which has a file for each limit.
fn throttles(disk: DeviceNumber, read: impl Fn(&str) -> Option<String>) -> Four {
    FILES.map(|file| rate(of_disk(&read(file)?, disk)?))
}

/// The text after `MAJOR:MINOR` in the line that begins with it.
fn of_disk(text: &str, disk: DeviceNumber) -> Option<&str> {
    text.lines().find_map(|line| {
        let (number, rest) = line.split_once(' ')?;
        (DeviceNumber::parse(number)? == disk).then_some(rest)
    })
}

/// `max` means no limit, and so does 0, which removes a limit in version 1.
fn rate(text: &str) -> Option<f64> {
    let rate: u64 = text.trim().parse().ok()?;
    (rate > 0).then_some(rate as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mounts::parse_mountinfo;

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

    const DISK: DeviceNumber = DeviceNumber { major: 8, minor: 16 };

    fn said(mountinfo: &str, membership: &str, files: &[(&str, &str)]) -> Vec<String> {
        let disks = [DISK, DeviceNumber { major: 253, minor: 0 }];
        let found = limits(&parse_mountinfo(mountinfo), membership, &disks, |path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some(found.1.to_owned())
        });
        let four = |of: &GroupIoLimits| {
            let rates = [of.read_iops, of.write_iops, of.read_bw_bytes, of.write_bw_bytes];
            rates.map(|rate| rate.map_or("-".to_owned(), |rate| rate.to_string())).join(" ")
        };
        found.iter().map(|of| format!("{}: {}", of.group, four(of))).collect()
    }

    #[test]
    fn every_level_of_version_2_that_limits_this_disk_is_told() {
        let mounts = "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let files = [
            ("/sys/fs/cgroup/pod/box/io.max", "8:16 rbps=max wbps=max riops=500 wiops=max\n"),
            (
                "/sys/fs/cgroup/pod/io.max",
                "8:0 rbps=1 wbps=1 riops=1 wiops=1\n8:16 rbps=2097152 wbps=max riops=max wiops=120\n",
            ),
        ];
        assert_eq!(
            said(mounts, "0::/pod/box/leaf\n", &files),
            ["/pod/box: 500 - - -", "/pod: - 120 2097152 -"]
        );
    }

    #[test]
    fn of_devices_on_each_other_the_least_counts() {
        let mounts = "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let text = "8:16 rbps=100 wbps=max riops=5 wiops=max\n253:0 rbps=70 riops=9\n";
        assert_eq!(said(mounts, "0::/a\n", &[("/sys/fs/cgroup/a/io.max", text)]), ["/a: 5 - 70 -"]);
    }

    #[test]
    fn in_version_1_only_the_own_group_limits() {
        let mounts = "\
1 0 0:1 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio
2 0 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
";
        let files = [
            ("/sys/fs/cgroup/blkio/a/b/blkio.throttle.read_iops_device", "8:0 7\n8:16 300\n"),
            ("/sys/fs/cgroup/blkio/a/b/blkio.throttle.write_bps_device", "8:16 1048576\n"),
            ("/sys/fs/cgroup/blkio/a/blkio.throttle.read_iops_device", "8:16 10\n"),
            ("/sys/fs/cgroup/memory/a/blkio.throttle.read_iops_device", "8:16 1\n"),
        ];
        assert_eq!(said(mounts, "4:memory:/a\n1:blkio:/a/b\n", &files), ["/a/b: 300 - - 1048576"]);
    }

    #[test]
    fn a_container_without_a_cgroup_namespace_names_the_group_in_full() {
        let mounts = "1 0 0:1 /docker/ab /sys/fs/cgroup/blkio ro - cgroup cgroup rw,blkio\n";
        let files = [("/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device", "8:16 5000\n")];
        assert_eq!(said(mounts, "3:blkio:/docker/ab\n", &files), ["/docker/ab: - - 5000 -"]);
    }

    #[test]
    fn nothing_limited_is_nothing_told() {
        let mounts = "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let max = "8:16 rbps=max wbps=max riops=max wiops=max\n";
        assert!(said(mounts, "0::/a\n", &[]).is_empty());
        assert!(said(mounts, "0::/a\n", &[("/sys/fs/cgroup/a/io.max", max)]).is_empty());
    }

    #[test]
    fn disks_that_lie_on_one_another_are_followed_to_where_there_are_several() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (node, number) in
            [("dm-0", "253:0"), ("sdb", "8:16"), ("sdb/sdb1", "8:17"), ("md0", "9:0")]
        {
            file(&format!("block/{node}/dev"), number);
            file(&format!("block/{node}/stat"), "0");
        }
        file("block/sdb/sdb1/partition", "1");
        for (upper, lower) in [("dm-0", "sdb/sdb1"), ("md0", "sdb/sdb1"), ("md0", "dm-0")] {
            let slaves = root.path().join("block").join(upper).join("slaves");
            fs::create_dir_all(&slaves).unwrap();
            let lower = root.path().join("block").join(lower);
            let name = slaves.join(lower.file_name().unwrap());
            std::os::unix::fs::symlink(&lower, name).unwrap();
        }
        let under = |node: &str| {
            let mut stack = Stack::new(root.path(), Vec::new());
            let top = stack.device(&root.path().join("block").join(node));
            disks_under(top, &stack.layers)
        };
        let mapped = DeviceNumber { major: 253, minor: 0 };
        assert_eq!(under("dm-0"), [mapped, DISK]);
        assert_eq!(under("md0"), [DeviceNumber { major: 9, minor: 0 }]);
        assert_eq!(disks_under(Some(9), &[]), []);
    }

    #[test]
    fn a_file_system_on_several_devices_is_on_the_first() {
        let root = tempfile::tempdir().unwrap();
        let device = |node: &str, number: &str| {
            let node = root.path().join(node);
            fs::create_dir(&node).unwrap();
            fs::write(node.join("dev"), number).unwrap();
            Layer { kind: LayerKind::Device(node), below: Vec::new() }
        };
        let line = "1 0 8:16 / /mnt rw - xfs /dev/sdb rw,logdev=/dev/sdc\n";
        let mount = parse_mountinfo(line).remove(0);
        let mount = |below| Layer { kind: LayerKind::Mount(mount.clone()), below };
        let layers =
            [mount(vec![1, 2]), device("sdb", "8:16"), device("sdc", "8:32"), mount(vec![0])];
        assert_eq!(disks_under(Some(0), &layers), [DISK]);
        assert_eq!(disks_under(Some(3), &layers), [], "what lies on another file system");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_of_io_panic(text in ".*", line in "(8:16 )?[a-z0-9:= \n]*") {
            parse_io_max(&text, DISK);
            parse_io_max(&line, DISK);
            throttles(DISK, |_| Some(line.clone()));
        }
    }
}
