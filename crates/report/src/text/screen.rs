//! Shows the part of a report that fits on one screen.

use iotax_quantity::count;
use textwrap::fill;

use super::{Page, Style, table};
use crate::document::{Chapter, Document, Item, Lead, Rank, Section, Table};
use crate::words::printable;

/// Maximum number of sentences of the answer.
pub(crate) const SENTENCES: usize = 3;

/// Only the sentences of the answer; of several experiments, those of each.
pub fn answer(document: &Document, style: Style) -> String {
    let page = Page::new(style);
    let sentences = document.lead.iter().flat_map(|lead| &lead.sentences);
    let lines = |text: &String| page.filled(text, "", "") + "\n";
    let own: String = sentences.map(lines).collect();
    if !own.is_empty() {
        return own;
    }
    let of_chapter = |chapter: &Chapter| lines(&chapter.title) + &answer(&chapter.document, style);
    document.chapters.iter().map(of_chapter).collect::<Vec<_>>().join("\n")
}

/// The most important sections that fit in the given number of lines. A report without such
/// sections is shown in full.
pub fn screen(document: &Document, style: Style, lines: usize) -> String {
    let page = Page::new(style);
    let mut parts: Vec<&(Rank, Section)> = document.screen.iter().collect();
    if parts.is_empty() {
        return page.document(document);
    }
    let mut rows =
        parts.iter().flat_map(|part| tables(&part.1)).map(|table| table.rows.len()).max();
    loop {
        let text = page.screen(document, &parts, rows.unwrap_or(0));
        let over = text.lines().count().saturating_sub(lines);
        let least = parts.iter().enumerate().max_by_key(|(at, part)| (part.0, *at));
        match (least, rows) {
            _ if over == 0 => return text,
            (Some((at, (rank, _))), _) if *rank > Rank::Answer => drop(parts.remove(at)),
            // A row may need several lines.
            (_, Some(most)) if most > 1 => rows = Some(most - (over / 4).clamp(1, most - 1)),
            _ => return text,
        }
    }
}

fn tables(section: &Section) -> impl Iterator<Item = &Table> {
    section.items.iter().filter_map(|item| match item {
        Item::Table(table) => Some(table),
        _ => None,
    })
}

impl Page {
    fn screen(&self, document: &Document, parts: &[&(Rank, Section)], rows: usize) -> String {
        let lead = document.lead.as_ref().map(|lead| self.short_lead(lead));
        let sections = parts.iter().map(|part| self.short_section(&part.1, rows));
        lead.into_iter().chain(sections).collect()
    }

    fn short_section(&self, section: &Section, rows: usize) -> String {
        let heading = match section.heading.as_str() {
            "" => String::new(),
            heading => self.paint.bold(&self.filled(heading, "  ", "    ")) + "\n",
        };
        heading + &section.items.iter().map(|item| self.short(item, rows)).collect::<String>()
    }

    fn short_lead(&self, lead: &Lead) -> String {
        let title = format!("{} {}", lead.kind, printable(&lead.subject));
        let mut head = self.paint.bold(title.trim_end());
        if !lead.took.is_empty() {
            head.push_str(&format!(": {}", lead.took));
        }
        let mut out = format!("{}\n", fill(&head, self.lines("", "")));
        for (at, sentence) in lead.sentences.iter().take(SENTENCES).enumerate() {
            let sentence = printable(sentence);
            let sentence = if at == 0 { self.paint.bold(&sentence) } else { sentence };
            out.push_str(&format!("{}\n", fill(&sentence, self.lines("  ", "  "))));
        }
        out
    }

    fn short(&self, item: &Item, rows: usize) -> String {
        match item {
            Item::Table(table) => self.first_rows(table, rows),
            Item::Warning(notice) => {
                let mark = format!("  {} ", self.paint.alarm("!"));
                let mut out = format!("{}\n", self.filled(&notice.in_short(), &mark, "    "));
                if !notice.advice.is_empty() {
                    out.push_str(&self.filled(&notice.advice, "    ", "    "));
                    out.push('\n');
                }
                out
            }
            Item::Note(_) | Item::Drawing(_) => String::new(),
            other => self.item(other, "  "),
        }
    }

    fn first_rows(&self, table: &Table, rows: usize) -> String {
        let left_out = table.rows.len().saturating_sub(rows);
        if left_out == 0 {
            return table::lay_out(table, self.paint, self.width);
        }
        let first = Table { heads: table.heads.clone(), rows: table.rows[..rows].to_vec() };
        let more = self.note(&format!("and {}", count(left_out as u64, "more row")));
        table::lay_out(&first, self.paint, self.width) + &more
    }
}
