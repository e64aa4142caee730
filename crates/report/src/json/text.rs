use std::fmt::Write as _;

use serde::Serialize;

use crate::words::is_unprintable;

/// A value as indented JSON, ending in a newline. Characters that control a terminal or reorder
/// text are escaped (JSON itself only escapes the first 32). Programs read the same text, and
/// readers see what it really is.
///
/// # Panics
/// If the value has keys that are not strings, or a fallible serializer. No value of iotax has.
pub fn json_text(value: &impl Serialize) -> String {
    let plain = serde_json::to_string_pretty(value)
        .expect("the output has string keys and no fallible serializer");
    let mut text = String::with_capacity(plain.len() + 1);
    for c in plain.chars() {
        // JSON has such characters only in strings, so each escape is inside a string. All of them
        // are below U+10000 and need one escape. Line breaks belong to the indentation.
        if c != '\n' && is_unprintable(c) {
            write!(text, "\\u{:04x}", u32::from(c)).expect("writing to a string");
        } else {
            text.push(c);
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_drives_a_terminal_is_escaped() {
        let text = json_text(&["a\u{9b}31m\u{7f}b\u{202e}c\u{2028}d\u{61c}\u{1b}µ"]);
        assert_eq!(text, "[\n  \"a\\u009b31m\\u007fb\\u202ec\\u2028d\\u061c\\u001bµ\"\n]\n");
    }

    proptest! {
        #[test]
        fn programs_read_what_was_there(text: String, key: String) {
            let value = serde_json::json!({ key: [text] });
            let printed = json_text(&value);
            prop_assert!(!printed.chars().any(|c| c != '\n' && is_unprintable(c)));
            let read: serde_json::Value = serde_json::from_str(&printed).unwrap();
            prop_assert_eq!(read, value);
        }
    }
}
