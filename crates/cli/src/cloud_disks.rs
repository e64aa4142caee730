//! Describes simulated cloud disks: their layers, and the source of each.

use std::fmt::Write as _;

use indexmap::IndexSet;
use iotax_catalog::{Note, Source};
use iotax_experiment::Layer;
use iotax_experiment::layers::CloudDisk;
use iotax_wording::catalog;

use crate::output::wrap;

/// A description of several disks, with one list of sources.
pub(crate) struct Told {
    indent: &'static str,
    text: String,
    sources: IndexSet<Source>,
}

impl Told {
    /// An empty description with this indentation.
    pub(crate) fn indented(indent: &'static str) -> Self {
        Self { indent, text: String::new(), sources: IndexSet::new() }
    }

    /// Adds a disk, under its heading.
    pub(crate) fn disk(&mut self, heading: &str, disk: &CloudDisk) {
        let _ = writeln!(self.text, "{}{heading}; layers from bottom to top", self.indent);
        for part in &disk.parts {
            self.wrap(&Layer::from(&part.layer).to_string(), "  ", "      ");
            let mut what = part.what.clone();
            for source in &part.sources {
                let _ = write!(what, " [{}]", self.number(source));
            }
            self.wrap(&what, "      ", "      ");
        }
        for note in &disk.notes {
            self.wrap(note, "  Note: ", "      ");
        }
    }

    /// The text, with the notes on all disks and the sources.
    pub(crate) fn with_notes<'a>(mut self, notes: impl IntoIterator<Item = &'a Note>) -> String {
        let notes: IndexSet<String> = notes.into_iter().map(catalog::note).collect();
        for note in &notes {
            self.wrap(note, "Note: ", "  ");
        }
        for (number, Source { text, as_of }) in (1..).zip(std::mem::take(&mut self.sources)) {
            self.wrap(&format!("{text} ({as_of})"), &format!("[{number}] "), "    ");
        }
        self.text
    }

    fn wrap(&mut self, text: &str, first_indent: &str, indent: &str) {
        let (first, rest) =
            (self.indent.to_owned() + first_indent, self.indent.to_owned() + indent);
        wrap(&mut self.text, text, &first, &rest);
    }

    fn number(&mut self, source: &Source) -> usize {
        self.sources.insert_full(source.clone()).0 + 1
    }
}
