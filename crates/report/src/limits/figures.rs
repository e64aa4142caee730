//! How throughput and latency follow depth and time, drawn.

use iotax_caps::Caps;
use serde::Serialize;

use super::Search;
use super::quantity::{self, Quantity};
use crate::bandwidth::Unit;
use crate::document::{Item, Place, Section};
use crate::figures::{Chart, Charts, Drawing, Key};
use crate::words::printable;

/// What the script draws.
#[derive(Serialize)]
struct Drawn<'a> {
    names: Vec<String>,
    /// Of bandwidths.
    unit: &'a str,
    ladder: Vec<Step<'a>>,
    caps: Vec<Line<'a>>,
    series: Vec<Moment<'a>>,
}

#[derive(Serialize)]
struct Step<'a> {
    target: usize,
    quantity: &'a str,
    depth: u32,
    value: f64,
}

#[derive(Serialize)]
struct Line<'a> {
    target: usize,
    quantity: &'a str,
    value: f64,
}

#[derive(Serialize)]
struct Moment<'a> {
    target: usize,
    quantity: &'a str,
    second: usize,
    value: f64,
}

pub(super) fn charts(search: Search<'_>) -> Charts {
    Charts::of_limits(&drawn(search.caps, search.unit()))
}

/// Where it is drawn.
pub(super) fn sections(search: Search<'_>) -> Vec<Section> {
    let targets = &search.caps.targets;
    let keys = targets.iter().enumerate().map(|(i, target)| Key::new(i, &target.name, ""));
    let ladder = charts_of(&[
        (
            "ladder-iops",
            "IOPS",
            "4 KiB I/Os, both scales logarithmic. Dashed: the cap. Where throughput is flat, more \
             in flight only wait longer.",
        ),
        ("ladder-latency", "Mean latency, ms", "On a plateau it grows as the depth does."),
    ]);
    let ladder = [Item::Drawing(Drawing::Legend(keys.collect())), ladder];
    let mut sections = vec![Section::new("Over queue depth", ladder).at(Place::Page)];
    if targets.iter().any(|target| target.soak_iops.len() > 1) {
        let series = charts_of(&[
            ("series-iops", "IOPS", "Dashed: the cap that lasts. What lies above it is the burst."),
            ("series-bw", search.unit().word(), "With blocks of 1 MiB."),
        ]);
        sections.push(Section::new("Over time, saturated", [series]).at(Place::Page));
    }
    sections
}

fn charts_of(charts: &[(&'static str, &'static str, &str)]) -> Item {
    let chart =
        |&(id, title, caption): &(_, _, &str)| Chart { id, title, caption: caption.to_owned() };
    Item::Drawing(Drawing::Charts(charts.iter().map(chart).collect()))
}

fn drawn(caps: &Caps, unit: Unit) -> Drawn<'_> {
    let bandwidth = Quantity::Bandwidth(unit);
    let mut charts = Drawn {
        names: caps.targets.iter().map(|target| printable(&target.name)).collect(),
        unit: unit.word(),
        ladder: Vec::new(),
        caps: Vec::new(),
        series: Vec::new(),
    };
    for (target, found) in caps.targets.iter().enumerate() {
        for step in &found.ladder {
            let depth = step.queue_depth;
            for (quantity, value) in
                [("IOPS", step.iops), ("mean latency, ms", step.mean_latency_ns / 1e6)]
            {
                charts.ladder.push(Step { target, quantity, depth, value });
            }
        }
        for (quantity, cap) in quantity::caps(found, unit) {
            let (quantity, value) = (quantity.unit(), quantity.amount(cap.cap));
            charts.caps.push(Line { target, quantity, value });
        }
        for (quantity, series) in
            [(Quantity::Iops, &found.soak_iops), (bandwidth, &found.soak_bw_bytes)]
        {
            charts.series.extend(series.iter().enumerate().map(|(second, value)| Moment {
                target,
                quantity: quantity.unit(),
                second: second + 1,
                value: quantity.amount(*value),
            }));
        }
    }
    charts
}
