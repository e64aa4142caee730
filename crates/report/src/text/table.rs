//! Renders tables with aligned columns for a terminal.

use std::borrow::Cow;
use std::collections::HashSet;

use textwrap::core::display_width;
use textwrap::wrap;

use super::{Paint, lines_of};
use crate::document::{Cell, Head, Table};

/// Spaces between columns.
const GAP: usize = 2;

/// Maximum number of lines of a cell in the last column.
const MAX_LINES: usize = 2;

/// Renders a table: words left-aligned, figures right-aligned, indented by two spaces. If it is too
/// wide for the terminal, words in the last column wrap to two lines. If that is not enough, each
/// row becomes a short paragraph.
pub(super) fn lay_out(table: &Table, paint: Paint, width: usize) -> String {
    let mut widths = column_widths(table);
    let total = 2 + widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    if let Some(last) = widths.last_mut()
        && total > width
    {
        match narrower(table, *last, total - width) {
            Some(narrow) => *last = narrow,
            None => return stacked(table, paint, width),
        }
    }
    let head: Vec<_> =
        table.heads.iter().map(|head| (head.text.clone(), paint.dim(&head.text))).collect();
    let mut lines = vec![line(&head, &widths, &table.heads)];
    for row in &table.rows {
        let Some((last, first)) = row.split_last() else { continue };
        for (at, text) in parts(&last.text, widths[first.len()]).into_iter().enumerate() {
            let text_of = |text: &str| if at == 0 { text.to_owned() } else { String::new() };
            let first = first.iter().map(|cell| (text_of(&cell.text), cell.tone));
            let cells = first.chain([(text, last.tone)]);
            let cells = cells.map(|(text, tone)| (text.clone(), paint.tone(tone, &text)));
            lines.push(line(&cells.collect::<Vec<_>>(), &widths, &table.heads));
        }
    }
    lines.concat()
}

/// The width of the last column, reduced by `less`, if its words fit in that.
fn narrower(table: &Table, last: usize, less: usize) -> Option<usize> {
    let head = table.heads.last().filter(|head| !head.is_figure)?;
    let narrow = last.checked_sub(less).filter(|narrow| *narrow >= display_width(&head.text))?;
    let fits = |row: &Vec<Cell>| {
        let lines = row.last().map_or_else(Vec::new, |cell| parts(&cell.text, narrow));
        lines.len() <= MAX_LINES && lines.iter().all(|line| display_width(line) <= narrow)
    };
    table.rows.iter().all(fits).then_some(narrow)
}

/// The lines of a cell (at least one); words are not broken.
fn parts(text: &str, width: usize) -> Vec<String> {
    let lines = wrap(text, lines_of(width.max(1)).break_words(false));
    lines.into_iter().map(Cow::into_owned).collect()
}

fn column_widths(table: &Table) -> Vec<usize> {
    (0..table.heads.len())
        .map(|i| {
            let cells = table.rows.iter().map(|row| display_width(&row[i].text));
            cells.chain([display_width(&table.heads[i].text)]).max().unwrap_or(0)
        })
        .collect()
}

/// One line from (bare, painted) cells; padding counts only what is visible.
fn line(cells: &[(String, String)], widths: &[usize], heads: &[Head]) -> String {
    let mut out = String::from(" ");
    for (i, ((bare, painted), width)) in cells.iter().zip(widths).enumerate() {
        let padding = " ".repeat(width - display_width(bare));
        out.push_str(if i == 0 { " " } else { "  " });
        if heads[i].is_figure {
            out.push_str(&padding);
            out.push_str(painted);
        } else {
            out.push_str(painted);
            out.push_str(&padding);
        }
    }
    format!("{}\n", out.trim_end())
}

/// One short paragraph per row, with its name.
fn stacked(table: &Table, paint: Paint, width: usize) -> String {
    let naming = naming_columns(table);
    let mut out = String::new();
    for row in &table.rows {
        let (names, rest) = row.split_at(naming);
        let name: Vec<&str> = names.iter().map(|cell| cell.text.as_str()).collect();
        let facts: Vec<_> = rest
            .iter()
            .zip(&table.heads[naming..])
            .filter(|(cell, _)| !cell.text.is_empty())
            .map(|(cell, head)| {
                format!("{} {}", paint.dim(&head.text), paint.tone(cell.tone, &cell.text))
            })
            .collect();
        let options = lines_of(width).initial_indent("    ").subsequent_indent("    ");
        out.push_str(&format!("  {}\n", name.join(&" ".repeat(GAP)).trim_end()));
        out.push_str(&format!("{}\n", textwrap::fill(&facts.join(", "), options)));
    }
    out
}

/// Number of first columns that name the rows: the fewest that distinguish rows as well as all
/// words before the figures.
fn naming_columns(table: &Table) -> usize {
    let names = |columns: usize| -> usize {
        let names = table.rows.iter().map(|row| row[..columns].iter().map(|cell| &cell.text));
        names.map(Iterator::collect::<Vec<_>>).collect::<HashSet<_>>().len()
    };
    let words = table.heads.iter().take_while(|head| !head.is_figure).count();
    let words = words.clamp(1, table.heads.len().saturating_sub(1).max(1));
    (1..words).find(|columns| names(*columns) == names(words)).unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rows: [[&str; 2]; 2]) -> String {
        let mut table = Table::new(&["arm", "interface", "note"], &["sent"]);
        for [arm, interface] in rows {
            let note = "what is said of it at some length";
            table.push([arm, interface, note, "1"].map(Cell::from));
        }
        lay_out(&table, Paint { colour: false }, 40)
    }

    #[test]
    fn a_stacked_row_is_named_by_what_tells_it_apart() {
        insta::assert_snapshot!(told([["a", "near eth0"], ["b", "near eth0"]]), @"
        a
          interface near eth0, note what is
          said of it at some length, sent 1
        b
          interface near eth0, note what is
          said of it at some length, sent 1
        ");
        insta::assert_snapshot!(told([["a", "near eth0"], ["a", "far eth0"]]), @"
        a  near eth0
          note what is said of it at some
          length, sent 1
        a  far eth0
          note what is said of it at some
          length, sent 1
        ");
        // The rows are equal, so one name is enough.
        insta::assert_snapshot!(told([["a", "near eth0"], ["a", "near eth0"]]), @"
        a
          interface near eth0, note what is
          said of it at some length, sent 1
        a
          interface near eth0, note what is
          said of it at some length, sent 1
        ");
    }
}
