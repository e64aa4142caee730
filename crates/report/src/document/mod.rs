//! What is reported, before any layout: built once, and laid out by one renderer per format.
//!
//! Text in a document is as it came: what could be markup, or drive a terminal, is escaped by the
//! renderers, each in one place. Only cells of tables are made printable before, since their width
//! is measured.

mod drawing;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use self::drawing::{ChartFrame, Charts, Drawing, ForestRow, Group, LegendEntry, Tile};
pub(crate) use self::drawing::{NodeGroup, NodeMap, NodeTile, StandingLook};
pub(crate) use self::table::{Cell, Head, Table};
use iotax_wording::doubt::Notice;

/// A report of any kind. The formats are functions of it: [`crate::text`], [`crate::markdown`],
/// [`crate::html`].
#[derive(Debug, Default)]
pub struct Document {
    pub(crate) lead: Option<Lead>,
    pub(crate) sections: Vec<Section>,
    /// For one screen of a terminal, instead of the sections.
    pub(crate) screen: Vec<(Rank, Section)>,
    /// What the figures of a page draw.
    pub(crate) charts: Option<Charts>,
    pub(crate) chapters: Vec<Chapter>,
}

/// What a reader meets first: what was done, and what it showed.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// The command: `peel`.
    pub(crate) kind: &'static str,
    /// What it was done with: the name of a workload; empty if the kind says it all.
    pub(crate) subject: String,
    /// `12 blocks, 48 trials in 5 min 40 s`
    pub(crate) counts: String,
    /// The same on one screen: `5 min 40 s`; empty if it took no time.
    pub(crate) took: String,
    /// The first one stands alone, the others add to it.
    pub(crate) sentences: Vec<String>,
    /// How it ended, in sentences.
    pub(crate) ending: String,
    /// When and where: `2026-01-02 03:04 UTC on bench-1`.
    pub(crate) origin: String,
    /// What the subject is for.
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

/// What stays on a screen that has no room for all of it: the last is left out first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The table that shows the answer.
    Answer,
    /// What puts the answer in doubt.
    Doubt,
    /// Why it is so.
    Cause,
    /// What else is worth a line.
    Detail,
}

/// What a section consists of.
#[derive(Debug)]
pub(crate) enum Item {
    Paragraph(String),
    /// What is to be known of the item above it.
    Note(String),
    Table(Table),
    /// In columns: names, of which one that repeats is said once, and texts or commands.
    Facts(Vec<Point>),
    List(Vec<Point>),
    /// Where figures come from.
    Sources(Vec<String>),
    Warning(Notice),
    Tree(Node),
    /// Lines as they are.
    Preformatted(String),
    /// The same, of which few want to see all: what it is, and it.
    Folded(&'static str, String),
    /// For formats that can draw; what it shows is also in tables.
    Drawing(Drawing),
}

/// One of a list: its name, what it is, and a command to be pasted, which is never wrapped. Each of
/// them may be empty.
#[derive(Debug, Default)]
pub(crate) struct Point {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) command: String,
}

/// Something that lies on others.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) name: String,
    /// What follows the name.
    pub(crate) remark: &'static str,
    pub(crate) about: String,
    pub(crate) below: Vec<Node>,
}

/// A document of its own within another: one of several phases.
#[derive(Debug)]
pub(crate) struct Chapter {
    /// Its place among them: `Phase 1 of 2`.
    pub(crate) title: String,
    pub(crate) document: Document,
}

/// What a section is for. Pages show sections in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// What was asked, and what was found.
    Answer,
    /// How sure it is, and what could be wrong.
    Doubt,
    /// What it rests on.
    #[default]
    Evidence,
    /// Where and how it was measured.
    Circumstances,
}

impl Topic {
    /// A head; of the answer none, it follows the finding.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Answer => "",
            Self::Doubt => "Confidence and limitations",
            Self::Evidence => "Evidence",
            Self::Circumstances => "Measurement setup",
        }
    }
}

/// Where a section is worth its room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ShownIn {
    #[default]
    Everywhere,
    /// Where lines may be wider than those of a terminal.
    Wide,
    /// Where they may not.
    Narrow,
    /// Where nothing is drawn.
    Undrawn,
    /// Where there is room for everything, and drawings.
    Page,
}

/// What a format has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    Terminal,
    /// Beside other text, without drawings.
    Note,
    /// Pages of its own.
    Page,
}

impl Document {
    pub(crate) fn of(lead: Lead) -> Self {
        Self { lead: Some(lead), ..Self::default() }
    }

    /// With another one's sections after its own.
    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        self.sections.extend(other.sections);
        self.screen.extend(other.screen);
        self
    }

    pub(crate) fn add(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// On one screen of a terminal.
    pub(crate) fn show_first(&mut self, rank: Rank, sections: impl IntoIterator<Item = Section>) {
        self.screen.extend(sections.into_iter().map(|section| (rank, section)));
    }

    /// With what they are for.
    pub(crate) fn extend_on(&mut self, topic: Topic, sections: impl IntoIterator<Item = Section>) {
        self.extend(sections.into_iter().map(|section| section.on(topic)));
    }

    pub(crate) fn extend(&mut self, sections: impl IntoIterator<Item = Section>) {
        self.sections.extend(sections);
    }

    pub(crate) fn add_paragraph(&mut self, text: impl Into<String>) {
        self.add(Section::of(Item::Paragraph(text.into())));
    }

    /// A table, if there is one, and what is to be known of it.
    pub(crate) fn add_table(&mut self, heading: &str, table: Option<Table>, note: Option<String>) {
        self.extend(Section::of_table(heading, table, note));
    }

    /// Names and values, if there are any.
    pub(crate) fn add_facts<N: Into<String>>(
        &mut self,
        facts: impl IntoIterator<Item = (N, String)>,
    ) {
        let facts = Item::facts(facts);
        let is_empty = matches!(&facts, Item::Facts(facts) if facts.is_empty());
        self.extend((!is_empty).then(|| Section::of(facts)));
    }

    /// A list, if it has lines.
    pub(crate) fn add_list(&mut self, heading: &str, lines: Vec<String>) {
        self.extend(Section::of_list(heading, lines));
    }

    /// What it is about, in a word.
    pub(crate) fn subject(&self) -> &str {
        let lead = self.lead.as_ref();
        lead.map_or("", |lead| if lead.subject.is_empty() { lead.kind } else { &lead.subject })
    }

    /// Of a page: `peel: peel-search`.
    pub(crate) fn title(&self) -> String {
        match &self.lead {
            Some(Lead { kind, subject, .. }) if !subject.is_empty() => format!("{kind}: {subject}"),
            Some(lead) => lead.kind.to_owned(),
            None => self.sections.first().map_or_else(String::new, |first| first.heading.clone()),
        }
    }

    /// What is to be shown there.
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

    /// Without a heading.
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
    /// Itself and all below it, each with its depth, from top to bottom.
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
