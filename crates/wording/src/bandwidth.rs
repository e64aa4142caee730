//! The unit of bandwidths: one unit for all figures that are shown together.
//!
//! Measured figures are in MiB/s, like fio's first figure and `iostat -m` (whose MB are MiB).
//! Beside documented limits, all figures are in the unit of the documents: MB/s (10^6 bytes) for
//! Azure and AWS's instances, MiB/s for AWS's volumes and Google Cloud. Figures are never scaled to
//! KiB/s or GiB/s, so those of several tables and reports can be compared directly.

/// A unit of bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 10^6 bytes per second
    Mb,
    /// 2^20 bytes per second
    Mib,
}

pub const MEASURED: Unit = Unit::Mib;

impl Unit {
    /// The unit in which all of these limits, in bytes per second, are whole, if there is one.
    pub fn of(limits: &[f64]) -> Option<Self> {
        let is_whole = |limit: &f64, unit: Self| unit.amount(*limit).fract() == 0.0;
        let units = if limits.is_empty() { &[][..] } else { &[Self::Mb, Self::Mib] };
        units.iter().copied().find(|unit| limits.iter().all(|limit| is_whole(limit, *unit)))
    }

    /// `MiB/s`, as a heading of columns and rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Mb => "MB/s",
            Self::Mib => "MiB/s",
        }
    }

    /// `MiB`
    pub const fn of_size(self) -> &'static str {
        match self {
            Self::Mb => "MB",
            Self::Mib => "MiB",
        }
    }

    /// Bytes per second in this unit, or bytes in its unit of sizes.
    pub fn amount(self, bytes: f64) -> f64 {
        bytes
            / match self {
                Self::Mb => 1e6,
                Self::Mib => 1_048_576.0,
            }
    }
}

/// A measured figure, without the unit, which is in the heading: `0.047`, `14.0`, `333`, `8,523`.
pub fn measured(bytes_per_s: f64) -> String {
    iotax_quantity::bandwidth(MEASURED.amount(bytes_per_s))
}

/// The same in a sentence: `333 MiB/s`.
pub fn measured_rate(bytes_per_s: f64) -> String {
    iotax_quantity::mib_per_s(bytes_per_s)
}

/// A limit of this machine, beside documented ones: `105 MB/s`.
pub fn limit_rate(bytes_per_s: f64) -> String {
    iotax_quantity::mb_per_s(bytes_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_in_the_unit_they_are_whole_in() {
        const MIB: f64 = 1_048_576.0;
        assert_eq!(Unit::of(&[600e6, 1e9]), Some(Unit::Mb));
        assert_eq!(Unit::of(&[125.0 * MIB]), Some(Unit::Mib));
        for undecided in [&[125.0 * MIB, 216e6][..], &[32_768_000.0], &[]] {
            assert_eq!(Unit::of(undecided), None, "{undecided:?}");
        }
    }

    #[test]
    fn measured_rates_keep_their_digits_and_their_unit() {
        let shown = [0.0, 20_480.0, 49_152.0, 14_680_064.0, 349_175_808.0, 8.937e9].map(measured);
        assert_eq!(shown, ["0.00", "0.020", "0.047", "14.0", "333", "8,523"]);
        assert_eq!(measured_rate(349_175_808.0), "333 MiB/s");
    }
}
