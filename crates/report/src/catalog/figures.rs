//! Figures of the catalog as words.

use iotax_catalog::{Bound, Direction, Limit, Rate};

use crate::format;

/// Where the sources have nothing.
pub(super) const UNKNOWN: &str = "unknown";

const MB: f64 = 1e6;
const MIB: f64 = 1_048_576.0;

/// The unit in which throughputs are round: documents of one provider print MB/s, of another
/// MiB/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Mb,
    Mib,
}

impl Unit {
    /// MB/s, unless all of them are whole only in MiB/s.
    pub(super) fn of<'a>(bytes: &(impl Iterator<Item = &'a Rate> + Clone)) -> Self {
        let whole = |unit: f64| bytes.clone().all(|rate| (rate.sustained / unit).fract() == 0.0);
        if !whole(MB) && whole(MIB) { Self::Mib } else { Self::Mb }
    }

    pub(super) fn of_limits<'a>(limits: impl Iterator<Item = &'a Limit> + Clone) -> Self {
        Self::of(&limits.filter_map(|limit| limit.bw_bytes.as_ref()))
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Mb => "MB/s",
            Self::Mib => "MiB/s",
        }
    }

    /// Bytes per second in this unit.
    pub(super) fn amount(self, bytes: f64) -> String {
        amount(bytes / if self == Self::Mb { MB } else { MIB })
    }
}

/// A figure with thousands apart, and one decimal if it is not whole.
pub(super) fn amount(value: f64) -> String {
    let tenths = (value * 10.0).round();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are small")]
    let (whole, tenth) = ((tenths / 10.0).trunc() as u64, (tenths % 10.0) as u64);
    match tenth {
        0 => format::count(whole),
        _ => format!("{}.{tenth}", format::count(whole)),
    }
}

/// Seconds: `45 s`, `30 min`, `33 min 20 s`, `2 h`.
pub(super) fn duration(seconds: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let seconds = seconds.round() as u64;
    let (h, min, s) = (seconds / 3_600, seconds % 3_600 / 60, seconds % 60);
    match (h, min, s) {
        (0, 0, s) => format!("{s} s"),
        (0, min, 0) => format!("{min} min"),
        (0, min, s) => format!("{min} min {s} s"),
        (h, 0, _) => format!("{} h", format::count(h)),
        (h, min, _) => format!("{} h {min} min", format::count(h)),
    }
}

/// How long a limit's own burst lasts.
pub(super) fn burst_lasts(rate: &Rate) -> String {
    let Some(burst) = &rate.burst else { return String::new() };
    match burst.full_s(rate.sustained) {
        Some(seconds) => duration(seconds),
        None if burst.opt_in => "opt-in".to_owned(),
        None => UNKNOWN.to_owned(),
    }
}

/// How long a burst through several limits lasts.
pub(super) fn bound_lasts(bound: &Bound) -> String {
    let Some(burst) = &bound.burst else { return String::new() };
    burst.lasts_s.map_or_else(|| UNKNOWN.to_owned(), duration)
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

/// Size of memory or a disk, which is whole in GiB.
pub(super) fn size(bytes: u64) -> String {
    const GIB: f64 = 1_073_741_824.0;
    format!("{} GiB", amount(bytes as f64 / GIB))
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

    #[test]
    fn durations_are_as_exact_as_they_are_short() {
        let said = [45.0, 1_800.0, 2_000.0, 7_200.0, 9_000.4].map(duration);
        assert_eq!(said, ["45 s", "30 min", "33 min 20 s", "2 h", "2 h 30 min"]);
    }

    #[test]
    fn throughputs_are_in_the_unit_they_are_round_in() {
        let of = |rates: &[f64]| {
            let rates: Vec<_> = rates.iter().copied().map(Rate::steady).collect();
            Unit::of(&rates.iter())
        };
        assert_eq!(of(&[600e6, 1e9]), Unit::Mb);
        assert_eq!(of(&[125.0 * MIB]), Unit::Mib);
        assert_eq!(of(&[125.0 * MIB, 216e6]), Unit::Mb);
        assert_eq!(of(&[]), Unit::Mb);
        assert_eq!(Unit::Mib.amount(125.0 * MIB), "125");
    }
}
