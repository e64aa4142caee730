use iotax_diagnose::GroupRates;
use iotax_diagnose::why::groups::GroupsWhy;
use iotax_quantity::{bytes, mb_per_s, percent};

pub(in super::super) fn why(why: &GroupsWhy, group: &str) -> String {
    match why {
        GroupsWhy::Io { path, rates: of } => format!(
            "All processes of {group} together get no more than this on the disk under {path}: {}.",
            rates(*of)
        ),
        GroupsWhy::Memory { used_bytes, limit_bytes, refaults } => format!(
            "{group} uses {} of {}. Its page cache was thrown out and read again {refaults} \
             times: reads that memory could answer go to the disk.",
            bytes(*used_bytes as f64),
            bytes(*limit_bytes as f64)
        ),
        GroupsWhy::CpuQuota { share, cpus, each_ms } => format!(
            "In {} of its periods since it was made {group} had used up its quota{}; its CPUs \
             together stood still for {each_ms:.0} ms each time, those whose I/O was done among \
             them.",
            percent(*share),
            cpus.map_or(String::new(), |cpus| format!(" of {cpus:.1} CPUs"))
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
        let iops = iops.map(|iops| format!("{what} {iops:.0} IOPS"));
        iops.into_iter().chain(bw_bytes.map(|bytes| format!("{what} {}", mb_per_s(bytes))))
    });
    each.collect::<Vec<_>>().join(", ")
}
