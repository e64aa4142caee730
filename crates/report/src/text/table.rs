//! Aligned columns for a terminal.

use textwrap::core::display_width;

use super::lines::lines_of;
use super::paint::Paint;
use crate::document::{Head, Table};

/// Spaces between columns.
const GAP: usize = 2;

/// Lays a table out: words to the left, figures to the right, two spaces of indent. A table too
/// wide for the terminal becomes one short paragraph per row.
pub(super) fn lay_out(table: &Table, paint: Paint, width: usize) -> String {
    let widths = column_widths(table);
    let total = 2 + widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    if total > width {
        return stacked(table, paint, width);
    }
    let head: Vec<_> =
        table.heads.iter().map(|head| (head.text.clone(), paint.dim(&head.text))).collect();
    let mut lines = vec![line(&head, &widths, &table.heads)];
    for row in &table.rows {
        let cells: Vec<_> =
            row.iter().map(|c| (c.text.clone(), paint.tone(c.tone, &c.text))).collect();
        lines.push(line(&cells, &widths, &table.heads));
    }
    lines.concat()
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

fn stacked(table: &Table, paint: Paint, width: usize) -> String {
    let mut out = String::new();
    for row in &table.rows {
        let (name, rest) = row.split_first().expect("a table has a column that names its rows");
        let facts: Vec<_> = rest
            .iter()
            .zip(&table.heads[1..])
            .filter(|(cell, _)| !cell.text.is_empty())
            .map(|(cell, head)| {
                format!("{} {}", paint.dim(&head.text), paint.tone(cell.tone, &cell.text))
            })
            .collect();
        let options = lines_of(width).initial_indent("    ").subsequent_indent("    ");
        out.push_str(&format!("  {}\n", name.text));
        out.push_str(&format!("{}\n", textwrap::fill(&facts.join(", "), options)));
    }
    out
}
