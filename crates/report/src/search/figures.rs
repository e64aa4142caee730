//! Charts of throughput and latency over queue depth, flows and time.

use iotax_caps::{Caps, PathQuantity, TargetCaps};
use iotax_wording::chart;
use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{ChartFrame, Charts, Drawing, Item, LegendEntry, Section, ShownIn, Topic};
use crate::figures::{Figures, Interval, Number, Steps, within};
use crate::words::printable;
use iotax_wording::bandwidth::Unit;
use iotax_wording::search::SearchResult;
use iotax_wording::search::quantity::{self, Quantity};

/// Maximum size in bytes of a time series of a target.
const ROOM_FOR_SERIES: usize = 8_000;

/// A quantity over time. A step of several seconds has their minimum and maximum.
#[derive(Debug, Serialize)]
struct Series {
    target: usize,
    quantity: String,
    #[serde(flatten)]
    steps: Steps,
    #[serde(flatten)]
    figures: Figures,
}

/// Charts of paths: ID and quantity.
const PATHS: [(&str, PathQuantity); 4] = [
    ("flows-to", PathQuantity::BytesTo),
    ("flows-from", PathQuantity::BytesFrom),
    ("packets-to", PathQuantity::PacketsTo),
    ("requests", PathQuantity::Requests),
];

pub(super) fn charts(search: SearchResult<'_>) -> Charts {
    Charts::new("search", &drawn(search.caps, search.unit()))
}

/// The sections with the charts.
pub(super) fn sections(search: SearchResult<'_>) -> Vec<Section> {
    let targets = &search.caps.targets;
    let has = |what: fn(&TargetCaps) -> bool| targets.iter().any(what);
    let legend = || {
        let keys = targets.iter().enumerate().map(|(i, target)| LegendEntry::new(i, &target.name));
        Item::Drawing(Drawing::Legend(keys.collect()))
    };
    let section = |title: &str, charts: Vec<ChartFrame>| {
        (!charts.is_empty())
            .then(|| Section::new(title, [legend(), Item::Drawing(Drawing::Charts(charts))]))
    };
    let ladder = [
        drawing("ladder-iops", "IOPS", chart::DEPTH_IOPS),
        drawing("ladder-latency", "Mean latency, ms", chart::DEPTH_LATENCY),
    ];
    let ladder = ladder.into_iter().filter(|_| has(|target| !target.ladder.is_empty())).collect();
    let flows = PATHS.iter().filter_map(|(place, of)| {
        let cap = targets.iter().flat_map(|target| &target.path).find(|cap| cap.quantity == *of)?;
        Some(drawing(place, &quantity::of_path(cap).head(), chart::of_path(*of)))
    });
    let iops = drawing("series-iops", "IOPS", chart::SOAK_IOPS);
    let bandwidth = drawing("series-bw", search.unit().word(), chart::SOAK_BANDWIDTH);
    let path = drawing("series-path", "Mbit/s to the peer", chart::SOAK_PATH);
    let series = [
        (iops, has(|target| target.soak_iops.len() > 1)),
        (bandwidth, has(|target| target.path.is_empty() && target.soak_bw_bytes.len() > 1)),
        (path, has(|target| !target.path.is_empty() && target.soak_bw_bytes.len() > 1)),
    ];
    let series = series.into_iter().filter_map(|(series, is_there)| is_there.then_some(series));
    let answers =
        [section("By queue depth", ladder), section("By number of flows", flows.collect())];
    let answers = answers.into_iter().flatten().map(|section| section.on(Topic::Answer));
    let over_time = section("Saturated load over time", series.collect());
    answers.chain(over_time).map(|section| section.at(ShownIn::Page)).collect()
}

fn drawing(place: &'static str, title: &str, caption: &str) -> ChartFrame {
    ChartFrame { id: place.into(), title: title.to_owned().into(), caption: caption.to_owned() }
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
        for path in &found.path {
            let quantity = quantity::of_path(path);
            ladder.extend(path.flows.iter().map(|step| {
                let (of, value) = (quantity.head(), quantity.amount(step.per_s));
                json!({ "target": target, "quantity": of, "depth": step.flows, "value": value })
            }));
        }
        for (quantity, cap) in quantity::caps(found, unit) {
            let (quantity, value) = (quantity.head(), quantity.amount(cap.cap));
            lines.push(json!({ "target": target, "quantity": quantity, "value": value }));
        }
        let bandwidth = found.path.first().map_or(bandwidth, quantity::of_path);
        for (quantity, soak) in
            [(Quantity::Iops, &found.soak_iops), (bandwidth, &found.soak_bw_bytes)]
        {
            let seconds = (0u32..).map(|second| (f64::from(second), f64::from(second) + 1.0));
            let intervals: Vec<Interval> = seconds.take(soak.len()).collect();
            let values: Vec<_> = soak.iter().map(|value| Some(quantity.amount(*value))).collect();
            let (line, _) = within(ROOM_FOR_SERIES, |seconds| {
                let steps = Steps::new(&intervals, seconds);
                let figures = steps.figures(&values, Number::digits);
                Series { target, quantity: quantity.head(), steps, figures }
            });
            series.extend((!soak.is_empty()).then_some(line));
        }
    }
    // The quantity of each chart of flows, as in the points of it.
    let flows = PATHS.iter().filter_map(|(place, of)| {
        let mut all = caps.targets.iter().flat_map(|target| &target.path);
        let path = all.find(|cap| cap.quantity == *of)?;
        Some(((*place).to_owned(), json!(quantity::of_path(path).head())))
    });
    let flows: serde_json::Map<_, _> = flows.collect();
    let names: Vec<_> = caps.targets.iter().map(|target| printable(&target.name)).collect();
    json!({
        "names": names, "unit": unit.word(), "ladder": ladder, "caps": lines, "series": series,
        "flows": flows,
    })
}
