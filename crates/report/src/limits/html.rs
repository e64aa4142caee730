//! One self-contained page: what was found, and how throughput and latency follow depth and time.

use askama::Template;
use iotax_caps::Caps;
use serde::Serialize;

use super::quantity::{self, Quantity};
use super::{Search, name, sentences, tables};
use crate::bandwidth::Unit;
use crate::html::{data, facts, libraries, licenses};
use crate::tables::Table;

/// What the template needs; askama escapes every string but those marked `safe` there.
#[derive(Template)]
#[template(path = "limits/page.html")]
struct Page<'a> {
    title: String,
    started: String,
    host: String,
    sentences: Vec<String>,
    notes: Vec<String>,
    tables: Vec<(&'static str, Table)>,
    keys: Vec<Key>,
    has_series: bool,
    unit: &'static str,
    sources: Vec<String>,
    version: &'a str,
    command: String,
    charts: String,
    style: &'static str,
    script: &'static str,
    libraries: [&'static str; 2],
    licenses: String,
}

struct Key {
    colour: usize,
    name: String,
}

/// What the script draws.
#[derive(Serialize)]
struct Charts<'a> {
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

/// Colours that tell targets apart.
const COLOURS: usize = 8;

/// The whole report as one HTML file.
pub fn limits_html(search: Search<'_>) -> String {
    let Search { head, caps, .. } = search;
    let keys = caps.targets.iter().enumerate();
    Page {
        title: super::head(search),
        started: facts::instant(&head.started),
        host: facts::host_names(&head.hosts),
        sentences: sentences::all(search),
        notes: sentences::notes(search),
        tables: tables::all(search),
        keys: keys
            .map(|(at, target)| Key { colour: at % COLOURS + 1, name: name(&target.name) })
            .collect(),
        has_series: caps.targets.iter().any(|target| target.soak_iops.len() > 1),
        unit: search.unit().word(),
        sources: sources(caps),
        version: &head.iotax_version,
        command: name(&head.command.join(" ")),
        charts: data::embeddable(&charts(caps, search.unit())),
        style: include_str!("../html/style.css"),
        script: include_str!("charts.js"),
        libraries: libraries(),
        licenses: licenses(),
    }
    .render()
    .expect("writing to a string does not fail")
}

fn charts(caps: &Caps, unit: Unit) -> Charts<'_> {
    let bandwidth = Quantity::Bandwidth(unit);
    let mut charts = Charts {
        names: caps.targets.iter().map(|target| name(&target.name)).collect(),
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

/// Where the figures of limits were read, each source once.
fn sources(caps: &Caps) -> Vec<String> {
    let limits = caps.documented.iter().flat_map(|row| &row.limits);
    let mut sources: Vec<String> = limits
        .map(|limit| {
            let as_of = limit.as_of.as_ref().map_or_else(String::new, |at| format!(", as of {at}"));
            name(&format!("{}: {}{as_of}", limit.of, limit.source))
        })
        .collect();
    sources.sort();
    sources.dedup();
    sources
}
