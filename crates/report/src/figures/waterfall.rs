//! The time per I/O from the bare stack to the full one, layer by layer.

use iotax_analyze::{Attribution, Estimate};
use iotax_experiment::Subject;
use iotax_wording::chart::{BARE_STACK, FULL_STACK};
use iotax_wording::format;
use iotax_wording::name::subject as named;
use serde::Serialize;

use super::steps::Number;
use crate::words::printable;

/// Times in nanoseconds.
#[derive(Debug, Serialize)]
pub(super) struct Waterfall {
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// `bare`, `layer`, `total` or `pair`.
    kind: &'static str,
    value: Number,
    interval: Option<[Number; 2]>,
    /// The value as text, and with its interval.
    short: String,
    said: String,
}

/// `None` unless the Shapley value of every layer is known: other costs do not add up to the total.
pub(super) fn waterfall(attribution: &Attribution) -> Option<Waterfall> {
    let layer = |layer: &str, cost| row(&Subject::Layer(layer.to_owned()), "layer", cost);
    let layers = attribution.layers.iter().map(|of| Some(layer(&of.layer, of.shapley_ns?)));
    let layers: Vec<Row> = layers.collect::<Option<_>>()?;
    let full = attribution.full_ns()?;
    let bare_ns = attribution.bare_ns;
    let bare = format::time(bare_ns);
    let bare = Row {
        name: BARE_STACK.to_owned(),
        kind: "bare",
        value: Number::whole(bare_ns),
        interval: None,
        short: bare.clone(),
        said: bare,
    };
    let full = Row { name: FULL_STACK.to_owned(), ..row(&Subject::Total, "total", full) };
    let pairs = attribution.interactions.iter();
    let pairs = pairs.filter_map(|pair| {
        Some(row(&Subject::Interaction(pair.layers.clone()), "pair", pair.cost_ns?))
    });
    let rows = [bare].into_iter().chain(layers).chain([full]).chain(pairs);
    Some(Waterfall { rows: rows.collect() })
}

fn row(subject: &Subject, kind: &'static str, cost: Estimate) -> Row {
    let Estimate { value, lo, hi } = cost;
    let sign = match kind {
        "total" => "",
        _ if value < 0.0 => "−",
        _ => "+",
    };
    Row {
        name: printable(&named(subject)),
        kind,
        value: Number::whole(value),
        interval: Some([lo, hi].map(Number::whole)),
        short: format!("{sign}{}", format::time(value.abs())),
        said: format::time_interval(cost),
    }
}
