//! Sizes in messages: rounded, for people. What has to be exact uses `iotax_experiment::units`.

/// `74.9 GiB`; sizes below 1 KiB to the byte.
pub(crate) fn readable(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    // What would be rounded to 1024 is shown as 1 of the next unit.
    while size >= 1023.95 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    let text = format!("{size:.1}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_and_in_binary_units() {
        let shown = [0, 1000, 1024, 1536, (1 << 20) - 1, 1 << 20, 80_424_249_753, u64::MAX];
        insta::assert_snapshot!(shown.map(readable).join(", "), @"0 bytes, 1000 bytes, 1 KiB, 1.5 KiB, 1 MiB, 1 MiB, 74.9 GiB, 16 EiB");
    }
}
