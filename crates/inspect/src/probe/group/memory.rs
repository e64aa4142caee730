//! A memory limit, and how near to it a group is: `memory.max`, `memory.current`, `memory.stat`,
//! and their names in version 1.

use std::path::Path;

use iotax_record::machine::GroupMemory;

use super::super::pressure::averages;
use super::Own;
use crate::cgroup::{CgroupVersion, Level};
use crate::counters::counter;

/// Version 1 writes the largest number of pages where there is no limit: far above any memory.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// Of the group with the tightest limit; where none has one, of the innermost with figures.
pub(super) fn memory(
    own: &Own<'_>,
    read: impl Fn(&Path) -> Option<String> + Copy,
) -> Option<GroupMemory> {
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
        // Kernels before 5.9 do not tell refaults of files from others, which they do not count.
        let refaults = &["workingset_refault_file", "workingset_refault"];
        ("memory.max", "memory.current", &["file"], refaults)
    } else {
        // The totals have the groups below in them, which count against the limit too.
        let refaults = &["total_workingset_refault_file", "workingset_refault_file"];
        ("memory.limit_in_bytes", "memory.usage_in_bytes", &["total_cache", "cache"], refaults)
    };
    let max_bytes = limit(max);
    let current_bytes = bytes(current);
    // The top group of version 2 has figures, but neither limit nor use.
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
    use super::super::tests::{files, v2};
    use super::*;
    use crate::mounts::parse_mountinfo;

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
