//! Figures of the catalog as words.

use iotax_catalog::{Bound, Cloud, Direction, Limit, Rate};
use iotax_quantity::{span, whole};

use iotax_wording::bandwidth::Unit;

/// Where the sources have nothing.
pub(super) const UNKNOWN: &str = "unknown";

/// The unit of all bandwidths of a page: the one that its limits are whole in, or else that of most
/// documents of these VMs.
pub(super) fn unit_of_vms<'a>(cloud: Cloud, limits: impl Iterator<Item = &'a Limit>) -> Unit {
    unit(limits, if cloud == Cloud::Gcp { Unit::Mib } else { Unit::Mb })
}

/// The same of disks.
pub(super) fn unit_of_disks<'a>(cloud: Cloud, limits: impl Iterator<Item = &'a Limit>) -> Unit {
    unit(limits, if cloud == Cloud::Azure { Unit::Mb } else { Unit::Mib })
}

fn unit<'a>(limits: impl Iterator<Item = &'a Limit>, usual: Unit) -> Unit {
    let rates = limits.filter_map(|limit| limit.bw_bytes.as_ref());
    Unit::of(&rates.map(|rate| rate.sustained).collect::<Vec<_>>()).unwrap_or(usual)
}

/// Bytes per second as a figure under a head that says the unit.
pub(super) fn bandwidth(unit: Unit, bytes: f64) -> String {
    amount(unit.amount(bytes))
}

/// A figure with thousands apart, and one decimal if it is not whole.
pub(super) fn amount(value: f64) -> String {
    let tenths = whole(value * 10.0);
    let ones = iotax_quantity::grouped(tenths / 10);
    match tenths % 10 {
        0 => ones,
        tenth => format!("{ones}.{tenth}"),
    }
}

/// How long a limit's own burst lasts.
pub(super) fn burst_lasts(rate: &Rate) -> String {
    let Some(burst) = &rate.burst else { return String::new() };
    match burst.full_s(rate.sustained) {
        Some(seconds) => span(whole(seconds)),
        None if burst.opt_in => "opt-in".to_owned(),
        None => UNKNOWN.to_owned(),
    }
}

/// How long a burst through several limits lasts.
pub(super) fn bound_lasts(bound: &Bound) -> String {
    let Some(burst) = &bound.burst else { return String::new() };
    burst.lasts_s.map_or_else(|| UNKNOWN.to_owned(), |seconds| span(whole(seconds)))
}

/// A bucket's name: which I/Os, and of which disks.
pub(super) fn scope(limit: &Limit) -> String {
    let mut words = vec![limit.scope.to_string()];
    match limit.disk_kinds.as_slice() {
        [] => {}
        [one] => words.push(one.clone()),
        [one, other] => words.push(format!("{one} and {other}")),
        _ => words.push("all disks".to_owned()),
    }
    match limit.direction {
        Direction::Both => {}
        Direction::Read => words.push("reads".to_owned()),
        Direction::Write => words.push("writes".to_owned()),
    }
    words.join(", ")
}

/// Size of memory or a disk, which is whole in GiB and named by it in documents.
pub(super) fn size(bytes: u64) -> String {
    const GIB: f64 = 1_073_741_824.0;
    iotax_quantity::gib(bytes as f64 / GIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_thousands_apart_and_no_empty_decimals() {
        assert_eq!(amount(25_600.0), "25,600");
        assert_eq!(amount(32.768), "32.8");
        assert_eq!(amount(0.0), "0");
    }
}
