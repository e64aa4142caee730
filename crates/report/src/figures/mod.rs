//! What a page draws. What it shows is also in tables, for formats and readers without drawings.

mod data;
mod forest;
mod machine;
mod tiles;

use iotax_analyze::Analysis;
use serde_json::Value;

pub(crate) use self::data::{Drawn, drawn};
pub(crate) use self::forest::{Group, groups};
pub(crate) use self::tiles::{Tile, tiles};

/// Something drawn.
#[derive(Debug)]
pub(crate) enum Drawing {
    /// Key figures, shown big.
    Tiles(Vec<Tile>),
    /// Rows of figures with an interval drawn beside each, under the head of their first column.
    Forest(&'static str, Vec<Group>),
    /// How charts show each of these, if there are several.
    Legend(Vec<LegendEntry>),
    /// Charts, the small ones side by side.
    Charts(Vec<Chart>),
}

/// How charts show an arm.
#[derive(Debug)]
pub(crate) struct LegendEntry {
    pub(crate) letter: String,
    pub(crate) colour: usize,
    pub(crate) name: String,
    pub(crate) target: String,
}

/// A place where a script draws.
#[derive(Debug)]
pub(crate) struct Chart {
    /// What the script calls it.
    pub(crate) id: &'static str,
    /// May be empty.
    pub(crate) title: &'static str,
    /// How to read it.
    pub(crate) caption: String,
}

/// What the scripts of a page draw, and they themselves.
#[derive(Debug)]
pub(crate) struct Charts {
    pub(crate) json: String,
    pub(crate) script: &'static str,
}

impl Charts {
    pub(crate) fn of_trials(data: &Value) -> Self {
        let script = concat!(include_str!("machine.js"), include_str!("charts.js"));
        Self { json: data::embeddable(data), script }
    }

    pub(crate) fn of_limits(data: &Value) -> Self {
        Self { json: data::embeddable(data), script: include_str!("limits.js") }
    }
}

/// Colours that tell arms apart; more arms share them and differ by dashes and letters.
const ARM_COLOURS: usize = 8;

impl LegendEntry {
    /// Of all arms, in their order.
    pub(crate) fn all(analysis: &Analysis) -> Vec<Self> {
        let arms = analysis.arms.iter().enumerate();
        arms.map(|(i, arm)| Self { letter: letter(i), ..Self::new(i, &arm.name, &arm.target) })
            .collect()
    }

    /// Of a line that is known by its colour alone.
    pub(crate) fn new(i: usize, name: &str, target: &str) -> Self {
        let colour = i % ARM_COLOURS + 1;
        Self { letter: String::new(), colour, name: name.to_owned(), target: target.to_owned() }
    }
}

/// `A` to `Z`, then `A1` and so on.
fn letter(i: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(i % 26).expect("less than 26"));
    if i < 26 { letter.to_string() } else { format!("{letter}{}", i / 26) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_beyond_the_alphabet_have_a_letter() {
        assert_eq!([0, 25, 26, 53].map(letter), ["A", "Z", "A1", "B2"]);
    }
}
