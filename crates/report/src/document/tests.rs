//! Whatever a document says is text in every format.

use iotax_analyze::Weight;

use super::*;
use crate::{Style, html, markdown, text};

const HOSTILE: &str = "</script><img src=x> | *b* `c` [d](e)\u{1b}[2J\u{202e}\n# f";

/// One of each, saying the same everywhere.
fn hostile() -> Document {
    let said = || HOSTILE.to_owned();
    let fact = || [Point::new(HOSTILE, HOSTILE), Point::command(HOSTILE, HOSTILE)];
    let notice =
        Notice { title: said(), messages: vec![said()], advice: said(), weight: Weight::Severe };
    let node = || Node { name: said(), about: said(), ..Node::default() };
    let figures = Drawing::Tiles(vec![Tile { label: HOSTILE, figure: said() }]);
    let mut table = Table::new(&[HOSTILE], &[HOSTILE]);
    table.push([Cell::new(HOSTILE), Cell::new(HOSTILE)]);
    let items = [
        Item::Paragraph(said()),
        Item::Note(said()),
        Item::Table(table),
        Item::Table(Table::of([HOSTILE]).word(HOSTILE, |text| text).table),
        Item::Facts(fact().into()),
        Item::List(vec![Point { name: said(), text: said(), command: said() }]),
        Item::Sources(vec![said()]),
        Item::Warning(notice),
        Item::warning(said()),
        Item::Tree(Node { below: vec![node()], ..node() }),
        Item::Preformatted(said()),
        Item::Folded("all", said()),
        Item::Drawing(figures),
        Item::Drawing(Drawing::Legend(vec![
            LegendEntry::new(0, HOSTILE),
            LegendEntry::new(1, HOSTILE),
        ])),
    ];
    let lead = || Lead {
        subject: said(),
        counts: said(),
        sentences: vec![said(), said()],
        ending: said(),
        origin: said(),
        about: said(),
        ..Lead::default()
    };
    let chapter = || Document { lead: Some(lead()), ..Document::default() };
    let sections = items.map(|item| Section::new(HOSTILE, [item]));
    let chapter = Chapter { title: said(), document: chapter() };
    Document {
        lead: Some(lead()),
        sections: sections.into(),
        chapters: vec![chapter],
        ..Document::default()
    }
}

#[test]
fn no_text_drives_a_terminal_or_turns_around_what_is_read() {
    let document = hostile();
    for shown in [text(&document, Style::default()), markdown(&document), html(&document)] {
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        assert!(shown.matches("\u{fffd}[2J").count() > 20, "{shown}");
    }
}

#[test]
fn no_text_becomes_markup() {
    let document = hostile();
    let page = html(&document);
    assert!(!page.contains("<img") && !page.contains("</script>"), "{page}");
    let shown = markdown(&document);
    // Within code nothing is markup, and of code with its own mark there is none.
    let lines = shown.lines().filter(|line| !line.starts_with("    "));
    for line in lines {
        assert_eq!(line.matches("<img").count(), line.matches("\\<img").count(), "{line}");
        assert!(!line.starts_with("# f"), "{line}");
    }
}
