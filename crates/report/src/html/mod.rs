//! Renders documents as self-contained HTML pages. They make no requests, and their tables contain
//! all data if JavaScript is off. They work offline, in print, on phones and in dark mode.

mod outline;

use std::fmt;

use askama::Template;
use askama::filters::{Escaper, Html};

use self::outline::{Folded, Outline};
use crate::document::StandingLook as _;
use crate::document::{Document, Drawing, Item};
use crate::words::{self, printable};

/// The scripts and the pages that need them: shared code first, start code last.
const SCRIPTS: [(Use, &str); 12] = [
    (Use::Always, include_str!("charts/plot.js")),
    (Use::Always, include_str!("charts/look.js")),
    (Use::Always, include_str!("charts/forest.js")),
    (Use::Chart("waterfall"), include_str!("charts/waterfall.js")),
    (Use::Charts("experiment"), include_str!("charts/machine.js")),
    (Use::Nodes, include_str!("charts/nodes.js")),
    (Use::Charts("experiment"), include_str!("charts/operations.js")),
    (Use::Charts("experiment"), include_str!("charts/experiment.js")),
    (Use::Charts("search"), include_str!("charts/search.js")),
    (Use::Charts("recording"), include_str!("charts/recording.js")),
    (Use::Always, include_str!("charts/export.js")),
    (Use::Always, include_str!("charts/page.js")),
];

/// Which pages need a script.
#[derive(Debug, Clone, Copy)]
enum Use {
    Always,
    /// Those with charts of a kind.
    Charts(&'static str),
    /// Those with one chart.
    Chart(&'static str),
    /// Those with a map of nodes.
    Nodes,
}

impl Use {
    fn is_for(self, document: &Document) -> bool {
        let drawings = || {
            let items = document.sections.iter().flat_map(|section| &section.items);
            items.filter_map(|item| if let Item::Drawing(one) = item { Some(one) } else { None })
        };
        let is_own = match self {
            Self::Always => true,
            Self::Charts(kind) => {
                document.charts.as_ref().is_some_and(|charts| charts.kind == kind)
            }
            Self::Chart(id) => drawings().any(|drawing| {
                matches!(drawing, Drawing::Charts(all) if all.iter().any(|one| one.id == id))
            }),
            Self::Nodes => drawings().any(|drawing| matches!(drawing, Drawing::Nodes(_))),
        };
        is_own || document.chapters.iter().any(|chapter| self.is_for(&chapter.document))
    }
}

/// A report as one HTML file; its chapters are folded.
pub fn html(document: &Document) -> String {
    let outline = Outline::of(document, "");
    let has_charts = has_charts(document);
    Page { document, outline, has_charts }.render().expect("writing to a string does not fail")
}

fn has_charts(document: &Document) -> bool {
    let mut chapters = document.chapters.iter();
    document.charts.is_some() || chapters.any(|chapter| has_charts(&chapter.document))
}

/// All text except that marked `safe` in the template is escaped by [`Escaped`].
#[derive(Template)]
#[template(path = "html/page.html")]
struct Page<'a> {
    document: &'a Document,
    outline: Outline<'a>,
    has_charts: bool,
}

impl<'a> Page<'a> {
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const STYLE: &'static str = include_str!("style.css");

    /// The scripts without comments and indentation, which saves a tenth of a page of two arms. No
    /// string literal spans lines.
    fn scripts(&self) -> String {
        let needed = SCRIPTS.iter().filter(|(of, _)| of.is_for(self.document));
        let lines = needed.flat_map(|(_, script)| script.lines().map(str::trim_start));
        lines.filter(|line| !line.starts_with("//")).flat_map(|line| [line, "\n"]).collect()
    }

    fn body(&self) -> Body<'a, '_> {
        Body { document: self.document, outline: &self.outline }
    }
}

/// The sections of a document and, folded, its chapters.
#[derive(Template)]
#[template(path = "html/body.html")]
struct Body<'a, 'o> {
    document: &'a Document,
    outline: &'o Outline<'a>,
}

impl Body<'_, '_> {
    /// The body of a chapter.
    fn folded(one: &Folded<'_>) -> String {
        let document = &one.chapter.document;
        let outline = Outline::of(document, &format!("{}-", one.anchor));
        let body = Body { document, outline: &outline };
        body.render().expect("writing to a string does not fail")
    }
}

/// Escapes untrusted text: no markup, and no characters that reorder text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Escaped;

impl Escaper for Escaped {
    fn write_escaped_str<W: fmt::Write>(&self, to: W, text: &str) -> fmt::Result {
        Html.write_escaped_str(to, &printable(text))
    }
}
