//! Others' text in our messages: on one line, and no longer than people read.
//!
//! A file may hold a megabyte where a word is expected, and line breaks or control characters in
//! it. What a message quotes shows where the fault is; it does not carry the file.

/// Characters of a quotation.
const LONGEST: usize = 200;
/// Characters of a line with a part underlined, and of those before this part.
const LONGEST_LINE: usize = 160;
const BEFORE: usize = 60;

/// The text on one line, and its end left out if it is long.
pub fn brief(text: &str) -> String {
    cut(&one_line(text), LONGEST)
}

/// Control characters and line breaks as one space each, so that columns still count.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The first `most` characters, with a sign if there are more.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A line with a part of it underlined: so much of it as can be read, and carets below.
pub(crate) struct Underlined {
    pub line: String,
    pub carets: String,
}

impl Underlined {
    /// `start` and `width` in characters.
    pub(crate) fn new(text: &str, start: usize, width: usize) -> Self {
        let is_long = text.chars().nth(LONGEST_LINE).is_some();
        let from = if is_long { start.saturating_sub(BEFORE) } else { 0 };
        let mark = if from > 0 { "…" } else { "" };
        let shown: String = text.chars().skip(from).take(LONGEST_LINE + 1).collect();
        let room = (LONGEST_LINE + from).saturating_sub(start).max(1);
        let blank = " ".repeat(start - from + mark.chars().count());
        Self {
            line: format!("{mark}{}", cut(&one_line(&shown), LONGEST_LINE)),
            carets: format!("{blank}{}", "^".repeat(width.clamp(1, room))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_quoted_is_one_line_and_not_long() {
        assert_eq!(brief("a\nb\x1b[31m"), "a b [31m");
        let long = brief(&"µ".repeat(100_000));
        assert_eq!(long.chars().count(), LONGEST + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn a_long_line_is_shown_around_the_part_in_question() {
        let text = format!("{}here{}", "a".repeat(5_000), "b".repeat(5_000));
        let Underlined { line, carets } = Underlined::new(&text, 5_000, 4);
        assert!(line.starts_with("…aaa") && line.ends_with("b…"), "{line}");
        let at = carets.chars().take_while(|c| *c == ' ').count();
        assert_eq!(line.chars().skip(at).take(4).collect::<String>(), "here");
        assert_eq!(carets.trim_start(), "^^^^");
    }

    proptest! {
        /// Wherever a long word stands, the message about it stays short.
        #[test]
        fn no_message_carries_the_text(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "mem", "file", "vdisk", "size", "stack", "path", "1M", "LONG", "(", ")", "=",
                    ",", "+", "\"", "aes", "delay", "latency", "throttle", "nfs", "server",
                ]),
                1..12,
            ),
        ) {
            let text = parts.join(" ").replace("LONG", &"long ".repeat(3_000).replace(' ', "x"));
            if let Err(error) = crate::Stack::parse(&text) {
                prop_assert!(error.to_string().chars().count() < 3_000, "{}", error.headline());
            }
        }

        #[test]
        fn what_is_underlined_is_seen(text in "\\PC{0,400}", start in 0_usize..400, width in 0_usize..400) {
            let length = text.chars().count();
            let start = start.min(length);
            let Underlined { line, carets } = Underlined::new(&text, start, width);
            prop_assert!(line.chars().count() <= LONGEST_LINE + 2);
            prop_assert!(carets.chars().count() <= LONGEST_LINE + BEFORE + 2);
            let at = carets.chars().take_while(|c| *c == ' ').count();
            prop_assert_eq!(line.chars().nth(at).filter(|_| start < length), text.chars().nth(start));
        }
    }
}
