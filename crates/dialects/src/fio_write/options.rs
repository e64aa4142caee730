//! The options of a job as they are collected.

use std::fmt::Display;

/// Options under construction.
#[derive(Default)]
pub(super) struct Options(pub(super) Vec<(String, Option<String>)>);

impl Options {
    pub(super) fn give(&mut self, name: &str, value: impl Display) {
        self.0.push((name.to_owned(), Some(format!("{value}"))));
    }

    pub(super) fn give_if(&mut self, given: bool, name: &str) {
        if given {
            self.give(name, 1);
        }
    }
}
