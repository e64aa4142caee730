//! Cells of text that spreadsheets take for text.

use crate::words::printable;

/// Text from outside as a cell. Spreadsheets run what begins like a formula, which may fetch and
/// send anything; an apostrophe in front makes it text, as OWASP advises. A number, `-5` say, is
/// no formula.
pub(crate) fn cell(text: &str) -> String {
    let text = printable(text);
    // The wide ones are taken for the same in East Asia.
    let begins_formula = |c: char| "=+-@＝＋－＠".contains(c);
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    // Blanks in front are taken off by some, and `printable` makes them of tabs and line ends.
    if text.trim_start().starts_with(begins_formula) && !is_number {
        return format!("'{text}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_cell_begins_a_formula_and_numbers_stay_numbers() {
        assert_eq!(cell("=HYPERLINK(\"http://x\")"), "'=HYPERLINK(\"http://x\")");
        assert_eq!(cell("+1+cmd|' /C calc'!A0"), "'+1+cmd|' /C calc'!A0");
        assert_eq!(cell("-2+3"), "'-2+3");
        assert_eq!(cell("@SUM(1)"), "'@SUM(1)");
        assert_eq!(cell("\t=1"), "' =1");
        assert_eq!(cell("\r=1"), "' =1");
        assert_eq!(cell("＝1"), "'＝1");
        for number in ["-5", "+3.5", "-1e3", "4", "0.25"] {
            assert_eq!(cell(number), number);
        }
        for plain in ["a=b", "file(size=1G) + aes", "", "plain", "e+1"] {
            assert_eq!(cell(plain), plain);
        }
    }

    proptest! {
        #[test]
        fn what_begins_with_a_mark_is_a_number(text in "[\\s=+@-]{0,3}.*") {
            let cell = cell(&text);
            let begins = cell.trim_start().starts_with(['=', '+', '-', '@']);
            prop_assert!(!begins || cell.parse::<f64>().is_ok_and(f64::is_finite));
        }
    }
}
