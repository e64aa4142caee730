//! Documented limits: figures, and what sources say of each other.

use iotax_catalog::{Agreement, Bound, Cloud, Conflict, Direction, Limit, Rate, Scope};
use iotax_quantity::{grouped, iops_limit, limit_figure, mb_per_s, span, whole};

use crate::bandwidth::Unit;

/// Where the sources have nothing.
pub const UNKNOWN: &str = "unknown";

/// The unit of all bandwidths of a page: the one that its limits are whole in, or else that of most
/// documents of these VMs.
pub fn unit_of_vms<'a>(cloud: Cloud, limits: impl Iterator<Item = &'a Limit>) -> Unit {
    unit(limits, if cloud == Cloud::Gcp { Unit::Mib } else { Unit::Mb })
}

/// The same of disks.
pub fn unit_of_disks<'a>(cloud: Cloud, limits: impl Iterator<Item = &'a Limit>) -> Unit {
    unit(limits, if cloud == Cloud::Azure { Unit::Mb } else { Unit::Mib })
}

fn unit<'a>(limits: impl Iterator<Item = &'a Limit>, usual: Unit) -> Unit {
    let rates = limits.filter_map(|limit| limit.bw_bytes.as_ref());
    Unit::of(&rates.map(|rate| rate.sustained).collect::<Vec<_>>()).unwrap_or(usual)
}

/// Bytes per second as a figure under a head that says the unit.
pub fn bandwidth(unit: Unit, bytes: f64) -> String {
    limit_figure(unit.amount(bytes))
}

/// How long a limit's own burst lasts.
pub fn burst_lasts(rate: &Rate) -> String {
    let Some(burst) = &rate.burst else { return String::new() };
    match burst.full_s(rate.sustained) {
        Some(seconds) => span(whole(seconds)),
        None if burst.opt_in => "opt-in".to_owned(),
        None => UNKNOWN.to_owned(),
    }
}

/// How long a burst through several limits lasts.
pub fn bound_lasts(bound: &Bound) -> String {
    let Some(burst) = &bound.burst else { return String::new() };
    burst.lasts_s.map_or_else(|| UNKNOWN.to_owned(), |seconds| span(whole(seconds)))
}

/// A bucket's name: which I/Os, and of which disks.
pub fn scope(limit: &Limit) -> String {
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
pub fn size(bytes: u64) -> String {
    const GIB: f64 = 1_073_741_824.0;
    iotax_quantity::gib(bytes as f64 / GIB)
}

/// Figures that were published and are not those of the catalog's sources.
pub fn conflict(conflict: &Conflict) -> String {
    let Conflict { claimed_by, name, scope, explanation, .. } = conflict;
    let pair = |iops: Option<f64>, bytes: Option<f64>| {
        let iops = iops.map(iops_limit);
        let bytes = bytes.map(mb_per_s);
        let known: Vec<String> = iops.into_iter().chain(bytes).collect();
        (!known.is_empty()).then(|| known.join(" and "))
    };
    let steady = pair(conflict.iops, conflict.bw_bytes);
    let bursts = pair(conflict.burst_iops, conflict.burst_bw_bytes);
    let bursts = bursts.map(|pair| format!("bursts of {pair}"));
    let figures: Vec<String> = steady.into_iter().chain(bursts).collect();
    let figures = figures.join(", ");
    format!(
        "Conflict: {} gives {figures}, for {name} ({scope}). But {explanation}.",
        claimed_by.text
    )
}

/// Whose figures these are.
pub fn belongs_to(names: &[String]) -> Option<String> {
    let (first, others) = names.split_first()?;
    let also = match others {
        [] => String::new(),
        _ => format!(" (and of {})", others.join(", ")),
    };
    Some(format!("These are the figures of {first}{also}."))
}

/// What the catalog says to a user's figure.
pub const fn agreement(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Same => "same",
        Agreement::Differs => "differs",
        Agreement::Unconfirmed => "not all figures are in the catalog",
        Agreement::Unknown => "unknown",
    }
}

/// To how many of them: `3 other than the catalog`.
pub fn agree(agreement: Agreement, count: u64) -> String {
    let words = match agreement {
        Agreement::Same => "the same",
        Agreement::Differs => "other than the catalog",
        Agreement::Unconfirmed => "not all in the catalog",
        Agreement::Unknown => "unknown to the catalog",
    };
    format!("{} {words}", grouped(count))
}

/// A limit whose figure is not documented.
pub fn unknown(of: &str, scope: Scope, rate: &str) -> String {
    format!("{of} ({scope}): its {rate} limit is not known, there may be less.")
}

pub fn none_found(title: &str) -> String {
    format!("{title}: none were found in the sources.")
}

pub const NO_NETWORK_LIMITS: &str = "Network: no limits were found in the sources.";
