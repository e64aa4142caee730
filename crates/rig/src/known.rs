//! What this machine tells before a load: the limits of its cgroups.

use iotax_experiment::documented::LimitBy;
use iotax_experiment::{KnownLimit, Target};

/// The limits of this process's cgroups on the disk under `target`, if it is a path.
pub fn cgroup_limits(target: &Target, writes: bool) -> Vec<KnownLimit> {
    let Some(path) = target.path() else { return Vec::new() };
    let known = iotax_inspect::io_limits(path).into_iter().map(|limits| {
        let (iops, bw_bytes) = if writes {
            (limits.write_iops, limits.write_bw_bytes)
        } else {
            (limits.read_iops, limits.read_bw_bytes)
        };
        KnownLimit { by: LimitBy::Cgroup, of: limits.group, direction: None, iops, bw_bytes }
    });
    known.filter(|limit| limit.iops.is_some() || limit.bw_bytes.is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_free_of_this_process_s_groups() {
        let stack = Target::parse("mem(size=1M)").unwrap();
        assert_eq!(cgroup_limits(&stack, false), []);
    }
}
