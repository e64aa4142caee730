//! Checks that only the crate `wording` contains sentences, that crates which compute findings
//! return data, and that no code parses sentences.

mod allowed;
mod quantities;

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use proc_macro2::{Delimiter, TokenTree};

use self::allowed::{Allowed, MATCHING, PROSE, SENTENCES};
pub(crate) use self::quantities::quantities;
use crate::code::{crates, is_group, is_mark, text_of};

/// Crates that compute findings. They contain no text for users.
const CONCLUDING: [&str; 5] = ["stats", "analyze", "caps", "diagnose", "catalog"];

/// Crates that lay out findings. They contain headings and column names, but no sentences.
const LAYING_OUT: [&str; 1] = ["report"];

/// A text with at least this many words is a sentence.
const WORDS_OF_A_SENTENCE: usize = 4;

/// Macros and methods whose messages are for developers.
const OF_BUGS: [&str; 9] = [
    "assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne",
    "panic", "unreachable", "expect",
];

/// A text that starts with one of these programs is a command.
const PROGRAMS: [&str; 8] = ["iotax", "echo", "ip", "tc", "zfs", "zpool", "dmsetup", "ethtool"];

/// Methods that search a text.
const LOOKS: [&str; 17] = [
    "starts_with", "ends_with", "contains", "strip_prefix", "strip_suffix", "split_once",
    "rsplit_once", "trim_start_matches", "trim_end_matches", "trim_matches", "replace", "replacen",
    "find", "rfind", "split", "rsplit", "matches",
];

/// Lists text in crates that compute findings, and sentences in crates that lay them out.
pub(crate) fn prose() -> Result<()> {
    let crates = crates()?;
    for (allowed, rooms, is_wrong) in [
        (&PROSE[..], &CONCLUDING[..], is_prose as fn(&str) -> bool),
        (&SENTENCES, &LAYING_OUT, is_sentence),
    ] {
        let mut list = List::of(allowed);
        for room in rooms {
            let Some(files) = crates.get(*room) else { bail!("there is no crate {room}") };
            for (file, code) in files.iter().filter(|(file, _)| !file.ends_with("error.rs")) {
                let texts = sentences(code).into_iter();
                list.see(room, file, texts.filter(|text| is_wrong(text)).collect());
            }
        }
        list.conclude("move these sentences to the `wording` crate, and return data instead")?;
    }
    Ok(())
}

/// Lists code that searches a text for words.
pub(crate) fn matching() -> Result<()> {
    let mut list = List::of(&MATCHING);
    for (room, files) in crates()? {
        for (file, code) in &files {
            list.see(&room, file, looked_for(code));
        }
    }
    list.conclude("this code parses sentences; use the data behind them")
}

/// Violations, without the allowed ones.
struct List {
    allowed: &'static [Allowed],
    used: BTreeSet<usize>,
    wrong: Vec<String>,
}

impl List {
    fn of(allowed: &'static [Allowed]) -> Self {
        Self { allowed, used: BTreeSet::new(), wrong: Vec::new() }
    }

    fn see(&mut self, room: &str, file: &str, texts: Vec<String>) {
        let path = format!("{room}/{file}");
        for text in texts {
            let allows =
                |it: &Allowed| path.starts_with(it.file) && it.text.is_none_or(|own| own == text);
            match self.allowed.iter().position(allows) {
                Some(nth) => drop(self.used.insert(nth)),
                None => self.wrong.push(format!("  {path}: {text}")),
            }
        }
    }

    /// # Errors
    /// If there is a violation, or an exception is unused.
    fn conclude(mut self, what: &str) -> Result<()> {
        for (nth, it) in self.allowed.iter().enumerate() {
            if !self.used.contains(&nth) {
                let text = it.text.unwrap_or("anything");
                self.wrong.push(format!("  unused exception: {}: {text}", it.file));
            }
        }
        if !self.wrong.is_empty() {
            bail!("{what}:\n{}", self.wrong.join("\n"));
        }
        Ok(())
    }
}

/// Literals that users read.
fn sentences(code: &[TokenTree]) -> Vec<String> {
    let mut found = Vec::new();
    for (nth, token) in code.iter().enumerate() {
        match token {
            TokenTree::Group(_) if nth > 0 && is_mark(&code[nth - 1], '#') => {}
            TokenTree::Group(group) if !is_of_bugs(&code[..nth]) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                found.extend(sentences(&inner));
            }
            literal => found.extend(text_of(literal).filter(|text| is_prose(text))),
        }
    }
    found
}

