//! Documented limits of disks and of VMs.

use iotax_catalog::{By, Cloud, Direction, Disk, Limit, Rate, Scope};
use iotax_diagnose::why::limits::own_burst;
use iotax_diagnose::{BurstFor, Counted, LoweredRate};
use iotax_quantity::{iops_limit, mb_per_s, mib_per_s_limit, span, whole};

/// `instance limit of m5.large`.
pub(super) fn name(scope: Scope, of: &str) -> String {
    format!("{scope} limit of {of}")
}

pub(super) fn name_of(limit: &Limit) -> String {
    name(limit.scope, &limit.of)
}

pub(super) fn name_by(by: &By) -> String {
    name(by.scope, &by.of)
}

/// ` of reads`, if writes have a separate limit.
pub(super) fn of_direction(direction: Direction) -> String {
    match direction {
        Direction::Both => String::new(),
        Direction::Read => " for reads".to_owned(),
        Direction::Write => " for writes".to_owned(),
    }
}

pub(super) fn figure(counted: Counted, rate: f64) -> String {
    match counted {
        Counted::Iops => iops_limit(rate),
        Counted::Bytes => mb_per_s(rate),
    }
}

/// The rates of a limit: `5,000 IOPS (burst 20,000 IOPS), 200 MB/s`.
pub(super) fn rates(limit: &Limit) -> String {
    let rates = Counted::ALL.into_iter().filter_map(|counted| {
        let rate = counted.rate(limit)?;
        let burst =
            own_burst(rate).map(|burst| format!(" (burst {})", figure(counted, burst.per_s)));
        Some(figure(counted, rate.sustained) + &burst.unwrap_or_default())
    });
    rates.collect::<Vec<_>>().join(", ")
}

/// How long full credits last.
pub(super) fn lasts(seconds: Option<f64>) -> String {
    match seconds {
        Some(seconds) if seconds.is_finite() => {
            format!("for {} with full credits", span(whole(seconds)))
        }
        _ => "for an undocumented time".to_owned(),
    }
}

/// `30 min`, or `a while`.
pub(super) fn for_how_long(lasts_s: Option<f64>) -> String {
    lasts_s.map_or_else(|| "a while".to_owned(), |seconds| span(whole(seconds)))
}

/// Documented limits of a disk, in short: `300 IOPS, 128 MiB/s; in bursts 3,000 IOPS`. If reads and
/// writes differ, those of reads.
pub fn disk_limits(disk: &Disk) -> String {
    let is_read = |limit: &&Limit| limit.direction != Direction::Write;
    let limit = disk.limits.iter().find(is_read);
    limit.map_or_else(|| "nothing".to_owned(), |limit| as_written(limit, disk.cloud))
}

/// Documented limit of a VM: `instance: 3,600 IOPS`.
pub fn vm_limit(limit: &Limit, cloud: Cloud) -> String {
    format!("{}: {}", limit.scope, as_written(limit, cloud))
}

/// The rates of a limit and of its bursts, in the units of its cloud.
fn as_written(limit: &Limit, cloud: Cloud) -> String {
    let is_decimal = cloud == Cloud::Azure;
    let of = |counted: Counted, rate: &Rate| {
        let burst = own_burst(rate).map(|burst| clouds_own(counted, burst.per_s, is_decimal));
        (clouds_own(counted, rate.sustained, is_decimal), burst)
    };
    let rates = Counted::ALL.into_iter();
    let rates = rates.filter_map(|counted| Some(of(counted, counted.rate(limit)?)));
    let (sustained, bursts): (Vec<_>, Vec<_>) = rates.unzip();
    let bursts: Vec<String> = bursts.into_iter().flatten().collect();
    let bursts = if bursts.is_empty() {
        String::new()
    } else {
        format!("; up to {} in bursts", bursts.join(", "))
    };
    let reads = if limit.direction == Direction::Read { " for reads" } else { "" };
    format!("{}{reads}{bursts}", sustained.join(", "))
}

fn clouds_own(counted: Counted, rate: f64, is_decimal: bool) -> String {
    match counted {
        Counted::Iops => iops_limit(rate),
        Counted::Bytes if is_decimal => mb_per_s(rate),
        Counted::Bytes => mib_per_s_limit(rate),
    }
}

/// `128 MiB/s of reads (1000 MiB/s for 30 min)`.
pub(super) fn lowered(counted: Counted, direction: Direction, rate: &LoweredRate) -> String {
    let LoweredRate { is_decimal, per_s, burst } = rate;
    let said = |rate| clouds_own(counted, rate, *is_decimal);
    let burst = burst.map(|BurstFor { per_s, lasts_s }| {
        let lasts = for_how_long(lasts_s);
        format!(" ({} for {lasts})", said(per_s))
    });
    format!("{}{}{}", said(*per_s), of_direction(direction), burst.unwrap_or_default())
}
