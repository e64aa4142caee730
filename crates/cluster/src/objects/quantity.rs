//! Sizes as Kubernetes writes them.

/// The first size that Kubernetes has a letter for, and the letters.
const UNITS: [(u64, &str); 3] = [(1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];

/// Bytes as Kubernetes writes them.
pub(crate) fn quantity(bytes: u64) -> String {
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, letters)| format!("{}{letters}", bytes / unit))
}

/// Bytes of what Kubernetes has written: `10Gi`, `1.5T`, `500M`. `None` for what is none of these, and
/// for the few who write an exponent.
pub(crate) fn bytes_of(text: &str) -> Option<u64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (letter, base) = suffix.strip_suffix('i').map_or((suffix, 1000), |letter| (letter, 1024));
    let power = ["", "k", "M", "G", "T", "P", "E"];
    let letter = if letter == "K" { "k" } else { letter };
    let power = power.iter().position(|one| *one == letter)?;
    let unit = u128::pow(base, u32::try_from(power).ok()?);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits: u128 = format!("{whole}{part}").parse().ok()?;
    let of = 10_u128.checked_pow(u32::try_from(part.len()).ok()?)?;
    u64::try_from(digits.checked_mul(unit)? / of).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_clusters_write_them() {
        for (text, bytes) in [
            ("10Gi", Some(10 << 30)),
            ("200Mi", Some(200 << 20)),
            ("1.5Ki", Some(1536)),
            ("5G", Some(5_000_000_000)),
            ("12k", Some(12_000)),
            ("7", Some(7)),
            ("1e9", None),
            ("", None),
            ("Gi", None),
            ("10Xi", None),
        ] {
            assert_eq!(bytes_of(text), bytes, "{text}");
        }
        assert_eq!(bytes_of(&quantity(3 << 30)), Some(3 << 30));
    }
}
