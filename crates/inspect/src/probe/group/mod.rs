//! The control groups of this process: their limits, and the cost of these limits.

use std::fs;
use std::path::Path;

use iotax_record::machine::{ControlGroups, CpuThrottling, GroupMemory, PathSeen};

use super::kernel::averages;
use crate::cgroup::{CgroupVersion, Level, hierarchy, levels, tightest_quota};
use crate::cgroup::{disks_under, limits_on};
use crate::counters::{counter, throttled_us};
use crate::mounts::Mount;
use crate::stack::Layer;

/// The groups of this process in its hierarchies.
struct Own<'a> {
    mounts: &'a [Mount],
    membership: &'a str,
}

impl Own<'_> {
    /// Its groups in the hierarchies that can have a controller, by the version 1 name.
    fn of(&self, controller: &str) -> Vec<Level> {
        let levels =
            self.mounts.iter().flat_map(|mount| levels(mount, self.membership, controller));
        levels.collect()
    }
}

/// The groups of this process; I/O limits for the disks under each of `paths`.
pub(super) fn groups(paths: &[PathSeen], layers: &[Layer], mounts: &[Mount]) -> ControlGroups {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let is_of_groups = |mount: &&Mount| mount.file_system.starts_with("cgroup");
    let mounts: Vec<Mount> = mounts.iter().filter(is_of_groups).cloned().collect();
    let membership = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let io = hierarchy("blkio", "io");
    let version = io.as_ref().map(|hierarchy| match hierarchy.version {
        CgroupVersion::V1 => "v1".to_owned(),
        CgroupVersion::V2 => "v2".to_owned(),
    });
    let own = Own { mounts: &mounts, membership: &membership };
    let limits = |seen: &PathSeen| {
        limits_on(&mounts, &membership, &disks_under(seen.top, layers), &seen.path)
    };
    ControlGroups {
        version,
        io: paths.iter().flat_map(limits).collect(),
        cpu: throttling(&own, read),
        memory: memory(&own, read),
        io_pressure: own
            .of("blkio")
            .iter()
            .find_map(|level| averages(&read(&level.directory.join("io.pressure"))?)),
    }
}

// A CPU quota and its cost: `cpu.max` and `cpu.stat`.

/// Of the group with the tightest quota; if none has one, of the innermost with counters.
fn throttling(
    own: &Own<'_>,
    read: impl Fn(&Path) -> Option<String> + Copy,
) -> Option<CpuThrottling> {
    match tightest_quota(own.mounts, own.membership, read) {
        Some(quota) => {
            let seen = counters(&quota.level, read).unwrap_or_else(|| named(&quota.level));
            Some(CpuThrottling { cpus: Some(quota.cpus), ..seen })
        }
        None => own.of("cpu").iter().find_map(|level| counters(level, read)),
    }
}

fn named(level: &Level) -> CpuThrottling {
    CpuThrottling {
        group: level.group.display().to_string(),
        file: level.cpu_stat().display().to_string(),
        ..CpuThrottling::default()
    }
}

/// `None` if the controller does not count: in version 2, the root group has no periods.
fn counters(level: &Level, read: impl Fn(&Path) -> Option<String>) -> Option<CpuThrottling> {
    let text = read(&level.cpu_stat())?;
    Some(CpuThrottling {
        periods: counter(&text, "nr_periods")?,
        throttled_periods: counter(&text, "nr_throttled")?,
        throttled_us: throttled_us(&text)?,
        ..named(level)
    })
}

// A memory limit, and how close a group is to it: `memory.max`, `memory.current`, `memory.stat`,
// and their names in version 1.

/// Version 1 uses the largest number of pages for no limit: far above any memory.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// Of the group with the tightest limit; if none has one, of the innermost with figures.
fn memory(own: &Own<'_>, read: impl Fn(&Path) -> Option<String> + Copy) -> Option<GroupMemory> {
    let levels = own.of("memory");
    let all: Vec<_> = levels.iter().filter_map(|level| group(level, read)).collect();
    let limit =
        |group: &GroupMemory| [group.max_bytes, group.high_bytes].into_iter().flatten().min();
    let limited = all.iter().filter(|group| limit(group).is_some());
    limited.min_by_key(|group| limit(group)).or(all.first()).cloned()
}

