//! What fits one screen: the answer, the table that shows it, what to do next, and what changes that.

use textwrap::fill;

use super::{Page, Style, table};
use crate::document::{Document, Item, Lead, Medium, Rank, Section, Table};
use crate::words::printable;
use iotax_quantity::count;
use iotax_wording::doubt::Notice;

/// Sentences of the answer at most.
pub(crate) const SENTENCES: usize = 3;
/// Rows of a table at least, if it has as many.
const ROWS: usize = 4;

/// The answer alone: its sentences.
pub fn answer(document: &Document, style: Style) -> String {
    let page = Page::new(style);
    let sentences = document.lead.iter().flat_map(|lead| &lead.sentences);
    let lines = |text: &String| page.filled(text, "", "") + "\n";
    sentences.map(lines).collect()
}

/// As much of a report as fits `lines`, the most important first. A report that says nothing of what matters
/// is shown in full.
pub fn screen(document: &Document, style: Style, lines: usize) -> String {
    let page = Page::new(style);
    let mut parts: Vec<(Rank, &Section)> =
        document.sections_for(Medium::Screen).filter_map(|one| Some((one.rank?, one))).collect();
    if parts.is_empty() {
        return page.document(document);
    }
    let mut rows = usize::MAX;
    loop {
        let text = page.screen(document, &parts, rows);
        let over = text.lines().count().saturating_sub(lines);
        let last = parts.iter().enumerate().max_by_key(|(at, (rank, _))| (*rank, *at));
        match last {
            _ if over == 0 => return text,
            Some((at, (rank, _))) if *rank > Rank::Answer => drop(parts.remove(at)),
            _ if rows > ROWS => {
                let most =
                    parts.iter().flat_map(|(_, one)| tables(one)).map(|t| t.rows.len()).max();
                rows = most.unwrap_or(0).min(rows).saturating_sub(over + 1).max(ROWS);
            }
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
    fn screen(&self, document: &Document, parts: &[(Rank, &Section)], rows: usize) -> String {
        let lead = document.lead.as_ref().map(|lead| self.short_lead(lead));
        let sections = parts.iter().map(|(rank, section)| self.short(*rank, section, rows));
        lead.into_iter().chain(sections).collect()
    }

    fn short_lead(&self, lead: &Lead) -> String {
        let title = format!("{} {}", lead.kind, printable(&lead.subject));
        let head = self.paint.bold(title.trim_end());
        let took = lead.counts.rsplit(" in ").next().unwrap_or_default();
        let mut out = format!("{}\n", fill(&format!("{head}: {}", printable(took)), self.width));
        for (at, sentence) in lead.sentences.iter().take(SENTENCES).enumerate() {
            let sentence = printable(sentence);
            let sentence = if at == 0 { self.paint.bold(&sentence) } else { sentence };
            out.push_str(&format!("{}\n", fill(&sentence, self.lines("  ", "  "))));
        }
        out
    }

    fn short(&self, rank: Rank, section: &Section, rows: usize) -> String {
        let item = |item: &Item| match item {
            Item::Table(table) => self.first_rows(table, rows),
            Item::Warning(notice) => {
                let mark = format!("  {} ", self.paint.alarm("!"));
                format!("{}\n", self.filled(&short_warning(notice), &mark, "    "))
            }
            Item::List(points) if rank == Rank::Cause => {
                let first = points.iter().take(1);
                first.map(|point| self.filled(&point.text, "  ", "    ") + "\n").collect()
            }
            Item::Note(_) | Item::Drawing(_) => String::new(),
            other => self.item(other, "  "),
        };
        section.items.iter().map(item).collect()
    }

    fn first_rows(&self, table: &Table, rows: usize) -> String {
        let left_out = table.rows.len().saturating_sub(rows);
        if left_out == 0 {
            return table::lay_out(table, self.paint, self.width);
        }
        let first = Table { heads: table.heads.clone(), rows: table.rows[..rows].to_vec() };
        let more = self.note(&format!("and {} more", count(left_out as u64, "row")));
        table::lay_out(&first, self.paint, self.width) + &more
    }
}

/// What was seen, and what to do first.
fn short_warning(notice: &Notice) -> String {
    let Notice { messages, advice, .. } = notice;
    let first = messages.first().map_or("", String::as_str).trim_end_matches('.');
    let more = if messages.len() > 1 { " (and more)" } else { "" };
    let advice = advice.split_inclusive(". ").next().unwrap_or_default();
    format!("{first}{more}. {advice}")
}
