//! The error type of the crate: what is wrong, where, and what to write instead.

use std::fmt;
use std::fmt::Write as _;

use crate::units::unit::Unit;

/// Maximum characters of a headline.
const LONGEST_HEADLINE: usize = 1000;
/// Longer names are not typing errors.
const LONGEST_NAME: usize = 100;

/// An error in text written by a user.
///
/// `Display` gives the whole message, with several lines if it has carets, and without a final
/// newline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that cannot be read in its unit.
    Value {
        text: String,
        /// The unit it was read in.
        unit: Unit,
        /// Why it cannot be read.
        problem: String,
        /// What to write instead; may be empty.
        advice: String,
    },
    /// A name that is not known.
    Unknown {
        /// What kind of name: `layer`, `key`, ...
        what: &'static str,
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// Something that may be given only once was given twice.
    Duplicate {
        /// What kind of thing.
        what: &'static str,
        name: String,
    },
    /// Text with wrong structure.
    Syntax {
        problem: String,
        /// What was expected; may be empty.
        advice: String,
    },
    /// Values that are readable but make no sense together.
    Impossible {
        subject: About,
        /// The key or parameter to change.
        key: &'static str,
        problem: String,
        /// What to write instead; may be empty.
        advice: String,
    },
    /// A cloud disk that cannot be created.
    Cloud {
        /// The parameter to change: `vm`, `variant`, `disk`, `caching`, `size`.
        parameter: &'static str,
        /// What is wrong, and what to write instead.
        problem: String,
        /// The possible values; may be empty.
        advice: String,
    },
    /// Another error, and its position in a one-line text.
    InText {
        source: Box<Error>,
        /// The whole text.
        text: String,
        /// First byte of the wrong part.
        start: usize,
        /// One past its last byte.
        end: usize,
    },
    /// Another error, and its position in a file.
    InFile {
        source: Box<Error>,
        /// The position.
        place: Box<FilePlace>,
    },
}

/// What an impossible value belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// The experiment as a whole.
    Experiment,
    /// The workload as a whole.
    Workload,
    /// A job, by name.
    Job(String),
    /// The index that runs beside the jobs.
    Index,
    /// A layer, by its name in stack text.
    Layer(&'static str),
    /// A job as it would run on an arm.
    Arm {
        /// The arm's name.
        arm: String,
        /// The job's name.
        job: String,
    },
}

impl About {
    /// Prefix of a headline, with a colon; empty if the key is enough.
    fn prefix(&self) -> String {
        match self {
            Self::Experiment | Self::Workload => String::new(),
            Self::Job(job) => format!("job `{job}`: "),
            Self::Index => "index: ".to_owned(),
            Self::Layer(layer) => format!("{layer}: "),
            Self::Arm { arm, job } => format!("arm `{arm}`, job `{job}`: "),
        }
    }
}

/// A position in an experiment file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// Line, from 1; 0 where the error concerns the file as a whole.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Characters to underline on that line.
    pub width: usize,
    /// The line itself.
    pub line_text: String,
    /// Dotted key, `arms.slow`; may be empty.
    pub key: String,
}

impl Error {
    /// An error about the structure of a text.
    pub fn syntax(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Syntax { problem: problem.into(), advice: advice.into() }
    }

    pub(crate) fn cloud(parameter: &'static str, problem: impl Into<String>) -> Self {
        Self::Cloud { parameter, problem: problem.into(), advice: String::new() }
    }

