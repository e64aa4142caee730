//! Warnings of phases in the report of all of them: who reads only that must meet them, too.

use indexmap::IndexMap;
use iotax_wording::doubt::title;

use crate::document::{Item, Point, Section};
use crate::experiment::Part;
use crate::words;
use iotax_wording::doubt::{Notice, notices};

/// What puts figures in doubt, phase by phase: what was seen, and the first thing to do.
pub(super) fn severe(parts: &[Part]) -> Option<Section> {
    let mut seen: IndexMap<String, Vec<&str>> = IndexMap::new();
    for (experiment, analysis) in parts {
        for notice in notices(experiment, analysis).iter().filter(|notice| notice.is_severe) {
            seen.entry(told(notice)).or_default().push(&analysis.workload);
        }
    }
    let of_text = |(text, phases)| Point::new(listed(phases, parts), text);
    let points: Vec<Point> = seen.into_iter().map(of_text).collect();
    (!points.is_empty()).then(|| Section {
        is_alarming: true,
        ..Section::new("Read this first", [Item::Facts(points)])
    })
}

/// `wrong sign (luks): arm luks only adds work, yet it is 2.2x faster in throughput with it. Do not
/// take this as a gain before it is explained.`
fn told(notice: &Notice) -> String {
    let Notice { title, messages, advice, .. } = notice;
    let seen = words::sentence(&format!("{title}: {}", messages.join("; ")));
    let first = advice.split_inclusive(". ").next().unwrap_or_default();
    format!("{seen} {}", first.trim_end())
}

/// Which phases of all, each once.
fn listed(mut phases: Vec<&str>, parts: &[Part]) -> String {
    phases.dedup();
    match phases.len() {
        all if all == parts.len() => "all phases".to_owned(),
        _ => phases.join(", "),
    }
}

/// What else was seen: each kind with its phases.
pub(super) fn mild(parts: &[Part]) -> Option<Section> {
    let mut kinds: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for (_, analysis) in parts {
        for doubt in analysis.warnings.iter().filter(|doubt| !doubt.is_severe()) {
            kinds.entry(title(doubt.check())).or_default().push(&analysis.workload);
        }
    }
    let of_kind = |(kind, phases)| Point::new(kind, listed(phases, parts));
    let points: Vec<Point> = kinds.into_iter().map(of_kind).collect();
    (!points.is_empty()).then(|| Section::new("Worth knowing", [Item::Facts(points)]))
}
