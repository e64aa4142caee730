//! The I/O limits that control groups set on this process: `io.max` in version 2, the files
//! `blkio.throttle.*` in version 1.
//!
//! Sources: the kernel's `Documentation/admin-guide/cgroup-v2.rst` (`io.max`) and
//! `Documentation/admin-guide/cgroup-v1/blkio-controller.rst`. In version 2 the limits of a group
//! hold everything below it; in version 1 each group is limited by its own alone ("Hierarchical
//! Cgroups": without `sane_behavior` all groups are treated as at the same level).

use std::fs;
use std::path::Path;

use iotax_record::machine::GroupIoLimits;

use crate::block::{DeviceNumber, text_in};
use crate::cgroup::levels;
use crate::mounts::{Mount, mounts};
use crate::stack::{Layer, LayerKind, Stack};

/// The limits on this process for the disk under `path`, a file, directory or device: one for each
/// group that sets any, the innermost first.
pub fn io_limits(path: &Path) -> Vec<GroupIoLimits> {
    let (Ok(mounts), Ok(membership)) = (mounts(), fs::read_to_string("/proc/self/cgroup")) else {
        return Vec::new();
    };
    let mut stack = Stack::new(Path::new("/sys"), mounts.clone());
    let top = stack.path(path).ok().flatten();
    let disks = disks_under(top, &stack.layers);
    limits_on(&mounts, &membership, &disks, &path.display().to_string())
}

/// The limits on a process of these groups for one of `disks`, which are those under `path`.
pub(crate) fn limits_on(
    mounts: &[Mount],
    membership: &str,
    disks: &[DeviceNumber],
    path: &str,
) -> Vec<GroupIoLimits> {
    let limits = limits(mounts, membership, disks, |path| fs::read_to_string(path).ok());
    limits.into_iter().map(|one| GroupIoLimits { path: path.to_owned(), ..one }).collect()
}

/// The disks under a layer as long as each lies on just one device: limits on each of them count, and
/// what spreads over several has no single limit below it. Limits cannot be set on partitions.
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
            // Of a file system on several devices, the one of its data comes first.
            (LayerKind::Mount(_), [one, ..]) | (_, [one]) => layers.get(*one),
            _ => None,
        };
        // Devices below, and not the mount of a loop device's file.
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
                // In version 1 the first of several.
                file: file.display().to_string(),
                path: String::new(),
                read_iops,
                write_iops,
                read_bw_bytes,
                write_bw_bytes,
            };
            // A hierarchy may be mounted twice.
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

/// Version 1, where each limit has a file.
fn throttles(disk: DeviceNumber, read: impl Fn(&str) -> Option<String>) -> Four {
    FILES.map(|file| rate(of_disk(&read(file)?, disk)?))
}

/// What stands behind `MAJOR:MINOR` in the line that begins with it.
fn of_disk(text: &str, disk: DeviceNumber) -> Option<&str> {
    text.lines().find_map(|line| {
        let (number, rest) = line.split_once(' ')?;
        (DeviceNumber::parse(number)? == disk).then_some(rest)
    })
}

/// `max` is none, and so is 0, with which version 1 takes a limit away.
fn rate(text: &str) -> Option<f64> {
    let rate: u64 = text.trim().parse().ok()?;
    (rate > 0).then_some(rate as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::parse_mountinfo;
    use proptest::prelude::*;

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
        fn no_text_makes_the_parsers_panic(text in ".*", line in "(8:16 )?[a-z0-9:= \n]*") {
            parse_io_max(&text, DISK);
            parse_io_max(&line, DISK);
            throttles(DISK, |_| Some(line.clone()));
        }
    }
}
