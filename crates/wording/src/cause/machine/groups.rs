use iotax_diagnose::GroupRates;
use iotax_diagnose::why::groups::GroupsWhy;
use iotax_quantity::{bytes, exact, grouped, iops_limit, mb_per_s, percent, time};

pub(in super::super) fn why(why: &GroupsWhy, group: &str) -> String {
    match why {
        GroupsWhy::Io { path, rates: of } => format!(
            "All processes in {group} share these limits on the disk under {path}: {}.",
            rates(*of)
        ),
        GroupsWhy::Memory { used_bytes, limit_bytes, refaults } => format!(
            "{group} uses {} of its {} memory limit. Pages evicted from the group's page cache \
             were read again {} times, so the disk serves reads that memory could have served.",
            bytes(*used_bytes as f64),
            bytes(*limit_bytes as f64),
            grouped(*refaults)
        ),
        GroupsWhy::CpuQuota { share, cpus, each_ms } => format!(
            "{group} used up its CPU quota{} in {} of the scheduling periods since the group was \
             created. Each time, the group's threads were stopped for {} on average (summed over \
             all CPUs), even those whose I/O was complete.",
            cpus.map_or(String::new(), |cpus| format!(" of {} CPUs", exact(cpus))),
            percent(*share),
            time(1e6 * each_ms)
        ),
    }
}

/// `reads 2000 IOPS, writes 100 MB/s`.
pub(in super::super) fn rates(rates: GroupRates) -> String {
    let ways = [
        ("reads", rates.read_iops, rates.read_bw_bytes),
        ("writes", rates.write_iops, rates.write_bw_bytes),
    ];
    let each = ways.into_iter().flat_map(|(what, iops, bw_bytes)| {
        let iops = iops.map(|iops| format!("{what} {}", iops_limit(iops)));
        iops.into_iter().chain(bw_bytes.map(|bytes| format!("{what} {}", mb_per_s(bytes))))
    });
    each.collect::<Vec<_>>().join(", ")
}
