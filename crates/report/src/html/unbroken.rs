//! Figures that stay on one line with their unit and their interval.

/// Units that stay beside their number.
const UNITS: [&str; 8] = ["%", "IOPS", "ns", "µs", "ms", "s", "MB/s", "MiB/s"];

/// What follows the size of an effect.
const WAYS: [&str; 4] = ["slower", "faster", "more", "less"];

/// Makes the spaces inside `12 % [10, 14]`, `5.0x slower [4.2, 6.0]` and `85,300 IOPS` unbreakable.
pub(super) fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    let mut before = "";
    for word in text.split(' ') {
        let bare = word.trim_end_matches([',', '.', ';', ']']);
        let unit = UNITS.contains(&bare);
        let amount = before.ends_with(|c: char| c.is_ascii_digit()) || UNITS.contains(&before);
        let is_way = WAYS.contains(&bare) && (before == "%" || is_factor(before));
        let is_interval = word.starts_with('[') && (amount || WAYS.contains(&before));
        // Two ends with a word each are too long for one line.
        let is_end = before.strip_suffix(',').is_some_and(|end| WAYS.contains(&end));
        if !out.is_empty() {
            out.push(if inside && !is_end || is_way || is_interval || (amount && unit) {
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

/// `2.5x`, maybe as the first end of an interval.
fn is_factor(word: &str) -> bool {
    let number = word.trim_start_matches('[').strip_suffix('x');
    number.is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_not_torn_from_its_interval() {
        let shown = unbroken("cap costs 12 % [10, 14] less, 2 of 3: 85,300 IOPS, 9.7 µs.");
        let expected = "cap costs 12 % [10, 14] less, 2 of 3: 85,300 IOPS, 9.7 µs.";
        assert_eq!(shown.replace('\u{a0}', " "), expected, "only spaces change");
        let joined: Vec<_> = shown.split(' ').filter(|word| word.contains('\u{a0}')).collect();
        assert_eq!(joined, ["12\u{a0}%\u{a0}[10,\u{a0}14]", "85,300\u{a0}IOPS,", "9.7\u{a0}µs."]);
    }

    #[test]
    fn a_factor_is_not_torn_from_its_interval() {
        let joined = |text: &str| unbroken(text).replace('\u{a0}', "_");
        assert_eq!(joined("28x faster [6.4, 120] in it"), "28x_faster_[6.4,_120] in it");
        assert_eq!(
            joined("4.0x slower [1.2x faster, 20x slower] than"),
            "4.0x_slower_[1.2x_faster, 20x_slower] than"
        );
        assert_eq!(joined("it is slower [sic]"), "it is slower_[sic]");
    }
}
