//! Sizes and times as they are written in stack texts.

use std::fmt;

/// A size, in the largest binary unit that divides it: `64M`, `512`, `1536K`.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in_largest_unit(
            f,
            self.0,
            &[("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)],
            "",
        )
    }
}

/// A time, in the largest unit that divides it: `200us`, `1500us`, `3s`.
pub(crate) struct Duration(pub(crate) u64);

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in_largest_unit(
            f,
            self.0,
            &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)],
            "ns",
        )
    }
}

fn write_in_largest_unit(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    units: &[(&str, u64)],
    smallest: &str,
) -> fmt::Result {
    match units.iter().find(|(_, size)| value > 0 && value.is_multiple_of(*size)) {
        Some((unit, size)) => write!(f, "{}{unit}", value / size),
        None => write!(f, "{value}{smallest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_unit_that_divides_is_chosen() {
        let sizes = [0, 1, 1000, 1536 << 10, 64 << 20, 1 << 40].map(|n| Bytes(n).to_string());
        assert_eq!(sizes, ["0", "1", "1000", "1536K", "64M", "1T"]);
        let times = [0, 999, 200_000, 1_500_000, 3_000_000_000].map(|n| Duration(n).to_string());
        assert_eq!(times, ["0ns", "999ns", "200us", "1500us", "3s"]);
    }
}
