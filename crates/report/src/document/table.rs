//! Tables of formatted text.

use crate::words::{Tone, printable};
use iotax_wording::format::ABSENT;

/// Maximum number of columns that fit on a phone.
const MAX_COLUMNS: usize = 4;
/// Maximum number of rows that are stacked.
const MAX_STACKED: usize = 12;

/// A table of formatted text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// Column heads; the first column names the rows.
    pub(crate) heads: Vec<Head>,
    /// Rows, each as long as `heads`.
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    /// Its text, safe to print on one line.
    pub(crate) text: String,
    /// Whether the column contains figures, which are right-aligned.
    pub(crate) is_figure: bool,
}

impl Head {
    pub(crate) fn word(text: &str) -> Self {
        Self { text: printable(text), is_figure: false }
    }

    pub(crate) fn figure(text: &str) -> Self {
        Self { is_figure: true, ..Self::word(text) }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// Its text, safe to print on one line.
    pub(crate) text: String,
    /// Its tone.
    pub(crate) tone: Tone,
}

impl Cell {
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self { text: printable(text.as_ref()), tone: Tone::Plain }
    }

    pub(crate) fn toned(text: impl AsRef<str>, tone: Tone) -> Self {
        Self { tone, ..Self::new(text) }
    }

    /// Whether the cell is empty or absent.
    pub(crate) fn is_absent(&self) -> bool {
        [ABSENT, ""].contains(&self.text.as_str())
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// Builds a table column by column, with one row per item.
pub(crate) struct Rows<T> {
    things: Vec<T>,
    pub(crate) table: Table,
}

impl<T: Copy> Rows<T> {
    /// Adds a column of words.
    pub(crate) fn word<C: Into<Cell>>(self, head: &str, cell: impl Fn(T) -> C) -> Self {
        self.column(Head::word(head), |of| Some(cell(of)))
    }

    /// Adds a column of figures.
    pub(crate) fn figure<C: Into<Cell>>(self, head: &str, cell: impl Fn(T) -> C) -> Self {
        self.column(Head::figure(head), |of| Some(cell(of)))
    }

    /// Adds a column, unless it has no value in any row.
    pub(crate) fn column<C: Into<Cell>>(
        mut self,
        head: Head,
        cell: impl Fn(T) -> Option<C>,
    ) -> Self {
        let cells: Vec<_> = self.things.iter().map(|of| cell(*of)).collect();
        if cells.is_empty() || cells.iter().any(Option::is_some) {
            self.table.heads.push(head);
            for (row, cell) in self.table.rows.iter_mut().zip(cells) {
                row.push(cell.map_or_else(|| Cell::new(""), Into::into));
            }
        }
        self
    }
}

impl Table {
    pub(crate) fn of<T>(things: impl IntoIterator<Item = T>) -> Rows<T> {
        let things: Vec<T> = things.into_iter().collect();
        let rows = things.iter().map(|_| Vec::new()).collect();
        Rows { things, table: Self { heads: Vec::new(), rows } }
    }

    /// The table, if it has rows.
    pub(crate) fn filled(self) -> Option<Self> {
        (!self.rows.is_empty()).then_some(self)
    }

    /// Creates a table with columns of words, then columns of figures.
    pub(crate) fn new(words: &[&str], figures: &[&str]) -> Self {
        let words = words.iter().map(|text| Head::word(text));
        let figures = figures.iter().map(|text| Head::figure(text));
        Self { heads: words.chain(figures).collect(), rows: Vec::new() }
    }

    pub(crate) fn push<const N: usize>(&mut self, cells: [Cell; N]) {
        debug_assert_eq!(N, self.heads.len(), "a row has one cell per column");
        self.rows.push(cells.into());
    }

    /// Removes the first column if there is only one arm.
    pub(crate) fn without_names_of(mut self, several: usize) -> Self {
        if several == 1 {
            self.heads.remove(0);
            self.rows.iter_mut().for_each(|row| drop(row.remove(0)));
        }
        self
    }

    /// Removes columns of figures without any value.
    pub(crate) fn without_absent_figures(mut self) -> Self {
        for i in (0..self.heads.len()).rev() {
            if self.heads[i].is_figure && self.rows.iter().all(|row| row[i].is_absent()) {
                self.heads.remove(i);
                self.rows.iter_mut().for_each(|row| drop(row.remove(i)));
            }
        }
        self
    }

    /// Whether phones show each row as a paragraph: it needs too much width, or all of it is text.
    pub(crate) fn is_stacked(&self) -> bool {
        self.is_of_words() || self.heads.len() > MAX_COLUMNS && self.rows.len() <= MAX_STACKED
    }

    /// Whether all cells are words, which may wrap.
    pub(crate) fn is_of_words(&self) -> bool {
        self.heads.iter().all(|head| !head.is_figure)
    }
}
