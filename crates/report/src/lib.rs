//! Analysis to html, text, json, markdown, csv.
//!
//! Each format is one pure function from what was run and what it showed to a string. Nothing
//! here prints, opens a file, or computes a statistic: numbers are rounded and given units.
//!
//! | format | function | for |
//! |---|---|---|
//! | HTML | [`html`] | people, offline, to be handed on |
//! | text | [`text`] | the terminal |
//! | Markdown | [`markdown`] | issues, wikis |
//! | JSON | [`json_compare`], [`json_run`] | programs |
//! | CSV | [`csv`] | spreadsheets, notebooks: trials as rows |
#![forbid(unsafe_code)]
#![allow(
    clippy::format_push_string,
    reason = "a report is small, and `write!` to a string brings a result that cannot fail"
)]

mod csv;
mod format;
mod html;
mod json;
mod markdown;
mod notices;
mod sentence;
mod tables;
mod text;
mod words;

pub use csv::{CSV_COLUMNS, csv};
pub use html::html;
pub use json::{COMPARE_FORMAT, json_compare, json_run};
pub use markdown::markdown;
pub use text::{Style, text};