fn group(level: &Level, read: impl Fn(&Path) -> Option<String>) -> Option<GroupMemory> {
    let text = |name: &str| read(&level.directory.join(name));
    let bytes = |name: &str| text(name)?.trim().parse::<u64>().ok();
    let limit = |name: &str| bytes(name).filter(|bytes| *bytes < NO_LIMIT_BYTES);
    let stat = text("memory.stat").unwrap_or_default();
    let first = |names: &[&str]| names.iter().find_map(|name| counter(&stat, name));
    let is_v2 = level.version == CgroupVersion::V2;
    let (max, current, cache, refaults): (_, _, &[&str], &[&str]) = if is_v2 {
        // Kernels before 5.9 do not separate refaults of files from others, which they do not
        // count.
        let refaults = &["workingset_refault_file", "workingset_refault"];
        ("memory.max", "memory.current", &["file"], refaults)
    } else {
        // The totals include the groups below, which count against the limit, too.
        let refaults = &["total_workingset_refault_file", "workingset_refault_file"];
        ("memory.limit_in_bytes", "memory.usage_in_bytes", &["total_cache", "cache"], refaults)
    };
    let max_bytes = limit(max);
    let current_bytes = bytes(current);
    // The root group of version 2 has figures, but neither limit nor use.
    (max_bytes.is_some() || current_bytes.is_some()).then(|| GroupMemory {
        group: level.group.display().to_string(),
        directory: level.directory.display().to_string(),
        max_bytes,
        high_bytes: if is_v2 { limit("memory.high") } else { None },
        current_bytes,
        page_cache_bytes: first(cache),
        file_refaults: first(refaults),
        pressure: text("memory.pressure").and_then(|text| averages(&text)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::parse_mountinfo;

    /// Reads from a made-up list of files.
    fn files<'a>(files: &'a [(&'a str, &'a str)]) -> impl Fn(&Path) -> Option<String> + Copy + 'a {
        move |path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some(found.1.to_owned())
        }
    }

    fn v2() -> Vec<Mount> {
        parse_mountinfo("1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    }

    #[test]
    fn limits_of_a_path_that_is_not_there_are_none() {
        assert_eq!(groups(&[PathSeen::default()], &[], &v2()).io, []);
    }

    #[test]
    fn the_tightest_quota_and_what_it_cost_in_version_2() {
        let texts = [
            ("/sys/fs/cgroup/pod/box/cpu.max", "400000 100000\n"),
            ("/sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
            (
                "/sys/fs/cgroup/pod/cpu.stat",
                "usage_usec 9\nnr_periods 100\nnr_throttled 40\nthrottled_usec 1234567\n",
            ),
        ];
        let (mounts, membership) = (v2(), "0::/pod/box\n");
        let found = throttling(&Own { mounts: &mounts, membership }, files(&texts)).unwrap();
        let expected = CpuThrottling {
            group: "/pod".to_owned(),
            file: "/sys/fs/cgroup/pod/cpu.stat".to_owned(),
            cpus: Some(1.5),
            periods: 100,
            throttled_periods: 40,
            throttled_us: 1_234_567,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn version_1_counts_nanoseconds_and_no_quota_is_the_own_group() {
        let texts = [
            ("/cpu/a/cpu.cfs_quota_us", "-1\n"),
            ("/cpu/a/cpu.cfs_period_us", "100000\n"),
            ("/cpu/a/cpu.stat", "nr_periods 5\nnr_throttled 2\nthrottled_time 7000000\n"),
        ];
        let mounts = parse_mountinfo("1 0 0:1 / /cpu rw - cgroup cgroup rw,cpu\n");
        let own = Own { mounts: &mounts, membership: "1:cpu:/a\n" };
        let found = throttling(&own, files(&texts)).unwrap();
        assert_eq!((found.group.as_str(), found.cpus), ("/a", None));
        assert_eq!((found.periods, found.throttled_periods, found.throttled_us), (5, 2, 7000));
    }

    #[test]
    fn a_top_group_without_periods_tells_nothing() {
        let texts = [("/sys/fs/cgroup/cpu.stat", "usage_usec 1\n")];
        let mounts = v2();
        assert_eq!(throttling(&Own { mounts: &mounts, membership: "0::/\n" }, files(&texts)), None);
    }

    #[test]
    fn the_tightest_limit_of_version_2_counts_and_high_is_one() {
        let texts = [
            ("/sys/fs/cgroup/pod/box/memory.max", "max\n"),
            ("/sys/fs/cgroup/pod/box/memory.high", "max\n"),
            ("/sys/fs/cgroup/pod/box/memory.current", "1000\n"),
            ("/sys/fs/cgroup/pod/memory.max", "9000\n"),
            ("/sys/fs/cgroup/pod/memory.high", "4000\n"),
            ("/sys/fs/cgroup/pod/memory.current", "3900\n"),
            ("/sys/fs/cgroup/pod/memory.stat", "anon 1\nfile 3000\nworkingset_refault_file 77\n"),
            ("/sys/fs/cgroup/pod/memory.pressure", "some avg10=1.00 avg60=0 avg300=2.00 total=0\n"),
            ("/sys/fs/cgroup/memory.stat", "file 5\n"),
        ];
        let mounts = v2();
        let own = Own { mounts: &mounts, membership: "0::/pod/box\n" };
        let found = memory(&own, files(&texts)).unwrap();
        assert_eq!(
            (found.group.as_str(), found.directory.as_str()),
            ("/pod", "/sys/fs/cgroup/pod")
        );
        assert_eq!((found.max_bytes, found.high_bytes), (Some(9000), Some(4000)));
        assert_eq!((found.current_bytes, found.page_cache_bytes), (Some(3900), Some(3000)));
        assert_eq!(found.file_refaults, Some(77));
        assert_eq!(found.pressure.unwrap().some_300s_percent, 2.0);
    }

    #[test]
    fn the_largest_number_of_version_1_is_no_limit() {
        let texts = [
            ("/m/a/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/m/a/memory.usage_in_bytes", "5\n"),
            ("/m/a/memory.stat", "cache 1\ntotal_cache 4\nworkingset_refault_file 6\n"),
        ];
        let mounts = parse_mountinfo("1 0 0:1 / /m rw - cgroup cgroup rw,memory\n");
        let found = memory(&Own { mounts: &mounts, membership: "4:memory:/a\n" }, files(&texts));
        let found = found.unwrap();
        assert_eq!((found.max_bytes, found.high_bytes, found.current_bytes), (None, None, Some(5)));
        assert_eq!((found.page_cache_bytes, found.file_refaults), (Some(4), Some(6)));
    }

    #[test]
    fn no_controller_tells_nothing() {
        let mounts = v2();
        assert_eq!(memory(&Own { mounts: &mounts, membership: "0::/\n" }, files(&[])), None);
    }
}
