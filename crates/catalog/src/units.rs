//! Units of the sources, and quantities as users write them.
//!
//! Azure prints MB/s. Its API gives bytes per second, which take precedence (older sizes are
//! multiples of 1,024,000 or 1,048,576). A figure that is only printed is read as 10^6. AWS gives
//! instances in MB/s (10^6) and volumes in MiB/s; Google Cloud prints MiB/s. Sizes are in GiB
//! everywhere.

use crate::limit::Cloud;

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MB: f64 = 1e6;
/// Bytes of 10^6 bits, and of 10^9.
pub(crate) const MBIT: f64 = 125e3;
pub(crate) const GBIT: f64 = 125e6;
pub(crate) const MIB: f64 = 1_048_576.0;
pub(crate) const GIB: f64 = 1_073_741_824.0;
pub(crate) const TIB: f64 = 1_099_511_627_776.0;

/// GiB, which may have decimals, as whole bytes.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are small")]
pub(crate) fn gib_to_bytes(gib: f64) -> u64 {
    (gib * GIB).round() as u64
}

/// A size: `500G`, `500GiB`, `2T`. Without a unit: GiB.
pub(crate) fn size_gib(text: &str) -> Option<f64> {
    let (amount, unit) = split(text)?;
    let gib = match unit.as_str() {
        "" | "g" | "gib" => amount,
        "t" | "tib" => amount * 1_024.0,
        _ => return None,
    };
    (gib > 0.0).then_some(gib)
}

/// A throughput in bytes per second: `250M`, `250MiB`, `250MB`, `1G`. `M`, or no unit, is the
/// provider's own unit: MB for Azure, MiB otherwise.
pub(crate) fn bw_bytes(text: &str, cloud: Cloud) -> Option<f64> {
    let text = text.strip_suffix("/s").unwrap_or(text);
    let (amount, unit) = split(text)?;
    let own = if cloud == Cloud::Azure { MB } else { MIB };
    let own_giga = if cloud == Cloud::Azure { 1e9 } else { GIB };
    let scale = match unit.as_str() {
        "" | "m" => own,
        "g" => own_giga,
        "mib" => MIB,
        "mb" => MB,
        "gib" => GIB,
        "gb" => 1e9,
        _ => return None,
    };
    (amount > 0.0).then_some(amount * scale)
}

/// I/Os per second: `6000`, `6k`.
pub(crate) fn iops(text: &str) -> Option<f64> {
    let (amount, unit) = split(text)?;
    let iops = match unit.as_str() {
        "" => amount,
        "k" => amount * 1_000.0,
        _ => return None,
    };
    (iops >= 1.0).then_some(iops)
}

/// A number and its suffix in lower case. Sums stay exact in f64 below 10^12.
fn split(text: &str) -> Option<(f64, String)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let amount: f64 = number.parse().ok()?;
    (amount < 1e12).then(|| (amount, unit.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_the_providers_own_unit() {
        assert_eq!(bw_bytes("250M", Cloud::Azure), Some(250e6));
        assert_eq!(bw_bytes("250M", Cloud::Aws), Some(262_144_000.0));
        assert_eq!(bw_bytes("250MB/s", Cloud::Aws), Some(250e6));
        assert_eq!(bw_bytes("1GiB", Cloud::Azure), Some(GIB));
    }

    #[test]
    fn sizes_and_rates_need_a_sensible_amount() {
        assert_eq!(size_gib("2T"), Some(2_048.0));
        assert_eq!(size_gib("500"), Some(500.0));
        assert_eq!(iops("6k"), Some(6_000.0));
        for text in ["", "0", "G", "-1", "1e9", "1..2", "9999999999999", "5X", "nan", "inf"] {
            assert_eq!((size_gib(text), iops(text)), (None, None), "{text}");
            assert_eq!(bw_bytes(text, Cloud::Aws), None, "{text}");
        }
    }
}
