//! Documents as Markdown, for issues and wikis.

use crate::document::{Document, Item, Medium, Node, Point, Section, Table};
use crate::words;
use iotax_wording::doubt::Notice;

/// A report as GitHub-flavoured Markdown, ending in a newline. Untrusted text is escaped,
/// so that it cannot become a link, an image, a table or HTML.
pub fn markdown(document: &Document) -> String {
    let mut parts = Vec::new();
    if let Some(lead) = &document.lead {
        parts.push(format!("## iotax: {}\n", escape(document.subject())));
        let mut sentences: Vec<_> = lead.sentences.iter().map(|s| escape(s)).collect();
        if let Some(first) = sentences.first_mut() {
            *first = format!("**{first}**");
            parts.push(format!("{}\n", sentences.join("\n")));
        }
        let counts = escape(&words::sentence(&lead.counts));
        parts.push(format!("{}\n", format!("{counts} {}", escape(&lead.ending)).trim()));
    }
    parts.extend(document.sections_for(Medium::Note).map(section));
    parts.extend(document.chapters.iter().map(|chapter| markdown(&chapter.document)));
    parts.join("\n")
}

fn section(section: &Section) -> String {
    let items = section.items.iter().filter(|item| !matches!(item, Item::Drawing(_)));
    let mut parts: Vec<String> = Vec::new();
    if !section.heading.is_empty() {
        parts.push(format!("### {}\n", escape(&section.heading)));
    }
    let mut is_in_list = false;
    for item in items {
        let is_point = matches!(item, Item::Warning(_));
        match parts.last_mut().filter(|_| is_point && is_in_list) {
            Some(list) => list.push_str(&self::item(item)),
            None => parts.push(self::item(item)),
        }
        is_in_list = is_point;
    }
    parts.join("\n")
}

fn item(item: &Item) -> String {
    match item {
        Item::Paragraph(text) | Item::Note(text) => format!("{}\n", escape(text)),
        Item::Table(table) => self::table(table),
        Item::Facts(points) | Item::List(points) => points.iter().map(point).collect(),
        Item::Sources(sources) => sources.iter().map(|text| source(text)).collect(),
        Item::Warning(notice) => warning(notice),
        Item::Tree(top) => top.flat().into_iter().map(|(depth, one)| node(depth, one)).collect(),
        Item::Preformatted(text) | Item::Folded(_, text) => text.lines().map(as_it_is).collect(),
        Item::Drawing(_) => String::new(),
    }
}

fn point(Point { name, text, command }: &Point) -> String {
    let gap = if text.is_empty() || command.is_empty() { "" } else { "  \n  " };
    format!("- {}{}{gap}{}\n", named(name), escape(text), code(command))
}

fn source(source: &str) -> String {
    format!("- {}\n", escape(source))
}

fn node(depth: usize, node: &Node) -> String {
    let about = if node.about.is_empty() { "" } else { ": " };
    let (name, indent) = (escape(&node.name), "  ".repeat(depth));
    format!("{indent}- **{name}**{}{about}{}\n", node.remark, escape(&node.about))
}

fn as_it_is(line: &str) -> String {
    format!("    {}\n", words::printable(line))
}

fn warning(notice: &Notice) -> String {
    let title = named(&notice.title);
    let said = notice.messages.iter().chain([&notice.advice]).filter(|text| !text.is_empty());
    let said: Vec<_> = said.map(|text| escape(&words::sentence(text))).collect();
    format!("{}\n", format!("- {title}{}", said.join(" ")).trim_end())
}

/// The name before a text, if there is one.
fn named(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("**{}:** ", escape(name)) }
}

fn table(table: &Table) -> String {
    let heads: Vec<_> = table.heads.iter().map(|head| escape(&head.text)).collect();
    let mut out = format!("| {} |\n|", heads.join(" | "));
    for head in &table.heads {
        out.push_str(if head.is_figure { " ---: |" } else { " --- |" });
    }
    out.push('\n');
    for row in &table.rows {
        let cells: Vec<_> = row.iter().map(|cell| escape(&cell.text)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out
}

/// A command as a code span, unless backticks in it would end the span.
fn code(text: &str) -> String {
    let is_plain = text.is_empty() || text.contains('`');
    if is_plain { escape(text) } else { format!("`{}`", words::printable(text)) }
}

/// Escapes text: every character that could start markup gets a backslash. Intervals
/// such as `[10, 14]` stay readable: a bracket before a digit is literal unless a link follows it.
pub(crate) fn escape(text: &str) -> String {
    let text = words::printable(text);
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let starts_markup = match c {
            '\\' | '`' | '*' | '_' | '<' | '>' | '|' | '#' | '!' | '~' | '&' | '@' => true,
            '[' => !chars.peek().is_some_and(|next| next.is_ascii_digit() || *next == '\u{2212}'),
            '(' | ':' if before == Some(']') => true,
            _ => false,
        };
        if starts_markup {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        assert_eq!(escape("12 % [10, 14]"), "12 % [10, 14]");
        assert_eq!(escape("a|b <img> ![x](y)"), "a\\|b \\<img\\> \\!\\[x]\\(y)");
        assert_eq!(escape("[1](javascript:x)"), "[1]\\(javascript:x)");
        assert_eq!(escape("driver_searcher\n# head"), "driver\\_searcher \\# head");
    }
}
