//! What a cap counts, and in which unit.

use iotax_caps::{Cap, TargetCaps};

use crate::bandwidth::Unit;

/// What a cap counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Quantity {
    /// I/Os
    Iops,
    /// Bytes
    Bandwidth(Unit),
}

impl Quantity {
    /// By whether it counts bytes, and the unit that all bandwidths have.
    pub(super) const fn new(is_bytes: bool, unit: Unit) -> Self {
        if is_bytes { Self::Bandwidth(unit) } else { Self::Iops }
    }

    /// `IOPS`, `bandwidth`
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Bandwidth(_) => "bandwidth",
        }
    }

    /// `IOPS`, `MB/s`: as a head.
    pub(super) const fn unit(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Bandwidth(unit) => unit.word(),
        }
    }

    /// So many per second, in the unit.
    pub(super) fn amount(self, per_s: f64) -> f64 {
        match self {
            Self::Iops => per_s,
            Self::Bandwidth(unit) => unit.amount(per_s),
        }
    }

    /// The same where a head says the unit: `3,998`, `32.77`.
    pub(super) fn figure(self, per_s: f64) -> String {
        plain(self.amount(per_s))
    }

    /// The same in a sentence: `3,998 IOPS`, `32.77 MB/s`.
    pub(super) fn rate(self, per_s: f64) -> String {
        format!("{} {}", self.figure(per_s), self.unit())
    }

    /// I/Os or bytes that add up: `5,400,000 I/Os`, `126.0 MB`.
    pub(super) fn sum(self, count: f64) -> String {
        let word = match self {
            Self::Iops => "I/Os",
            Self::Bandwidth(unit) => unit.of_size(),
        };
        format!("{} {word}", self.figure(count))
    }
}

/// The caps that were found.
pub(super) fn caps(target: &TargetCaps, unit: Unit) -> Vec<(Quantity, &Cap)> {
    let caps = [(Quantity::Iops, &target.iops), (Quantity::Bandwidth(unit), &target.bw_bytes)];
    caps.into_iter().filter_map(|(quantity, cap)| Some((quantity, cap.as_ref()?))).collect()
}

/// Four digits, and thousands apart: `3.251`, `80.02`, `3,998`, `24,310`.
pub(super) fn plain(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.95 => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
            return iotax_words::grouped(value.round().max(0.0) as u64);
        }
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        _ => 3,
    };
    iotax_words::fixed(value, decimals)
}
