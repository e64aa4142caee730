//! Decides for each word of a text whether it is kept or gets a pseudonym.
//!
//! Words are separated by blanks, brackets, quotes, commas and `=`. A word is a path, a name at a
//! host, a number, or anything else, which is kept only if it is on the list.

use std::ops::Range;

use super::grouped::grouped_numbers;
use super::words::{Kind, Names};
use super::words::{is_long_number, is_name, is_sentence, may_leave, takes_text};

/// Options whose values always become pseudonyms, and their kinds.
const OWNERS: [(&str, Kind); 15] = [
    ("addr", Kind::Host),
    ("clientaddr", Kind::Host),
    ("hostname", Kind::Host),
    ("mountaddr", Kind::Host),
    ("server", Kind::Host),
    ("unc", Kind::Host),
    ("cruid", Kind::User),
    ("domain", Kind::User),
    ("gid", Kind::User),
    ("group_id", Kind::User),
    ("uid", Kind::User),
    ("user", Kind::User),
    ("user_id", Kind::User),
    ("username", Kind::User),
    ("uuid", Kind::Device),
];
/// Options whose numbers may be long: bytes, blocks, a seed.
const COUNTS: [&str; 16] = [
    "allocsize", "blksize", "bsize", "logbsize", "max_read", "nr_blocks", "nr_inodes", "rasize",
    "rsize", "seed", "size", "stripe", "sunit", "swidth", "wbsize", "wsize",
];
/// Maximum length of punctuation.
const LONGEST_SIGN_BYTES: usize = 3;

impl Names {
    /// Processes a text word by word. `kind` is the kind of unknown words.
    pub(super) fn text(&mut self, kind: Kind, text: &str) -> String {
        if let Some(told) = self.learnt(text) {
            return told;
        }
        if is_sentence(text) {
            return text.to_owned();
        }
        let mut told = String::with_capacity(text.len());
        let mut option = None;
        let mut rest = text;
        // If it is part of a word, the whole word is replaced.
        let is_of_words = |number: &Range<usize>| text[number.clone()].contains(separates);
        let mut grouped = grouped_numbers(text).into_iter().filter(is_of_words).peekable();
        while let Some(next) = rest.chars().next() {
            let at = text.len() - rest.len();
            if let Some(number) = grouped.next_if(|number| number.start <= at) {
                told.push_str(&self.always(kind, &text[number.clone()]));
                rest = &text[number.end..];
                continue;
            }
            if separates(next) {
                option = option.filter(|_| next == '=');
                told.push(if next.is_ascii() { next } else { ' ' });
                rest = &rest[next.len_utf8()..];
                continue;
            }
            let next_number = grouped.peek().map_or(rest.len(), |number| number.start - at);
            let end = rest.find(separates).unwrap_or(rest.len()).min(next_number);
            let (word, after) = rest.split_at(end);
            told.push_str(&match option {
                Some(option) => self.value(kind, option, word),
                None => self.word(kind, word),
            });
            option = after.starts_with('=').then_some(word);
            rest = after;
        }
        told
    }

    /// A name or a path, including blanks.
    pub(super) fn whole(&mut self, kind: Kind, text: &str) -> String {
        match self.learnt(text) {
            Some(told) => told,
            None => self.plain_word(kind, text),
        }
    }

    /// The value of an option. Numbers and listed words are kept only if the option is known.
    fn value(&mut self, kind: Kind, option: &str, value: &str) -> String {
        let option = option.trim_start_matches('-').to_lowercase();
        if let Some((_, owner)) = OWNERS.iter().find(|(name, _)| *name == option) {
            return self.always(*owner, value);
        }
        match is_name(&option) {
            true if COUNTS.contains(&&*option) && is_long_number(value) => value.to_owned(),
            true => self.word(kind, value),
            false if is_path(value) => self.word(kind, value),
            false => self.always(kind, value),
        }
    }

