//! Sizes as Kubernetes writes them.

/// The first size that Kubernetes has a letter for, and the letters.
const UNITS: [(u64, &str); 3] = [(1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];

/// Bytes as Kubernetes writes them.
pub(crate) fn quantity(bytes: u64) -> String {
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, letters)| format!("{}{letters}", bytes / unit))
}
