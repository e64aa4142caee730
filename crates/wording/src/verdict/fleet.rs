//! Which nodes of a fleet are slow, in sentences.

use iotax_analyze::{Analysis, Comparison, Verdict};
use iotax_experiment::Workload;
use iotax_quantity::{count, fixed, percent};

use super::against::baseline_of;
use super::comparison::{primary_of_each, subject};
use super::outliers::{self, Member};
use super::typical;
use crate::name::{self, printable};

/// Nodes up to which the rule for few nodes was simulated.
const MAX_SIMULATED: usize = 5;

/// `n2 is slower than n1: 30 % less throughput [28, 32].`
pub(super) fn sentences(analysis: &Analysis, workload: &Workload) -> Vec<String> {
    let mut sentences = match &analysis.outliers {
        Some(found) => outliers::sentences(found, Member::Node),
        None if analysis.fleet.is_some_and(|fleet| fleet.is_population) => vec![
            "No node is judged: the run ended before the rounds that it takes were run.".to_owned(),
        ],
        None => few(analysis, workload),
    };
    sentences.extend(analysis.fleet.map(|cost| {
        format!(
            "That cost {} minutes of load, of {} together.",
            fixed(cost.node_minutes, 1),
            count(cost.nodes, "node")
        )
    }));
    sentences
}

fn few(analysis: &Analysis, workload: &Workload) -> Vec<String> {
    let nodes = primary_of_each(analysis);
    let with = |verdict: Verdict| nodes.iter().copied().filter(move |c| c.verdict == verdict);
    let says = |c: &Comparison| {
        let typical = typical::of(c, analysis.comparisons.iter());
        typical::sentence(c, typical, &printable(&baseline_of(c, analysis)), analysis, workload)
    };
    let mut sentences: Vec<String> = with(Verdict::Slower).map(says).collect();
    let is_pair = nodes.len() == 2;
    if !sentences.is_empty() && is_pair {
        sentences.push("Of two, a difference does not say which one is out of order.".to_owned());
    }
    if sentences.is_empty() {
        sentences.push(nobody(analysis, &nodes));
    }
    if !is_pair {
        let rule = "each is held against the mean of the others, and all intervals hold at once";
        let fewer = "fewer than 20 nodes are no population";
        let simulated = if nodes.len() > MAX_SIMULATED {
            format!("; simulations of that are of {MAX_SIMULATED} nodes at most")
        } else {
            String::new()
        };
        sentences.push(format!("{}: {rule}{simulated}.", iotax_quantity::capital(fewer)));
    }
    sentences
}

/// Why none is named.
fn nobody(analysis: &Analysis, nodes: &[&Comparison]) -> String {
    let open: Vec<String> =
        nodes.iter().filter(|c| !c.verdict.is_decided()).map(|c| subject(c)).collect();
    let all = count(nodes.len() as u64, "node");
    if open.is_empty() {
        let margin = percent(analysis.margin);
        return format!("None of {all} is slow: they differ by less than {margin}, or are faster.");
    }
    let open = name::all(open);
    format!("None of {all} is found to be slow; without a verdict: {open}.")
}
