//! Documents for a terminal.

mod lines;
mod paint;
mod table;
mod tree;

use textwrap::{Options, WordSeparator, fill};

use self::lines::lines_of;
pub use self::lines::parts_of_paths;
use self::paint::Paint;
use crate::document::{Document, Item, Lead, Medium, Point, Section};
use crate::words::printable;
use iotax_wording::doubt::Notice;

/// How text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub color: bool,
    /// Columns of the terminal.
    pub width: u16,
}

impl Default for Style {
    /// Eighty columns, no colour: what a file or a pipe gets.
    fn default() -> Self {
        Self { color: false, width: 80 }
    }
}

/// Narrowest layout; a terminal below that wraps by itself.
const MIN_WIDTH: u16 = 40;
/// Room for the names of facts, so that several lists of them stand alike.
const NARROWEST_NAME: usize = 6;

/// A report as lines of text, ending in a newline.
pub fn text(document: &Document, style: Style) -> String {
    let width = usize::from(style.width.max(MIN_WIDTH));
    Page { paint: Paint { colour: style.color }, width }.document(document)
}

/// Where text goes.
struct Page {
    paint: Paint,
    width: usize,
}

impl Page {
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
        // Warnings say what they are.
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
            Item::Tree(top) => tree::drawn(top, self.paint, self.width),
            Item::Preformatted(text) | Item::Folded(_, text) => {
                let line = |line: &str| format!("{indent}{}\n", printable(line));
                text.lines().map(line).collect()
            }
            Item::Drawing(_) => String::new(),
        }
    }

    /// Names and values in two columns, but for names that would leave no room beside them: their
    /// values stand below. Commands are not wrapped, whatever their length.
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

    /// Points under each other, and after their names if they have such.
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

    /// Text from anywhere, safe to print, as lines no wider than asked for.
    fn filled(&self, text: &str, first: &str, rest: &str) -> String {
        fill(&printable(text), self.lines(first, rest))
    }

    fn lines<'a>(&self, first: &'a str, rest: &'a str) -> Options<'a> {
        lines_of(self.width).initial_indent(first).subsequent_indent(rest)
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
}
