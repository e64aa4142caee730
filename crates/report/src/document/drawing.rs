//! What a page draws. What it shows is also in tables, for formats and readers without drawings.

use std::borrow::Cow;

use iotax_analyze::Analysis;
use iotax_wording::verdict::nodes::Standing;
use serde::Serialize;

use super::table::{Cell, Head};

/// Something drawn.
#[derive(Debug)]
pub(crate) enum Drawing {
    /// Key figures, shown big.
    Tiles(Vec<Tile>),
    /// Rows of figures with an interval drawn beside each, under the head of their first column.
    Forest(&'static str, Vec<Group>),
    /// A tile for each node of a fleet.
    Nodes(NodeMap),
    /// How charts show each of these, if there are several.
    Legend(Vec<LegendEntry>),
    /// Charts, the small ones side by side.
    Charts(Vec<ChartFrame>),
}

/// A key figure.
#[derive(Debug)]
pub(crate) struct Tile {
    pub(crate) label: &'static str,
    pub(crate) figure: String,
}

/// Rows with one axis.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    /// Its place among all groups of the document.
    #[serde(skip)]
    pub(crate) place: usize,
    /// What the rows compare.
    #[serde(skip)]
    pub(crate) caption: String,
    /// Text columns right of the drawing.
    #[serde(skip)]
    pub(crate) heads: Vec<Head>,
    /// Title of the axis.
    pub(crate) axis: String,
    /// Of an axis of factors, which way each side goes: its values are logarithms of factors, more
    /// than zero if they are worse.
    pub(crate) ways: Option<[&'static str; 2]>,
    /// Values per axis unit.
    pub(crate) scale: f64,
    /// Whether groups with the same axis are drawn on the same scale.
    pub(crate) shared: bool,
    /// Differences between these count as none, in values.
    pub(crate) margin: [f64; 2],
    /// Rows in the order shown.
    pub(crate) rows: Vec<ForestRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ForestRow {
    #[serde(skip)]
    pub(crate) name: String,
    /// `arm`, `layer`, `interaction` or `total`.
    pub(crate) kind: &'static str,
    /// The estimate, drawn as a square.
    pub(crate) estimate: Option<f64>,
    /// Its interval, drawn as a line; without an estimate a range of possible values.
    pub(crate) interval: Option<[f64; 2]>,
    /// Added to the bare stack, drawn as an open circle.
    pub(crate) first_in: Option<f64>,
    /// Taken off the full stack, drawn as a dot.
    pub(crate) last_in: Option<f64>,
    /// What the drawing says, for those who cannot see it.
    pub(crate) spoken: String,
    /// One per head.
    #[serde(skip)]
    pub(crate) cells: Vec<Cell>,
}

/// How charts show an arm.
#[derive(Debug)]
pub(crate) struct LegendEntry {
    pub(crate) letter: String,
    pub(crate) colour: usize,
    pub(crate) name: String,
}

/// A place where a script draws.
#[derive(Debug)]
pub(crate) struct ChartFrame {
    /// What the script calls it.
    pub(crate) id: Cow<'static, str>,
    /// May be empty.
    pub(crate) title: Cow<'static, str>,
    /// How to read it.
    pub(crate) caption: String,
}

/// What a script of the page draws.
#[derive(Debug)]
pub(crate) struct Charts {
    /// Which script it is: `experiment`, `forest` or `search`.
    pub(crate) kind: &'static str,
    pub(crate) json: String,
}

impl Charts {
    pub(crate) fn new(kind: &'static str, data: &impl Serialize) -> Self {
        Self { kind, json: embeddable(data) }
    }
}

/// JSON that can stand inside a `<script>` element: no character in it can end the element, open
/// a comment, or be a line end to a script parser but not to a JSON parser.
fn embeddable(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("chart data has string keys and plain values");
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Colours that tell arms apart; more arms share them and differ by dashes and letters.
const ARM_COLOURS: usize = 8;

impl LegendEntry {
    /// Of all arms, in their order.
    pub(crate) fn all(analysis: &Analysis) -> Vec<Self> {
        let arms = analysis.arms.iter().enumerate();
        arms.map(|(i, arm)| Self { letter: Self::letter(i), ..Self::new(i, &arm.name) }).collect()
    }

    /// `A` to `Z`, then `A1` and so on.
    pub(crate) fn letter(i: usize) -> String {
        let letter = char::from(b'A' + u8::try_from(i % 26).expect("less than 26"));
        if i < 26 { letter.to_string() } else { format!("{letter}{}", i / 26) }
    }

    /// Of a line that is known by its colour alone.
    pub(crate) fn new(i: usize, name: &str) -> Self {
        let colour = i % ARM_COLOURS + 1;
        Self { letter: String::new(), colour, name: name.to_owned() }
    }
}

// A map of nodes: a tile for each, in groups.

/// The nodes of a fleet, and how tiles show them.
#[derive(Debug)]
pub(crate) struct NodeMap {
    /// Whether there are so many that a tile has room for a sign alone.
    pub(crate) is_dense: bool,
    pub(crate) groups: Vec<NodeGroup>,
    /// What each colour means, from worst to best.
    pub(crate) colours: Vec<(i8, String)>,
    /// What each mark means.
    pub(crate) marks: Vec<(Standing, String)>,
}

/// Nodes that are in one place.
#[derive(Debug)]
pub(crate) struct NodeGroup {
    /// Empty where there is one place, or none is known.
    pub(crate) heading: String,
    pub(crate) nodes: Vec<NodeTile>,
}

#[derive(Debug)]
pub(crate) struct NodeTile {
    pub(crate) name: String,
    /// Its difference without the interval.
    pub(crate) size: String,
    /// Its verdict.
    pub(crate) word: String,
    pub(crate) standing: Standing,
    /// Of the colour: more than 0 is worse; `None` if no difference is known.
    pub(crate) step: Option<i8>,
    /// Everything that is known of it.
    pub(crate) said: String,
}

/// How the standing of a node is shown.
pub(crate) trait StandingLook {
    /// The name used as CSS class.
    fn class(self) -> &'static str;
    /// What a tile bears, so that it is not known by colour alone.
    fn sign(self) -> &'static str;
}

impl StandingLook for Standing {
    fn class(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Faster => "faster",
            Self::Same => "equal",
            Self::Unnamed => "unnamed",
            Self::Open => "undecided",
            Self::Unjudged => "unjudged",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Slow => "!",
            Self::Faster => "+",
            Self::Same => "=",
            Self::Unnamed => "",
            Self::Open => "?",
            Self::Unjudged => "×",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_beyond_the_alphabet_have_a_letter() {
        assert_eq!([0, 25, 26, 53].map(LegendEntry::letter), ["A", "Z", "A1", "B2"]);
    }

    #[test]
    fn embedded_json_cannot_leave_its_element() {
        let hostile = "</script><!--\u{2028}&";
        let json = embeddable(&hostile);
        assert_eq!(json, r#""\u003c/script\u003e\u003c!--\u2028\u0026""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }
}
