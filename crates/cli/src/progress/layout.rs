//! Fits the progress line into the terminal: leaves out the least important parts, then cuts the
//! rest.

use textwrap::core::display_width;

/// Columns that stay empty, because a terminal may wrap a line that fills all of them.
const SPARE: usize = 1;
const SEPARATOR: &str = " · ";
const CUT: char = '…';

/// A part of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub text: String,
    /// Parts of a higher rank are left out first, and parts of rank 0 never.
    pub rank: u8,
}

impl Part {
    pub(super) fn new(rank: u8, text: impl Into<String>) -> Self {
        Self { text: text.into(), rank }
    }
}

/// The line, with the parts that fit into this number of columns.
pub(super) fn fit(title: &str, parts: &[Part], columns: usize) -> String {
    let room = columns.saturating_sub(SPARE);
    let highest = parts.iter().map(|part| part.rank).max().unwrap_or(0);
    let line = |most: u8| {
        let shown = parts.iter().filter(|part| part.rank <= most && !part.text.is_empty());
        let texts: Vec<&str> = shown.map(|part| part.text.as_str()).collect();
        format!("{title}{}", texts.join(SEPARATOR))
    };
    let fits = |line: &String| display_width(line) <= room;
    let shown = (0..=highest).rev().map(line).find(fits);
    shown.unwrap_or_else(|| cut(&line(0), room))
}

/// `text`, cut with an ellipsis if it does not fit.
pub(super) fn cut(text: &str, room: usize) -> String {
    if display_width(text) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        let longer = format!("{short}{c}");
        if display_width(&longer) + 1 > room {
            break;
        }
        short = longer;
    }
    if room > 0 {
        short.push(CUT);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<Part> {
        vec![
            Part::new(0, "b 11 % slower [7, 15]"),
            Part::new(2, "140 pairs"),
            Part::new(0, "~8 s left"),
            Part::new(3, "at most 9 min 50 s"),
            Part::new(4, "4,712 IOPS"),
        ]
    }

    #[test]
    fn what_matters_least_is_left_out_first() {
        let at = |columns| fit("", &parts(), columns);
        assert_eq!(
            at(80),
            "b 11 % slower [7, 15] · 140 pairs · ~8 s left · at most 9 min 50 s · 4,712 IOPS"
        );
        assert_eq!(at(79), "b 11 % slower [7, 15] · 140 pairs · ~8 s left · at most 9 min 50 s");
        assert_eq!(at(60), "b 11 % slower [7, 15] · 140 pairs · ~8 s left");
        assert_eq!(at(40), "b 11 % slower [7, 15] · ~8 s left");
        assert_eq!(at(20), "b 11 % slower [7, …");
        assert_eq!(at(0), "");
    }

    #[test]
    fn no_line_is_as_wide_as_its_terminal() {
        let wide = [Part::new(0, "データ 11 % slower [7, 15]"), Part::new(1, "データ")];
        for columns in 1..=100 {
            for line in [fit("depth-check: ", &parts(), columns), fit("", &wide, columns)] {
                assert!(display_width(&line) < columns, "{columns}: {line}");
            }
        }
    }
}
