//! The content of a report, independent of the format. Each format has one renderer.
//!
//! Text in a document is not escaped. Each renderer escapes markup and terminal control characters
//! in one place. Only table cells are made printable earlier, because their width is measured.

mod drawing;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use self::drawing::{ChartFrame, Charts, Drawing, ForestRow, Group, LegendEntry, Tile};
pub(crate) use self::drawing::{NodeGroup, NodeMap, NodeTile, StandingLook};
pub(crate) use self::table::{Cell, Head, Table};
use iotax_wording::doubt::Notice;

/// Maximum number of characters of a sentence in a title.
const MAX_TITLE: usize = 80;

/// A report of any kind. The formats are functions of it: [`crate::text`], [`crate::markdown`],
/// [`crate::html`].
#[derive(Debug, Default)]
pub struct Document {
    pub(crate) lead: Option<Lead>,
    pub(crate) sections: Vec<Section>,
    /// Sections for one screen of a terminal.
    pub(crate) screen: Vec<(Rank, Section)>,
    /// Data of the charts in a page.
    pub(crate) charts: Option<Charts>,
    pub(crate) chapters: Vec<Chapter>,
}

/// The start of a report: subject and result.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// The command: `peel`.
    pub(crate) kind: &'static str,
    /// The name of the workload; may be empty.
    pub(crate) subject: String,
    /// `12 blocks, 48 trials in 5 min 40 s`
    pub(crate) counts: String,
    /// Duration for one screen: `5 min 40 s`; may be empty.
    pub(crate) took: String,
    /// The result in a few words, for the title of a page; may be empty.
    pub(crate) headline: String,
    /// The first sentence is the result; the others add detail.
    pub(crate) sentences: Vec<String>,
    /// The reason why the run ended, in sentences.
    pub(crate) ending: String,
    /// Time and host: `2026-01-02 03:04 UTC on bench-1`.
    pub(crate) origin: String,
    /// Description of the subject.
    pub(crate) about: String,
}

/// A part of a report under one heading.
#[derive(Debug, Default)]
pub(crate) struct Section {
    /// May be empty.
    pub(crate) heading: String,
    /// Whether the heading is a warning.
    pub(crate) is_alarming: bool,
    pub(crate) place: ShownIn,
    pub(crate) topic: Topic,
    pub(crate) items: Vec<Item>,
}

/// Priority on a screen with too little room. The last is left out first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The table that shows the answer.
    Answer,
    /// Warnings about the answer.
    Doubt,
    /// The cause.
    Cause,
    /// Other information.
    Detail,
}

/// An element of a section.
#[derive(Debug)]
pub(crate) enum Item {
    Paragraph(String),
    /// A note on the item above it.
    Note(String),
    Table(Table),
    /// Names with texts or commands, in columns. A repeated name is shown once.
    Facts(Vec<Point>),
    List(Vec<Point>),
    /// Sources of figures.
    Sources(Vec<String>),
    Warning(Notice),
    Tree(Node),
    /// Preformatted lines.
    Preformatted(String),
    /// Preformatted lines that are folded, with a summary.
    Folded(&'static str, String),
    /// A drawing, for formats that support it. Its data are also in tables.
    Drawing(Drawing),
}

/// A list entry: name, text, and a command, which is never wrapped. Each may be empty.
#[derive(Debug, Default)]
pub(crate) struct Point {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) command: String,
}

/// A node of a tree: a layer above others.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) name: String,
    /// Text after the name.
    pub(crate) remark: &'static str,
    pub(crate) about: String,
    pub(crate) below: Vec<Node>,
}

/// A document within another one, for one of several phases.
#[derive(Debug)]
pub(crate) struct Chapter {
    /// Its number: `Phase 1 of 2`.
    pub(crate) title: String,
    pub(crate) document: Document,
}

/// The topic of a section. Pages show sections in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// The answer.
    Answer,
    /// Confidence and limitations.
    Doubt,
    /// The evidence.
    #[default]
    Evidence,
    /// The measurement setup.
    Circumstances,
}

impl Topic {
    /// The heading; none for the answer, which follows the result.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Answer => "",
            Self::Doubt => "Confidence and limitations",
            Self::Evidence => "Evidence",
            Self::Circumstances => "Measurement setup",
        }
    }
}

/// Formats that show a section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ShownIn {
    #[default]
    Everywhere,
    /// Formats without the line width of a terminal.
    Wide,
    /// Formats with the line width of a terminal.
    Narrow,
    /// Formats without drawings.
    Undrawn,
    /// Pages, which have drawings and no limit on length.
    Page,
}

/// Capabilities of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    Terminal,
    /// Embedded in other text, without drawings.
    Note,
    /// Separate pages.
    Page,
}

impl Document {
    pub(crate) fn of(lead: Lead) -> Self {
        Self { lead: Some(lead), ..Self::default() }
    }

