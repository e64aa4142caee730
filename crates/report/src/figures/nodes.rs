//! The map of the nodes of a fleet: which are slow, by how much, and where they are.

use std::collections::BTreeSet;

use iotax_analyze::{Analysis, ArmSummary};
use iotax_experiment::Design;
use iotax_quantity::{count, percent};
use iotax_record::{ExperimentHead, Placed, Site};
use iotax_wording::verdict::nodes::{NodeVerdict, Standing, meaning};

use crate::document::{NodeGroup, NodeMap, NodeTile};
use crate::words;

/// Maximum number of nodes whose tiles show names.
const MAX_NAMED: usize = 60;
/// Edges between colours, in multiples of the margin.
const EDGES: [f64; 3] = [1.0, 2.0, 5.0];

/// Of a fleet.
pub(crate) fn map(experiment: &ExperimentHead, analysis: &Analysis) -> Option<NodeMap> {
    if experiment.spec.design != Design::Fleet || analysis.arms.is_empty() {
        return None;
    }
    let arms = analysis.arms.iter().enumerate();
    let all: Vec<NodeTile> =
        arms.map(|(at, arm)| tile(analysis, arm, experiment.sites.get(at))).collect();
    let marks = Standing::ALL.into_iter().filter(|one| all.iter().any(|n| n.standing == *one));
    let marks = marks.map(|standing| (standing, meaning(standing, analysis))).collect();
    Some(NodeMap {
        is_dense: all.len() > MAX_NAMED,
        groups: grouped(experiment, all),
        colours: (-3..=3).rev().map(|step| (step, range(step, analysis.margin))).collect(),
        marks,
    })
}

fn tile(analysis: &Analysis, arm: &ArmSummary, site: Option<&Site>) -> NodeTile {
    let found = NodeVerdict::of(analysis, arm);
    let name = words::printable(&arm.name);
    let mut said = format!("{name}: {}; {}", found.sentence, count(arm.trials, "trial"));
    if arm.failed_trials > 0 {
        said.push_str(&format!(", {} failed", arm.failed_trials));
    }
    if let Some(placed) = site.and_then(|site| site.placed.as_ref()) {
        said.push_str(&format!("; {}", words::printable(&placed.told())));
    }
    NodeTile {
        name,
        size: found.size,
        word: found.word,
        standing: found.standing,
        step: found.tax.map(|tax| step(tax, analysis.margin)),
        said,
    }
}

/// The colour of a tax.
fn step(tax: f64, margin: f64) -> i8 {
    let steps: i8 = EDGES.iter().map(|edge| i8::from(tax.abs() >= edge * margin)).sum();
    if tax < 0.0 { -steps } else { steps }
}

/// The meaning of a colour.
fn range(step: i8, margin: f64) -> String {
    let edge = |at: usize| percent(EDGES[at] * margin);
    let way = if step > 0 { "worse" } else { "better" };
    let between = |low: usize| {
        format!("{}\u{2013}{} {way}", edge(low).trim_end_matches([' ', '%']), edge(low + 1))
    };
    match step.unsigned_abs() {
        0 => format!("less than {} difference", edge(0)),
        1 => between(0),
        2 => between(1),
        _ => format!("at least {} {way}", edge(2)),
    }
}

/// Groups nodes by cluster and zone if there are several, sorted by name.
fn grouped(experiment: &ExperimentHead, tiles: Vec<NodeTile>) -> Vec<NodeGroup> {
    let sites = &experiment.sites;
    let placed = |at: usize| sites.get(at).and_then(|site| site.placed.as_ref());
    let all = || (0..tiles.len()).filter_map(placed);
    let clusters: BTreeSet<&str> = all().map(|placed| placed.cluster.as_str()).collect();
    let zones: BTreeSet<&str> = all().filter_map(|placed| placed.zone.as_deref()).collect();
    let part = |what: &str, name: Option<&str>, count: usize| {
        let known = |name| format!("{what} {}", words::printable(name));
        (count > 1).then(|| name.map_or_else(|| format!("{what} unknown"), known))
    };
    // Unknown places come last.
    let headings: Vec<(bool, String)> = (0..tiles.len())
        .map(|at| {
            let cluster = placed(at).map(Placed::short_cluster);
            let zone = placed(at).and_then(|placed| placed.zone.as_deref());
            let parts = [
                part("cluster", cluster.as_deref(), clusters.len()),
                part("zone", zone, zones.len()),
            ];
            let last = if zones.len() > 1 { zone.is_none() } else { cluster.is_none() };
            (last, parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
        })
        .collect();
    let mut groups: Vec<(bool, NodeGroup)> = Vec::new();
    for ((last, heading), tile) in headings.into_iter().zip(tiles) {
        match groups.iter_mut().find(|(_, group)| group.heading == heading) {
            Some((_, group)) => group.nodes.push(tile),
            None => groups.push((last, NodeGroup { heading, nodes: vec![tile] })),
        }
    }
    groups.sort_by(|(last, a), (other, b)| {
        last.cmp(other).then_with(|| natural(&a.heading).cmp(&natural(&b.heading)))
    });
    let mut groups: Vec<NodeGroup> = groups.into_iter().map(|(_, group)| group).collect();
    for group in &mut groups {
        group.nodes.sort_by(|a, b| natural(&a.name).cmp(&natural(&b.name)));
        group.heading = group_counts(group);
    }
    groups
}

/// `zone a: 8 nodes, 2 slow`, or empty if there is only one group.
fn group_counts(group: &NodeGroup) -> String {
    if group.heading.is_empty() {
        return String::new();
    }
    let slow = group.nodes.iter().filter(|node| node.standing == Standing::Slow).count();
    let slow = if slow > 0 { format!(", {slow} slow") } else { String::new() };
    format!("{}: {}{slow}", group.heading, count(group.nodes.len() as u64, "node"))
}

/// Sorts `n2` before `n10`: texts, and numbers of any length by length, then by digits.
fn natural(name: &str) -> Vec<(&str, usize, &str)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let is_digit = |c: char| c.is_ascii_digit();
        let (text, after) = rest.split_at(rest.find(is_digit).unwrap_or(rest.len()));
        let end = after.find(|c| !is_digit(c)).unwrap_or(after.len());
        let number = after[..end].trim_start_matches('0');
        parts.push((text, number.len(), number));
        rest = &after[end..];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_ordered_by_what_they_count() {
        let mut names = ["n10", "n2", "m9", "n1-b", "n1-a", "n", "n99999999999999999999"];
        names.sort_by(|a, b| natural(a).cmp(&natural(b)));
        assert_eq!(names, ["m9", "n", "n1-a", "n1-b", "n2", "n10", "n99999999999999999999"]);
    }

    #[test]
    fn colours_change_at_margins_and_tell_worse_from_better() {
        let steps = [0.3, 0.25, 0.1, 0.06, 0.04, -0.04, -0.07, -1.0].map(|tax| step(tax, 0.05));
        assert_eq!(steps, [3, 3, 2, 1, 0, 0, -1, -3]);
        assert_eq!(range(2, 0.05), "10\u{2013}25 % worse");
        assert_eq!(range(-3, 0.05), "at least 25 % better");
    }
}
