//! Sources of a page, numbered in the order in which they are first named.

use iotax_catalog::{Limit, Source};

use crate::document::{Item, Section};

/// The sources that were named so far.
#[derive(Debug, Default)]
pub(super) struct Sources {
    known: Vec<Source>,
}

impl Sources {
    pub(super) fn number(&mut self, source: &Source) -> usize {
        if let Some(place) = self.known.iter().position(|known| known == source) {
            return place + 1;
        }
        self.known.push(source.clone());
        self.known.len()
    }

    /// The numbers of a limit's sources: `1`, or `1, 2` if the burst has another.
    pub(super) fn of(&mut self, limit: &Limit) -> String {
        let first = self.number(&limit.source);
        match &limit.burst_source {
            Some(burst) => format!("{first}, {}", self.number(burst)),
            None => first.to_string(),
        }
    }

    /// One line for each: `[1] 2026-08-17, repository:file`.
    pub(super) fn section(&self) -> Section {
        let line = |(place, source): (usize, &Source)| {
            format!("[{}] {}, {}", place + 1, source.as_of, source.text)
        };
        let lines = self.known.iter().enumerate().map(line).collect();
        Section::new("Sources", [Item::Sources(lines)])
    }
}
