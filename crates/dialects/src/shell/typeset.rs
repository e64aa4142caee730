//! Hyphens, quotes and blanks as changed by word processors and web pages. A shell treats them as
//! ordinary letters, so an option that begins with one becomes the name of a file.

use iotax_experiment::Error;

/// The original of a typeset character, and its name.
pub(super) struct Typeset {
    pub plain: &'static str,
    pub kind: TypesetKind,
    name: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypesetKind {
    Dash,
    Quote,
    /// It may be an apostrophe in a name.
    SingleQuote,
    Blank,
    /// It has no width, or is a variant of a letter.
    Letter,
    Ellipsis,
}

const fn typeset(plain: &'static str, kind: TypesetKind, name: &'static str) -> Typeset {
    Typeset { plain, kind, name }
}

/// The original of `c`, if it is typeset.
pub(super) fn typeset_of(c: char) -> Option<Typeset> {
    use TypesetKind::{Blank, Dash, Ellipsis, Letter, Quote, SingleQuote};
    Some(match c {
        '\u{2010}' => typeset("-", Dash, "a typographic hyphen"),
        '\u{2011}' => typeset("-", Dash, "a non-breaking hyphen"),
        '\u{2012}' => typeset("-", Dash, "a figure dash"),
        '\u{2013}' => typeset("-", Dash, "an en dash"),
        '\u{2014}' => typeset("-", Dash, "an em dash"),
        '\u{2015}' => typeset("-", Dash, "a horizontal bar"),
        '\u{2212}' => typeset("-", Dash, "a minus sign"),
        '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => typeset("-", Dash, "a full-width hyphen"),
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' | '\u{ff02}' => {
            typeset("\"", Quote, "a typographic quote")
        }
        '\u{ab}' | '\u{bb}' => typeset("\"", Quote, "a guillemet"),
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '\u{ff07}' | '\u{b4}' => {
            typeset("'", SingleQuote, "a typographic quote")
        }
        '\u{a0}' | '\u{202f}' | '\u{2007}' => typeset(" ", Blank, "a non-breaking space"),
        '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{205f}' | '\u{3000}' => {
            typeset(" ", Blank, "a typographic space")
        }
        '\u{85}' | '\u{2028}' | '\u{2029}' => typeset(" ", Blank, "a line separator"),
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {
            typeset("", Letter, "a zero-width character")
        }
        '\u{ad}' => typeset("", Letter, "a soft hyphen"),
        '\u{ff1d}' => typeset("=", Letter, "a full-width equals sign"),
        '\u{2026}' => typeset("...", Ellipsis, "an ellipsis"),
        _ => return None,
    })
}

/// Refuses the character at byte `at`, and suggests the intended line.
pub(super) fn refuse(text: &str, at: usize, short_options: bool) -> Error {
    let c = text[at..].chars().next().unwrap_or(' ');
    let (name, kind) =
        typeset_of(c).map_or(("typeset", TypesetKind::Letter), |found| (found.name, found.kind));
    let code = format!("U+{:04X}", u32::from(c));
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let mut advice = format!(
        "a text editor or a web page has changed the command; use this instead:\n{}",
        plain(line, short_options).trim()
    );
    let problem = match kind {
        TypesetKind::Dash => format!("`{c}` is {name} ({code}), not a hyphen"),
        TypesetKind::Quote | TypesetKind::SingleQuote => {
            format!("`{c}` is {name} ({code}), not a plain quote")
        }
        TypesetKind::Blank => format!("this is {name} ({code}), not a plain space"),
        TypesetKind::Letter => format!("this is {name} ({code})"),
        TypesetKind::Ellipsis => {
            "enter the whole command".clone_into(&mut advice);
            format!("`{c}` stands for a missing part of the command")
        }
    };
    Error::syntax(problem, advice).at(text, at..at + c.len_utf8())
}

/// A line as it was before it was typeset. Word processors make two hyphens into one dash; where
/// options have only one letter, there was one hyphen.
pub(super) fn plain(line: &str, short_options: bool) -> String {
    let mut meant = String::with_capacity(line.len());
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let Some(found) = typeset_of(c) else {
            meant.push(c);
            continue;
        };
        let begins = meant.is_empty() || meant.ends_with(|c: char| c.is_whitespace() || c == '-');
        if found.kind != TypesetKind::Dash || !begins {
            meant.push_str(found.plain);
            continue;
        }
        while chars.next_if(|(_, c)| is_dash(*c)).is_some() {}
        meant.truncate(meant.trim_end_matches('-').len());
        let rest = chars.peek().map_or("", |(at, _)| &line[*at..]);
        let letters = rest.chars().take_while(char::is_ascii_alphabetic).count();
        let is_alone = rest.is_empty() || rest.starts_with(char::is_whitespace) || at == line.len();
        meant.push_str(if short_options || letters < 2 || is_alone { "-" } else { "--" });
    }
    meant
}

fn is_dash(c: char) -> bool {
    c == '-' || typeset_of(c).is_some_and(|found| found.kind == TypesetKind::Dash)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_line_is_written_as_it_was_meant() {
        let cases = [
            ("fio \u{2013}name=a \u{2014}rw=read", false, "fio --name=a --rw=read"),
            ("fio \u{2013}\u{2013}name=a -\u{2013}rw=read", false, "fio --name=a --rw=read"),
            ("fio --name=a --time\u{2011}based", false, "fio --name=a --time-based"),
            ("numactl \u{2013}N 0 fio", false, "numactl -N 0 fio"),
            ("diskspd \u{2013}b8K \u{2212}Sh x", true, "diskspd -b8K -Sh x"),
            ("fio\u{a0}--name=\u{201c}a b\u{201d}", false, "fio --name=\"a b\""),
            (
                "fio --na\u{200b}me=\u{2018}a\u{2019} --bs\u{ff1d}4k",
                false,
                "fio --name='a' --bs=4k",
            ),
        ];
        for (line, short, meant) in cases {
            assert_eq!(plain(line, short), meant);
        }
    }
}