    /// Appends the sections of another document.
    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        self.sections.extend(other.sections);
        self.screen.extend(other.screen);
        self
    }

    pub(crate) fn add(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// Adds sections for one screen of a terminal.
    pub(crate) fn show_first(&mut self, rank: Rank, sections: impl IntoIterator<Item = Section>) {
        self.screen.extend(sections.into_iter().map(|section| (rank, section)));
    }

    /// Adds sections with a topic.
    pub(crate) fn extend_on(&mut self, topic: Topic, sections: impl IntoIterator<Item = Section>) {
        self.extend(sections.into_iter().map(|section| section.on(topic)));
    }

    pub(crate) fn extend(&mut self, sections: impl IntoIterator<Item = Section>) {
        self.sections.extend(sections);
    }

    pub(crate) fn add_paragraph(&mut self, text: impl Into<String>) {
        self.add(Section::of(Item::Paragraph(text.into())));
    }

    /// Adds a table, if there is one, and a note.
    pub(crate) fn add_table(&mut self, heading: &str, table: Option<Table>, note: Option<String>) {
        self.extend(Section::of_table(heading, table, note));
    }

    /// Adds names and values, if there are any.
    pub(crate) fn add_facts<N: Into<String>>(
        &mut self,
        facts: impl IntoIterator<Item = (N, String)>,
    ) {
        let facts = Item::facts(facts);
        let is_empty = matches!(&facts, Item::Facts(facts) if facts.is_empty());
        self.extend((!is_empty).then(|| Section::of(facts)));
    }

    /// Adds a list, if it is not empty.
    pub(crate) fn add_list(&mut self, heading: &str, lines: Vec<String>) {
        self.extend(Section::of_list(heading, lines));
    }

    /// The subject, or the kind if there is none.
    pub(crate) fn subject(&self) -> &str {
        let lead = self.lead.as_ref();
        lead.map_or("", |lead| if lead.subject.is_empty() { lead.kind } else { &lead.subject })
    }

    /// The page title: `encrypted is 27 % slower than plain - iotax compare randread-4k`.
    pub(crate) fn title(&self) -> String {
        let Some(lead) = &self.lead else {
            let heading = self.sections.first().map_or("", |first| &first.heading);
            return format!("iotax {heading}");
        };
        let what = ["iotax", lead.kind, &lead.subject].join(" ");
        match lead.finding() {
            Some(finding) => format!("{finding} - {}", what.trim_end()),
            None => what.trim_end().to_owned(),
        }
    }

    /// The sections for a format.
    pub(crate) fn sections_for(&self, medium: Medium) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| match section.place {
            ShownIn::Everywhere => true,
            ShownIn::Wide => medium != Medium::Terminal,
            ShownIn::Narrow => medium == Medium::Terminal,
            ShownIn::Undrawn => medium != Medium::Page,
            ShownIn::Page => medium == Medium::Page,
        })
    }
}

impl Lead {
    /// The result for a title: the headline, or as much of the first sentence as a title shows.
    fn finding(&self) -> Option<String> {
        if !self.headline.is_empty() {
            return Some(self.headline.clone());
        }
        let sentence = self.sentences.first()?.trim_end_matches('.');
        let Some((end, _)) = sentence.char_indices().nth(MAX_TITLE) else {
            return Some(sentence.to_owned());
        };
        let start = &sentence[..end];
        let mut words = start.rsplit_once(' ').map_or(start, |(words, _)| words);
        // Half a bracket is left out.
        while let Some(open) =
            words.rfind(['(', '[']).filter(|at| !words[*at..].contains([')', ']']))
        {
            words = words[..open].trim_end();
        }
        Some(format!("{}…", words.trim_end_matches([',', ';', ':'])))
    }
}

impl Section {
    pub(crate) fn new(heading: impl Into<String>, items: impl Into<Vec<Item>>) -> Self {
        Self { heading: heading.into(), items: items.into(), ..Self::default() }
    }

    pub(crate) fn of_table(
        heading: &str,
        table: Option<Table>,
        note: Option<String>,
    ) -> Option<Self> {
        let items = [Item::Table(table?)].into_iter().chain(note.map(Item::Note));
        Some(Self::new(heading, items.collect::<Vec<_>>()))
    }

    pub(crate) fn of_list(heading: &str, lines: Vec<String>) -> Option<Self> {
        (!lines.is_empty()).then(|| Self::new(heading, [Item::list(lines)]))
    }

    /// A section without a heading.
    pub(crate) fn of(item: Item) -> Self {
        Self::new("", [item])
    }

    pub(crate) fn at(self, place: ShownIn) -> Self {
        Self { place, ..self }
    }

    pub(crate) fn on(self, topic: Topic) -> Self {
        Self { topic, ..self }
    }
}

impl Item {
    pub(crate) fn list(texts: impl IntoIterator<Item = String>) -> Self {
        Self::List(texts.into_iter().map(|text| Point::new("", text)).collect())
    }

    pub(crate) fn facts<N: Into<String>>(facts: impl IntoIterator<Item = (N, String)>) -> Self {
        Self::Facts(facts.into_iter().map(|(name, value)| Point::new(name, value)).collect())
    }

    /// A warning in one sentence.
    pub(crate) fn warning(text: String) -> Self {
        Self::Warning(Notice { messages: vec![text], ..Notice::default() })
    }
}

impl Node {
    /// The node and all nodes below it, with depths, from top to bottom.
    pub(crate) fn flat(&self) -> Vec<(usize, &Self)> {
        let below = self.below.iter().flat_map(Self::flat);
        let below = below.map(|(depth, node)| (depth + 1, node));
        [(0, self)].into_iter().chain(below).collect()
    }
}

impl Point {
    pub(crate) fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), command: String::new() }
    }

    pub(crate) fn command(name: impl Into<String>, command: impl Into<String>) -> Self {
        Self { command: command.into(), ..Self::new(name, "") }
    }
}