    pub fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known = known.into_iter().map(str::to_owned).collect();
        Self::Unknown { what, name: name.to_owned(), known }
    }

    pub fn impossible(
        subject: About,
        key: &'static str,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let (problem, advice) = (problem.into(), advice.into());
        Self::Impossible { subject, key, problem, advice }
    }

    /// Adds a position in `text` to the error, unless it already has one.
    #[must_use]
    pub fn at(self, text: &str, span: std::ops::Range<usize>) -> Self {
        match self {
            Self::InText { .. } | Self::InFile { .. } => self,
            source => Self::InText {
                source: Box::new(source),
                text: text.to_owned(),
                start: span.start,
                end: span.end,
            },
        }
    }

    /// The error in a longer text, of which the checked part starts at byte `offset`.
    #[must_use]
    pub fn shifted(self, whole: &str, offset: usize) -> Self {
        match self {
            Self::InText { source, start, end, .. } => Self::InText {
                source,
                text: whole.to_owned(),
                start: start + offset,
                end: end + offset,
            },
            other => other.at(whole, offset..whole.len()),
        }
    }

    /// The error itself, without the positions around it.
    pub fn root(&self) -> &Self {
        match self {
            Self::InText { source, .. } | Self::InFile { source, .. } => source.root(),
            _ => self,
        }
    }

    /// One line: what is wrong, and the likely correction.
    pub fn headline(&self) -> String {
        match self {
            Self::Value { text, unit, problem, .. } => {
                format!("`{}` is not {}: {problem}", brief(text), unit.with_article())
            }
            Self::Unknown { what, name, known } => match similar(name, known) {
                Some(better) => {
                    format!("unknown {what} `{}`; did you mean `{better}`?", brief(name))
                }
                None => format!("unknown {what} `{}`", brief(name)),
            },
            Self::Duplicate { what, name } => format!("{what} `{}` is given twice", brief(name)),
            Self::Syntax { problem, .. } | Self::Cloud { problem, .. } => problem.clone(),
            Self::Impossible { subject, key, problem, .. } => {
                format!("{}{key}: {problem}", subject.prefix())
            }
            Self::InText { source, .. } => source.headline(),
            Self::InFile { source, place } => match &**source {
                _ if place.key.is_empty() => source.headline(),
                // The path already ends with the key.
                Self::Impossible { subject, key, problem, .. }
                    if place.key.rsplit('.').next() == Some(key) =>
                {
                    let subject = if *subject == About::Index { "" } else { &subject.prefix() };
                    format!("{}: {subject}{problem}", place.key)
                }
                _ => format!("{}: {}", place.key, source.headline()),
            },
        }
    }

    /// Everything after the headline: positions from the outside in, then advice.
    fn write_details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { advice, .. }
            | Self::Syntax { advice, .. }
            | Self::Cloud { advice, .. }
            | Self::Impossible { advice, .. } => {
                if advice.is_empty() {
                    Ok(())
                } else {
                    write!(f, "\n{advice}")
                }
            }
            Self::Unknown { what, known, .. } if !known.is_empty() => {
                write!(f, "\nknown {what}s: {}", known.join(", "))
            }
            Self::Unknown { .. } | Self::Duplicate { .. } => Ok(()),
            Self::InText { source, text, start, end } => {
                write_caret(f, text, *start, *end)?;
                source.write_details(f)
            }
            Self::InFile { source, place } => {
                place.write_caret(f)?;
                source.write_details(f)
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::InFile { place, .. } = self {
            write!(f, "{}:", place.file)?;
            if place.line > 0 {
                write!(f, "{}:{}:", place.line, place.column)?;
            }
            f.write_char(' ')?;
        }
        // Quotations are short already; the headline may contain other text of the user.
        f.write_str(&cut(&self.headline(), LONGEST_HEADLINE))?;
        self.write_details(f)
    }
}

/// The text on one line, with the wrong part underlined.
fn write_caret(f: &mut fmt::Formatter<'_>, text: &str, start: usize, end: usize) -> fmt::Result {
    let before = text.get(..start).unwrap_or(text).chars().count();
    let width = text.get(start..end).map_or(1, |part| part.chars().count());
    let Underlined { line, carets } = Underlined::new(text, before, width);
    write!(f, "\n  {line}\n  {carets} column {}", before + 1)
}

impl FilePlace {
    fn write_caret(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return Ok(());
        }
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let Underlined { line, carets } =
            Underlined::new(&self.line_text, self.column - 1, self.width);
        write!(f, "\n  {number} | {line}\n  {margin} | {carets}")
    }
}

/// The known name that was probably meant: at most a third of it mistyped, swaps counted once.
pub fn similar<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let wanted = name.to_lowercase();
    known
        .iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| {
            *distance <= (candidate.chars().count() / 3).max(1)
                && *distance < wanted.chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.as_str())
}

/// Maximum characters of a quotation.
const LONGEST: usize = 200;
/// Maximum characters of an underlined line, and of the part before the underlined text.
const LONGEST_LINE: usize = 160;
const BEFORE: usize = 60;

/// The text on one line, shortened if it is long.
pub fn brief(text: &str) -> String {
    cut(&one_line(text), LONGEST)
}

/// Replaces each control character and line break by one space, so that columns stay correct.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The first `most` characters, with an ellipsis if there are more.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A line with a part of it underlined: the readable part of the line, and the carets below.
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
mod quote_tests {
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