/// Whether the next group is a message for developers: `panic!(..)`, `.expect(..)`.
fn is_of_bugs(before: &[TokenTree]) -> bool {
    let before = match before {
        [before @ .., mark] if is_mark(mark, '!') => before,
        before => before,
    };
    matches!(before.last(), Some(TokenTree::Ident(name)) if OF_BUGS.contains(&&*name.to_string()))
}

/// Whether the text contains two adjacent words, or a word next to a placeholder.
fn is_prose(text: &str) -> bool {
    let text = text.trim();
    let first = text.split_whitespace().next().unwrap_or_default();
    if text.starts_with("--") || text.starts_with('/') || PROGRAMS.contains(&first) {
        return false;
    }
    let words: Vec<String> = filled(text).split_whitespace().map(str::to_owned).collect();
    words.windows(2).any(|pair| {
        let (one, other) = (kind(&pair[0]), kind(&pair[1]));
        matches!((one, other), (Kind::Word, Kind::Word | Kind::Figure) | (Kind::Figure, Kind::Word))
    })
}

/// Whether the text is a sentence and not a name: it has many words, or a word ends with a period.
fn is_sentence(text: &str) -> bool {
    let filled = filled(text);
    let words: Vec<&str> = filled.split_whitespace().collect();
    let ends = |word: &&str| {
        let before = word.trim_end_matches([')', '"', '`']).strip_suffix('.');
        before.is_some_and(|before| kind(before) != Kind::Other)
    };
    words.iter().filter(|word| kind(word) == Kind::Word).count() >= WORDS_OF_A_SENTENCE
        || words.iter().any(ends)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Word,
    Figure,
    Other,
}

/// Replaces a placeholder.
const FIGURE: char = '\u{1}';

/// The format string with `FIGURE` for each placeholder.
fn filled(text: &str) -> String {
    let mut filled = String::new();
    let mut depth = 0_usize;
    let text = text.replace("{{", "(").replace("}}", ")");
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                filled.push(FIGURE);
            }
            c if depth == 0 => filled.push(c),
            _ => {}
        }
    }
    filled
}

fn kind(word: &str) -> Kind {
    let word = word.trim_matches(|c: char| ",.:;?!()[]'`\"".contains(c));
    let letters = word.chars().collect::<Vec<_>>();
    match () {
        () if word == FIGURE.to_string() => Kind::Figure,
        () if letters.windows(2).any(|pair| pair.iter().all(|c| c.is_alphabetic())) => Kind::Word,
        () => Kind::Other,
    }
}

/// Prose that code compares a text with, or searches it for.
fn looked_for(code: &[TokenTree]) -> Vec<String> {
    let mut found = Vec::new();
    for (nth, token) in code.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            let is_held = text_of(token).filter(|text| is_prose(text));
            found.extend(is_held.filter(|_| is_compared(&code[..nth], &code[nth + 1..])));
            continue;
        };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let is_looked_into = match &code[..nth] {
            [.., dot, TokenTree::Ident(name)] => {
                is_mark(dot, '.') && LOOKS.contains(&&*name.to_string())
            }
            _ => false,
        };
        match () {
            () if is_looked_into => found.extend(sentences(&inner)),
            // `Some("a sentence")` as a pattern, or compared.
            () if is_compared(&code[..nth.saturating_sub(1)], &code[nth + 1..])
                && is_group(token, Delimiter::Parenthesis)
                && inner.len() == 1 =>
            {
                found.extend(sentences(&inner));
            }
            () => found.extend(looked_for(&inner)),
        }
    }
    found
}

