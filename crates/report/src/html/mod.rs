//! Documents as self-contained pages: no request leaves them, and without JavaScript their tables
//! say it all. A page reads the same offline, on paper, on a phone, in dark.

mod unbroken;

use std::fmt;

use askama::Template;
use askama::filters::{Escaper, Html};

use crate::document::{Document, Drawing, Item, Medium, Section};
use crate::words::{self, printable};

/// Charting libraries, as published; see `assets/README.md`.
const LIBRARIES: [&str; 2] =
    [include_str!("../../assets/d3.min.js"), include_str!("../../assets/plot.umd.min.js")];
const LICENSES: [&str; 2] =
    [include_str!("../../assets/LICENSE-d3"), include_str!("../../assets/LICENSE-plot")];

/// A report as one HTML file; its parts are files of their own beside it.
pub fn html(document: &Document) -> String {
    Page { document }.render().expect("writing to a string does not fail")
}

/// Every text but those marked `safe` in the template goes through [`Escaped`].
#[derive(Template)]
#[template(path = "html/page.html")]
struct Page<'a> {
    document: &'a Document,
}

impl Page<'_> {
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const STYLE: &'static str = include_str!("style.css");

    fn sections(&self) -> impl Iterator<Item = &Section> {
        self.document.sections_for(Medium::Page)
    }

    /// The libraries without the line that names their web sites: the page refers to nothing
    /// outside. Their notices are in the page, complete.
    fn libraries() -> [&'static str; 2] {
        LIBRARIES.map(|code| code.split_once('\n').map_or(code, |(_notice, rest)| rest))
    }
}

/// Text from anywhere that can neither become markup nor turn what is read around.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Escaped;

impl Escaper for Escaped {
    fn write_escaped_str<W: fmt::Write>(&self, to: W, text: &str) -> fmt::Result {
        Html.write_escaped_str(to, &printable(text))
    }
}
