//! A CPU quota and what it has cost: `cpu.max` and `cpu.stat`.

use std::path::Path;

use iotax_record::machine::CpuThrottling;

use super::Own;
use crate::cgroup::{Level, tightest_quota};
use crate::counters::{counter, throttled_us};

/// Of the group with the tightest quota; where none has one, of the innermost with counters.
pub(super) fn throttling(
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

/// `None` where the controller does not count: in version 2 the top group has no periods.
fn counters(level: &Level, read: impl Fn(&Path) -> Option<String>) -> Option<CpuThrottling> {
    let text = read(&level.cpu_stat())?;
    Some(CpuThrottling {
        periods: counter(&text, "nr_periods")?,
        throttled_periods: counter(&text, "nr_throttled")?,
        throttled_us: throttled_us(&text)?,
        ..named(level)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{files, v2};
    use super::*;
    use crate::mounts::parse_mountinfo;

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
}