/// Whether the token between `before` and `after` is compared: `== x`, `!= x`, `x == ..`,
/// `x => ..`, `x | y => ..`.
fn is_compared(before: &[TokenTree], after: &[TokenTree]) -> bool {
    let is = |tokens: &[TokenTree], marks: [char; 2]| match tokens {
        [one, other] => is_mark(one, marks[0]) && is_mark(other, marks[1]),
        _ => false,
    };
    let (last, next) = (&before[before.len().saturating_sub(2)..], &after[..after.len().min(2)]);
    let mut patterns =
        after.iter().skip_while(|token| is_mark(token, '|') || text_of(token).is_some());
    let arrow = [patterns.next(), patterns.next()];
    let is_pattern =
        matches!(arrow, [Some(one), Some(other)] if is_mark(one, '=') && is_mark(other, '>'));
    is_pattern
        || is(last, ['=', '='])
        || is(last, ['!', '='])
        || is(next, ['=', '='])
        || is(next, ['!', '='])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::code;

    fn said(text: &str) -> Vec<String> {
        sentences(&code(text))
    }

    fn matched(text: &str) -> Vec<String> {
        looked_for(&code(text))
    }

    #[test]
    fn a_sentence_is_prose_wherever_it_is() {
        assert_eq!(said("const A: &str = \"two words\";"), ["two words"]);
        assert_eq!(
            said("fn f() { g(format!(\"the {x}\"), [\"a\", r\"not one\"]) }"),
            ["the {x}", "not one"]
        );
        assert_eq!(said("fn f() { format!(\"{} IOPS\", 1) }"), ["{} IOPS"]);
    }

    #[test]
    fn names_commands_errors_and_what_is_said_of_bugs_are_not() {
        let harmless = [
            "const A: &str = \"word\";",
            "const A: &str = \"{} [{}, {}]\";",
            "const A: &str = \"iotax doctor --cluster\";",
            "const A: &str = \"/proc/a b\";",
            "const A: &str = \"--a-flag of it\";",
            "#[error(\"two words\")] struct A;",
            "/// Two words.\nstruct A;",
            "fn f() { panic!(\"two words\"); a.expect(\"two words\"); assert!(a, \"two words\") }",
            "#[cfg(test)] mod tests { const A: &str = \"two words\"; }",
            "const A: &[u8] = b\"two words\";",
        ];
        for code in harmless {
            assert_eq!(said(code), [""; 0], "{code}");
        }
    }

    #[test]
    fn headings_are_told_from_sentences() {
        let headings =
            ["Difference per block", "{name} against {baseline}", "Limits of {}", "iotax 0.1.0"];
        assert_eq!(headings.map(is_sentence), [false; 4]);
        let sentences = ["{rules} kept.", "not used. Grey: used", "the mean of the others"];
        assert_eq!(sentences.map(is_sentence), [true; 3]);
    }

    #[test]
    fn whoever_looks_into_a_sentence_is_found() {
        let code = [
            "fn f() { a.contains(\"is full\") }",
            "fn f() { a.lines().any(|line| line.starts_with(\"is full\")) }",
            "fn f() { a.trim_end_matches([\"is full\", \"b\"]) }",
            "fn f() { a == \"is full\" }",
            "fn f() { b != Some(\"is full\") }",
            "fn f() { match a { \"is full\" => 1, _ => 2 } }",
            "fn f() { match a { \"b\" | \"is full\" => 1, _ => 2 } }",
            "fn f() { match a { Some(\"is full\") => 1, _ => 2 } }",
        ];
        for code in code {
            assert_eq!(matched(code), ["is full"], "{code}");
        }
    }

    #[test]
    fn a_word_may_be_looked_for_and_a_sentence_be_said() {
        let harmless = [
            "fn f() { a.contains(\"full\") }",
            "fn f() { b.push(\"is full\") }",
            "fn f() { match a { A => \"is full\", B => \"is empty\" } }",
            "fn f() { match a { A(\"x\") => \"is full\", B => \"is empty\" } }",
        ];
        for code in harmless {
            assert_eq!(matched(code), [""; 0], "{code}");
        }
    }

    #[test]
    fn an_exception_is_for_something() {
        const ALLOWED: &[Allowed] = &[Allowed { file: "a/b.rs", text: Some("two words"), why: "" }];
        let see = |file: &str, text: &str| {
            let mut list = List::of(ALLOWED);
            list.see("a", file, vec![text.to_owned()]);
            list.conclude("x").is_ok()
        };
        assert!(see("b.rs", "two words"));
        assert!(!see("b.rs", "three words"));
        assert!(!see("c.rs", "two words"));
        assert!(List::of(ALLOWED).conclude("x").is_err());
    }
}
