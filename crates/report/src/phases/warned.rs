//! Warnings of phases in the report of all of them: who reads only that must meet them, too.

use indexmap::IndexMap;

use crate::document::{Item, Point, Section};
use crate::experiment::Part;
use crate::notices::{Notice, notices};
use crate::words;

/// What puts figures in doubt, phase by phase: what was seen, and the first thing to do.
pub(super) fn severe(parts: &[Part]) -> Option<Section> {
    let of_phase = |(_, analysis): &Part| {
        let severe = notices(analysis).into_iter().filter(|notice| notice.is_severe);
        let severe = severe.map(|notice| Point::new(&analysis.workload, told(&notice)));
        severe.collect::<Vec<_>>()
    };
    let points: Vec<Point> = parts.iter().flat_map(of_phase).collect();
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

/// What else was seen: each kind with its phases.
pub(super) fn mild(parts: &[Part]) -> Option<Section> {
    let mut kinds: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for (_, analysis) in parts {
        let checks = analysis.warnings.iter().map(|warning| words::check(warning.check));
        for (kind, _) in checks.filter(|(_, is_severe)| !is_severe) {
            kinds.entry(kind).or_default().push(&analysis.workload);
        }
    }
    let of_kind = |(kind, mut phases): (&str, Vec<&str>)| {
        phases.dedup();
        let phases = match phases.len() {
            all if all == parts.len() => "all phases".to_owned(),
            _ => phases.join(", "),
        };
        Point::new(kind, phases)
    };
    let points: Vec<Point> = kinds.into_iter().map(of_kind).collect();
    (!points.is_empty()).then(|| Section::new("Worth knowing", [Item::Facts(points)]))
}
