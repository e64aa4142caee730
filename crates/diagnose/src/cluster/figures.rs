//! Documented limits in words.

use iotax_catalog::{Cloud, Direction, Disk, Limit, Rate};
use iotax_quantity::{mb_per_s, mib_per_s};

/// `300 IOPS, 128 MiB/s; in bursts 3,000 IOPS`, of reads where writes differ.
pub(super) fn figures(disk: &Disk) -> String {
    let told = |limit: &&Limit| limit.direction != Direction::Write;
    let Some(limit) = disk.limits.iter().find(told) else { return "nothing".to_owned() };
    rates(limit, disk.cloud)
}

/// The rates of a limit, and those of its bursts.
pub(super) fn rates(limit: &Limit, cloud: Cloud) -> String {
    let bytes = |rate: f64| match cloud {
        Cloud::Azure => mb_per_s(rate),
        Cloud::Aws | Cloud::Gcp => mib_per_s(rate),
    };
    let rate = |rate: &Option<Rate>, said: &dyn Fn(f64) -> String| {
        rate.as_ref().map(|rate| {
            let burst = rate.burst.as_ref().filter(|burst| !burst.opt_in);
            (said(rate.sustained), burst.map(|burst| said(burst.per_s)))
        })
    };
    let iops = rate(&limit.iops, &|iops| format!("{iops:.0} IOPS"));
    let bytes = rate(&limit.bw_bytes, &bytes);
    let parts: Vec<_> = iops.into_iter().chain(bytes).collect();
    let sustained: Vec<_> = parts.iter().map(|(sustained, _)| sustained.clone()).collect();
    let bursts: Vec<_> = parts.iter().filter_map(|(_, burst)| burst.clone()).collect();
    let bursts = if bursts.is_empty() {
        String::new()
    } else {
        format!("; in bursts {}", bursts.join(", "))
    };
    let reads = if limit.direction == Direction::Read { " of reads" } else { "" };
    format!("{}{reads}{bursts}", sustained.join(", "))
}