    /// The value of an fio option: numbers, and keywords of fio.
    pub(super) fn value_of_fio(&mut self, option: &str, value: &str) -> String {
        let is_count = !takes_text(option);
        let is_plain =
            |part: &str| part.is_empty() || may_leave(part) || (is_count && is_long_number(part));
        let is_open = is_count || grouped_numbers(value).is_empty();
        if is_open && is_name(option) && value.split([':', ',', '/', '-']).all(is_plain) {
            return value.to_owned();
        }
        self.always(Kind::Word, value)
    }

    /// A word with surrounding punctuation.
    fn word(&mut self, kind: Kind, word: &str) -> String {
        let start = word.trim_start_matches(['-', '*', '!', '?', '@', '%', '#', '.', ':']);
        let core = start.trim_end_matches(['.', ':', '!', '?', '*', '#', '-', '@', '+']);
        // `./x`, `..` and `.5` keep their dots.
        if word.starts_with('.') && (word.contains('/') || core.is_empty()) {
            return self.plain_word(kind, word);
        }
        let before = &word[..word.len() - start.len()];
        let after = &start[core.len()..];
        if core.is_empty() || before.len() > LONGEST_SIGN_BYTES || after.len() > LONGEST_SIGN_BYTES
        {
            return self.plain_word(kind, word);
        }
        format!("{before}{}{after}", self.plain_word(kind, core))
    }

    fn plain_word(&mut self, kind: Kind, word: &str) -> String {
        if may_leave(word) || is_sign(word) {
            return word.to_owned();
        }
        if is_path(word) {
            return self.path(word);
        }
        if let Some(of_fuse) = word.strip_prefix("fuse.") {
            return format!("fuse.{}", self.plain_word(kind, of_fuse));
        }
        if let Some((name, number)) = word.rsplit_once(['#', ':'])
            && (1..=5).contains(&number.len())
            && number.bytes().all(|digit| digit.is_ascii_digit())
            && !name.contains([':', '#', '@'])
        {
            let sign = &word[name.len()..=name.len()];
            return format!("{}{sign}{number}", self.plain_word(kind, name));
        }
        match word.split_once('@') {
            Some((user, host)) if !user.is_empty() && !host.is_empty() => {
                format!("{}@{}", self.always(Kind::User, user), self.always(Kind::Host, host))
            }
            _ => self.always(kind, word),
        }
    }

    /// A path, a mount source or an address: part by part, so that paths in the same directory
    /// remain so.
    fn path(&mut self, path: &str) -> String {
        let mut told = String::with_capacity(path.len());
        let mut before: Vec<&str> = Vec::new();
        let mut rest = path;
        loop {
            let end = rest.find(is_slash).unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            told.push_str(&self.part_of_path(&before, part, !after.is_empty()));
            before.push(part);
            let Some(slash) = after.chars().next() else { return told };
            told.push(slash);
            rest = &after[1..];
        }
    }

    fn part_of_path(&mut self, before: &[&str], part: &str, is_parent: bool) -> String {
        match before {
            // `host:/path`, `scheme://host/path`.
            [] if is_parent && part.ends_with(':') => {
                let name = part.trim_end_matches(':');
                if is_name(name) { part.to_owned() } else { self.host(name) + ":" }
            }
            // `//host/path`, `\\host\path`.
            [first, ""] if !part.is_empty() && (first.is_empty() || first.ends_with(':')) => {
                self.host(part)
            }
            [.., "home" | "Users" | "users"] => self.always(Kind::User, part),
            _ if part.is_empty() || is_name(part) => part.to_owned(),
            ["", "dev", ..] => self.always(Kind::Device, part),
            _ => self.always(Kind::Path, part),
        }
    }

    fn host(&mut self, text: &str) -> String {
        match text.rsplit_once('@') {
            None => self.always(Kind::Host, text),
            Some((user, host)) => {
                format!("{}@{}", self.always(Kind::User, user), self.always(Kind::Host, host))
            }
        }
    }
}

fn separates(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "()[]{}<>|,;=\"'`".contains(c)
}

fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\')
}

fn is_path(word: &str) -> bool {
    word.contains(is_slash)
}

/// Whether it is short punctuation.
fn is_sign(word: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_punctuation() || "−×–—…→≥≤±".contains(c);
    word.len() <= LONGEST_SIGN_BYTES && word.chars().all(is_sign)
}
