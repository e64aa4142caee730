//! Renders documents for a terminal.

mod screen;
mod table;

use anstyle::AnsiColor;
use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, fill, wrap};

use crate::document::{Document, Item, Lead, Medium, Node, Point, Section};
use crate::words::{Tone, printable};
use iotax_wording::doubt::Notice;

pub(crate) use self::screen::SENTENCES;
pub use self::screen::{answer, screen};

/// The layout of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub color: bool,
    /// Width of the terminal.
    pub width: u16,
}

impl Default for Style {
    /// Eighty columns, no colour: for files and pipes.
    fn default() -> Self {
        Self { color: false, width: 80 }
    }
}

/// Minimum width of the layout; narrower terminals wrap by themselves.
const MIN_WIDTH: u16 = 40;
/// Width for the names of facts, so that several lists are aligned.
const NARROWEST_NAME: usize = 6;

/// A report as lines of text, ending in a newline.
pub fn text(document: &Document, style: Style) -> String {
    Page::new(style).document(document)
}

/// The output text.
struct Page {
    paint: Paint,
    width: usize,
}

impl Page {
    fn new(style: Style) -> Self {
        let width = usize::from(style.width.max(MIN_WIDTH));
        Self { paint: Paint { colour: style.color }, width }
    }

    fn document(&self, document: &Document) -> String {
        let lead = document.lead.as_ref().map(|lead| self.lead(document.subject(), lead));
        let sections = document.sections_for(Medium::Terminal).map(|section| self.section(section));
        let chapters = document.chapters.iter();
        let chapters = chapters
            .map(|one| format!("{}\n{}", printable(&one.title), self.document(&one.document)));
        let all = lead.into_iter().chain(sections).chain(chapters);
        all.collect::<Vec<_>>().join("\n")
    }

    fn lead(&self, subject: &str, lead: &Lead) -> String {
        let mut head = self.paint.bold(&printable(subject));
        if !lead.counts.is_empty() {
            head.push_str(&format!(": {}", printable(&lead.counts)));
        }
        let mut out = format!("{}\n", fill(&head, self.lines("", "")));
        for (at, sentence) in lead.sentences.iter().map(|text| printable(text)).enumerate() {
            let sentence = if at == 0 { self.paint.bold(&sentence) } else { sentence };
            let gap = if at == 0 { "\n" } else { "" };
            out.push_str(&format!("{gap}{}\n", fill(&sentence, self.lines("  ", "  "))));
        }
        if !lead.ending.is_empty() {
            out.push_str(&self.note(&lead.ending));
        }
        out
    }

    fn section(&self, section: &Section) -> String {
        let Section { heading, is_alarming, items, .. } = section;
        // Warnings have their own label.
        let is_said = items.iter().any(|item| matches!(item, Item::Warning(_)));
        let indent = if heading.is_empty() { "" } else { "  " };
        let mut out = String::new();
        if !heading.is_empty() && !is_said {
            let lines = self.filled(heading, "", "  ");
            let lines =
                if *is_alarming { self.paint.alarm(&lines) } else { self.paint.bold(&lines) };
            out.push_str(&format!("{lines}\n"));
        }
        for item in items {
            out.push_str(&self.item(item, indent));
        }
        out
    }

    fn item(&self, item: &Item, indent: &str) -> String {
        match item {
            Item::Paragraph(text) => format!("{}\n", self.filled(text, indent, indent)),
            Item::Note(text) => self.note(text),
            Item::Table(table) => table::lay_out(table, self.paint, self.width),
            Item::Facts(facts) => self.facts(facts, indent),
            Item::List(points) => self.list(points),
            Item::Sources(sources) => {
                let at = WordSeparator::Custom(parts_of_paths);
                let options = self.lines("  ", "      ").word_separator(at);
                let lines = |source: &String| fill(&printable(source), &options);
                let line = |source: &String| format!("{}\n", self.paint.dim(&lines(source)));
                sources.iter().map(line).collect()
            }
            Item::Warning(notice) => self.warning(notice),
            Item::Tree(top) => drawn(top, self.paint, self.width),
            Item::Preformatted(text) | Item::Folded(_, text) => {
                let line = |line: &str| format!("{indent}{}\n", printable(line));
                text.lines().map(line).collect()
            }
            Item::Drawing(_) => String::new(),
        }
    }

    /// Names and values in two columns. The value of a long name is below it. Commands are never
    /// wrapped.
    fn facts(&self, facts: &[Point], indent: &str) -> String {
        let names: Vec<String> = facts.iter().map(|fact| printable(&fact.name)).collect();
        let is_long = |name: &str| name.chars().count() > self.width / 2;
        let short = names.iter().filter(|name| !is_long(name));
        let widest = short.map(|name| name.chars().count()).max();
        let widest = widest.unwrap_or_default().max(NARROWEST_NAME);
        let mut out = String::new();
        for (at, (name, fact)) in names.iter().zip(facts).enumerate() {
            let name = if at > 0 && *name == names[at - 1] { "" } else { name };
            let rest = format!("{indent}  {:widest$}  ", "");
            let first = if is_long(name) {
                let name = self.filled(name, &format!("{indent}  "), &format!("{indent}    "));
                out.push_str(&format!("{name}\n"));
                rest.clone()
            } else {
                format!("{indent}  {name:widest$}  ")
            };
            let lines = match fact.command.as_str() {
                "" => self.filled(&fact.text, &first, &rest),
                command => first + &printable(command),
            };
            out.push_str(&format!("{lines}\n"));
        }
        out
    }

