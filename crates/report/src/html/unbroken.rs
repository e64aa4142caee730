//! Figures that stay on one line with their unit and their interval.

/// Units that stay beside their number.
const UNITS: [&str; 10] = ["%", "k", "M", "IOPS", "ns", "µs", "ms", "s", "MB/s", "MiB/s"];

/// Makes the spaces inside `12 % [10, 14]` and `85.3 k IOPS` unbreakable.
pub(super) fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    let mut before = "";
    for word in text.split(' ') {
        let unit = UNITS.contains(&word.trim_end_matches([',', '.', ';']));
        let amount = before.ends_with(|c: char| c.is_ascii_digit()) || UNITS.contains(&before);
        if !out.is_empty() {
            out.push(if inside || (amount && (unit || word.starts_with('['))) {
                '\u{a0}'
            } else {
                ' '
            });
        }
        out.push_str(word);
        inside = (inside || word.starts_with('[')) && !word.contains(']');
        before = word;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_not_torn_from_its_interval() {
        let shown = unbroken("cap costs 12 % [10, 14] less, 2 of 3: 85.3 k IOPS, 9.7 µs.");
        let expected = "cap costs 12 % [10, 14] less, 2 of 3: 85.3 k IOPS, 9.7 µs.";
        assert_eq!(shown.replace('\u{a0}', " "), expected, "only spaces change");
        let joined: Vec<_> = shown.split(' ').filter(|word| word.contains('\u{a0}')).collect();
        assert_eq!(
            joined,
            ["12\u{a0}%\u{a0}[10,\u{a0}14]", "85.3\u{a0}k\u{a0}IOPS,", "9.7\u{a0}µs."]
        );
    }
}
