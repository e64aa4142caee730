//! How throughput and latency follow depth and time, drawn.

use iotax_caps::Caps;
use serde_json::{Value, json};

use super::quantity::{self, Quantity};
use super::result::SearchResult;
use crate::bandwidth::Unit;
use crate::document::{Chart, Charts, Drawing, Item, LegendEntry, Place, Section, Topic};
use crate::words::printable;

pub(super) fn charts(search: SearchResult<'_>) -> Charts {
    Charts::new("search", &drawn(search.caps, search.unit()))
}

/// Where it is drawn.
pub(super) fn sections(search: SearchResult<'_>) -> Vec<Section> {
    let targets = &search.caps.targets;
    let keys = targets.iter().enumerate().map(|(i, target)| LegendEntry::new(i, &target.name));
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
    let mut sections =
        vec![Section::new("Over queue depth", ladder).at(Place::Page).on(Topic::Answer)];
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
    let chart = |&(id, title, caption): &(&'static str, &'static str, &str)| Chart {
        id: id.into(),
        title: title.into(),
        caption: caption.to_owned(),
    };
    Item::Drawing(Drawing::Charts(charts.iter().map(chart).collect()))
}

fn drawn(caps: &Caps, unit: Unit) -> Value {
    let bandwidth = Quantity::Bandwidth(unit);
    let (mut ladder, mut lines, mut series) = (Vec::new(), Vec::new(), Vec::new());
    for (target, found) in caps.targets.iter().enumerate() {
        for step in &found.ladder {
            let latency_ms = step.mean_latency_ns / 1e6;
            for (quantity, value) in [("IOPS", step.iops), ("mean latency, ms", latency_ms)] {
                let depth = step.queue_depth;
                ladder.push(json!({
                    "target": target, "quantity": quantity, "depth": depth, "value": value,
                }));
            }
        }
        for (quantity, cap) in quantity::caps(found, unit) {
            let (quantity, value) = (quantity.unit(), quantity.amount(cap.cap));
            lines.push(json!({ "target": target, "quantity": quantity, "value": value }));
        }
        for (quantity, soak) in
            [(Quantity::Iops, &found.soak_iops), (bandwidth, &found.soak_bw_bytes)]
        {
            series.extend(soak.iter().zip(1..).map(|(value, second): (_, u64)| {
                let (quantity, value) = (quantity.unit(), quantity.amount(*value));
                json!({ "target": target, "quantity": quantity, "second": second, "value": value })
            }));
        }
    }
    let names: Vec<_> = caps.targets.iter().map(|target| printable(&target.name)).collect();
    json!({
        "names": names, "unit": unit.word(), "ladder": ladder, "caps": lines, "series": series,
    })
}