    /// A list of points, with names if they have any.
    fn list(&self, points: &[Point]) -> String {
        let widest = points.iter().map(|point| point.name.chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for Point { name, text, command } in points {
            let name = if widest == 0 { "-" } else { &format!("{:widest$} ", printable(name)) };
            out.push_str(&format!("{}\n", self.filled(&format!("{name} {text}"), "  ", "    ")));
            if !command.is_empty() {
                out.push_str(&format!("      {}\n", printable(command)));
            }
        }
        out
    }

    fn warning(&self, notice: &Notice) -> String {
        let Notice { title, messages, advice, .. } = notice;
        let head = match title.as_str() {
            "" => String::new(),
            title => self.paint.alarm(&format!("Warning, {}:", printable(title))),
        };
        let hanging = |text: &str| format!("{}\n", fill(text, self.lines("", "  ")));
        let mut out = match messages.as_slice() {
            [message] if title.is_empty() => hanging(&self.paint.alarm(&printable(message))),
            [message] => hanging(&format!("{head} {}", printable(message))),
            messages => {
                let lines = messages.iter().map(|m| self.filled(m, "  ", "    ") + "\n");
                hanging(&head) + &lines.collect::<String>()
            }
        };
        if !advice.is_empty() {
            out.push_str(&self.note(advice));
        }
        out
    }

    fn note(&self, text: &str) -> String {
        format!("{}\n", self.paint.dim(&self.filled(text, "  ", "  ")))
    }

    /// Untrusted text, made printable, as lines of limited width.
    fn filled(&self, text: &str, first: &str, rest: &str) -> String {
        fill(&printable(text), self.lines(first, rest))
    }

    fn lines<'a>(&self, first: &'a str, rest: &'a str) -> Options<'a> {
        lines_of(self.width).initial_indent(first).subsequent_indent(rest)
    }
}

/// Wrapping between words. `I/O` is one word, and names are not broken at hyphens.
fn lines_of(width: usize) -> Options<'static> {
    Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
}

/// Splits text into words for [`WordSeparator::Custom`]. Long words (paths, lists of choices) may
/// break after a slash or `|`, but `I/O` may not.
pub fn parts_of_paths(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    const LONG: usize = 24;
    let words = line.split_inclusive(' ');
    let parts = words.flat_map(|word| {
        let has_parts = word.len() > LONG;
        word.split_inclusive(move |c| has_parts && ['/', '|'].contains(&c))
    });
    Box::new(parts.map(Word::from))
}

/// Colours text, if enabled, with the eight basic colours of the terminal's theme. Colour carries
/// no information that is not in the text.
#[derive(Debug, Clone, Copy)]
struct Paint {
    colour: bool,
}

impl Paint {
    pub(super) fn bold(self, text: &str) -> String {
        self.with(anstyle::Style::new().bold(), text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with(anstyle::Style::new().dimmed(), text)
    }

    pub(super) fn alarm(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default().bold(), text)
    }

    pub(super) fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Worse => self.with(AnsiColor::Red.on_default(), text),
            Tone::Better => self.with(AnsiColor::Green.on_default(), text),
            Tone::Same => self.with(AnsiColor::Cyan.on_default(), text),
            Tone::Open => self.with(AnsiColor::Yellow.on_default(), text),
        }
    }

    fn with(self, style: anstyle::Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// A tree as lines, from the top node down.
fn drawn(top: &Node, paint: Paint, width: usize) -> String {
    let mut tree = Tree { paint, width, out: format!("{}\n", paint.bold(&printable(&top.name))) };
    if !top.about.is_empty() {
        tree.out.push_str(&format!("  {}\n", printable(&top.about)));
    }
    tree.add(&top.below, "");
    tree.out
}

struct Tree {
    paint: Paint,
    width: usize,
    out: String,
}

impl Tree {
    fn add(&mut self, nodes: &[Node], indent: &str) {
        for (at, node) in nodes.iter().enumerate() {
            let is_last = at + 1 == nodes.len();
            let (branch, rest) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let below = format!("{indent}{rest}");
            let stem = if node.below.is_empty() { "   " } else { "│  " };
            let name = self.paint.bold(&printable(&node.name));
            self.out.push_str(&format!("{indent}{branch}{name}{}\n", node.remark));
            let taken = below.chars().count() + stem.chars().count();
            let options = lines_of(self.width.saturating_sub(taken).max(20));
            let about = printable(&node.about);
            for line in wrap(&about, options).iter().filter(|line| !line.is_empty()) {
                self.out.push_str(&format!("{below}{stem}{}\n", self.paint.dim(line)));
            }
            self.add(&node.below, &below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leaves_no_room_beside_it_stands_above() {
        let page = Page { paint: Paint { colour: false }, width: 40 };
        let facts = [
            Point::new(
                "tcp-stream, tcp-stream-back, udp-stream",
                "all CPUs were busy all the time",
            ),
            Point::new("tcp-rr", "nothing"),
        ];
        insta::assert_snapshot!(page.facts(&facts, ""), @"
        tcp-stream, tcp-stream-back,
          udp-stream
                all CPUs were busy all the
                time
        tcp-rr  nothing
        ");
    }

    #[test]
    fn lines_end_between_words_only() {
        assert_eq!(fill("and one I/O alone", lines_of(9)), "and one\nI/O alone");
        assert_eq!(fill("aaaaaaaaaaaa", lines_of(9)), "aaaaaaaaa\naaa");
    }
}
