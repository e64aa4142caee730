//! What was left out of a text.

use std::ops::Range;

/// A part that was left out, and why, or what it would have done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub span: Range<usize>,
    pub why: &'static str,
}
