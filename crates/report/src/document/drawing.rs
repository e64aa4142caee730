//! Drawings in a page. All their data are also in tables, for formats and readers without drawings.

use std::borrow::Cow;

use iotax_analyze::Analysis;
use iotax_wording::verdict::nodes::Standing;
use serde::Serialize;

use super::table::{Cell, Head};

/// Something drawn.
#[derive(Debug)]
pub(crate) enum Drawing {
    /// Key figures in large type.
    Tiles(Vec<Tile>),
    /// Rows of figures, each with its interval as a drawing. The text is the head of the first
    /// column.
    Forest(&'static str, Vec<Group>),
    /// One tile per node of a fleet.
    Nodes(NodeMap),
    /// The legend of charts, if there are several entries.
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
    /// Its index among all groups of the document.
    #[serde(skip)]
    pub(crate) place: usize,
    /// The comparison that the rows show.
    #[serde(skip)]
    pub(crate) caption: String,
    /// Text columns to the right of the drawing.
    #[serde(skip)]
    pub(crate) heads: Vec<Head>,
    /// Title of the axis.
    pub(crate) axis: String,
    /// For an axis of factors, the words for both directions. Values are logarithms of factors;
    /// positive values are worse.
    pub(crate) ways: Option<[&'static str; 2]>,
    /// Values per axis unit.
    pub(crate) scale: f64,
    /// Whether groups with the same axis are drawn on the same scale.
    pub(crate) shared: bool,
    /// The equivalence margin, as values.
    pub(crate) margin: [f64; 2],
    /// Rows in display order.
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
    /// Cost on the bare stack, drawn as an open circle.
    pub(crate) first_in: Option<f64>,
    /// Cost on top of all other layers, drawn as a dot.
    pub(crate) last_in: Option<f64>,
    /// Text alternative of the drawing.
    pub(crate) spoken: String,
    /// One cell per column.
    #[serde(skip)]
    pub(crate) cells: Vec<Cell>,
}

/// Colour and letter of an arm in charts.
#[derive(Debug)]
pub(crate) struct LegendEntry {
    pub(crate) letter: String,
    pub(crate) colour: usize,
    pub(crate) name: String,
}

/// The frame of a chart that a script draws.
#[derive(Debug)]
pub(crate) struct ChartFrame {
    /// ID in the script.
    pub(crate) id: Cow<'static, str>,
    /// May be empty.
    pub(crate) title: Cow<'static, str>,
    /// Caption.
    pub(crate) caption: String,
}

/// Data for a script of the page.
#[derive(Debug)]
pub(crate) struct Charts {
    /// The script: `experiment`, `forest`, `recording` or `search`.
    pub(crate) kind: &'static str,
    pub(crate) json: String,
}

impl Charts {
    pub(crate) fn new(kind: &'static str, data: &impl Serialize) -> Self {
        Self { kind, json: embeddable(data) }
    }
}

/// Encodes JSON for use inside a `<script>` element: no character can end the element, start a
/// comment, or be a line end only for a script parser.
fn embeddable(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("chart data has string keys and plain values");
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Number of arm colours. More arms share colours and differ by dashes and letters.
const ARM_COLOURS: usize = 8;

impl LegendEntry {
    /// Entries of all arms, in order.
    pub(crate) fn all(analysis: &Analysis) -> Vec<Self> {
        let arms = analysis.arms.iter().enumerate();
        arms.map(|(i, arm)| Self { letter: Self::letter(i), ..Self::new(i, &arm.name) }).collect()
    }

    /// `A` to `Z`, then `A1` and so on.
    pub(crate) fn letter(i: usize) -> String {
        let letter = char::from(b'A' + u8::try_from(i % 26).expect("less than 26"));
        if i < 26 { letter.to_string() } else { format!("{letter}{}", i / 26) }
    }

    /// An entry for a line that only its colour identifies.
    pub(crate) fn new(i: usize, name: &str) -> Self {
        let colour = i % ARM_COLOURS + 1;
        Self { letter: String::new(), colour, name: name.to_owned() }
    }
}

// A map of nodes: one tile per node, in groups.

/// The nodes of a fleet as tiles.
#[derive(Debug)]
pub(crate) struct NodeMap {
    /// Whether tiles have room only for a sign, because there are many nodes.
    pub(crate) is_dense: bool,
    pub(crate) groups: Vec<NodeGroup>,
    /// The meaning of each colour, from worst to best.
    pub(crate) colours: Vec<(i8, String)>,
    /// The meaning of each symbol.
    pub(crate) marks: Vec<(Standing, String)>,
}

/// Nodes in the same cluster and zone.
#[derive(Debug)]
pub(crate) struct NodeGroup {
    /// Empty if there is only one group, or the place is unknown.
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
    /// Step of the colour; positive is worse. `None` if the difference is unknown.
    pub(crate) step: Option<i8>,
    /// The full text for the node.
    pub(crate) said: String,
}

/// Display of the state of a node.
pub(crate) trait StandingLook {
    /// The name used as CSS class.
    fn class(self) -> &'static str;
    /// A symbol, so that colour is not the only indication.
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
