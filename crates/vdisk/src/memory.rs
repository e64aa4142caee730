//! Is there enough memory for what a layer asks?

use crate::error::Error;

/// `size_bytes` as a length, if that much can be had without swapping or killing.
pub(crate) fn check(layer: &'static str, size_bytes: u64) -> Result<usize, Error> {
    let available_bytes = available_bytes();
    let error = Error::NoMemory { layer, size_bytes, available_bytes };
    if available_bytes.is_some_and(|available| size_bytes > available) {
        return Err(error);
    }
    // Rust's allocations are at most isize::MAX long.
    isize::try_from(size_bytes).map(isize::unsigned_abs).map_err(|_| error)
}

/// The least of what the machine and the control group (v2) have to give; `None` if neither says.
pub(crate) fn available_bytes() -> Option<u64> {
    machine_bytes().into_iter().chain(group_bytes()).min()
}

fn machine_bytes() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// The group's limit. What it uses already is not subtracted: most of that may be page cache,
/// which gives way.
fn group_bytes() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let limit = std::fs::read_to_string(format!("/sys/fs/cgroup/{group}/memory.max")).ok()?;
    limit.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_is_refused_by_name_and_figure() {
        assert_eq!(check("mem", 4096).unwrap(), 4096);
        let error = check("cache", u64::MAX).unwrap_err();
        let Error::NoMemory { layer: "cache", size_bytes: u64::MAX, .. } = error else {
            panic!("{error}")
        };
    }
}
