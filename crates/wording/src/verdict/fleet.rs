//! Which nodes of a fleet are slow, in sentences.

use iotax_analyze::{Analysis, Comparison, Verdict};
use iotax_experiment::Workload;
use iotax_quantity::{count, fixed, percent};

use super::against::baseline_of;
use super::comparison::{primary_of_each, subject};
use super::outliers::{self, Member};
use super::typical;
use crate::name::{self, printable};

/// The rule for few nodes was simulated with at most this many nodes.
const MAX_SIMULATED: usize = 5;

/// `n2 is slower than n1: 30 % less throughput [28, 32].`
pub(super) fn sentences(analysis: &Analysis, workload: &Workload) -> Vec<String> {
    let mut sentences = match &analysis.outliers {
        Some(found) => outliers::sentences(found, Member::Node),
        None if analysis.fleet.is_some_and(|fleet| fleet.is_population) => {
            vec!["No verdict on any node: the run ended before it had enough rounds.".to_owned()]
        }
        None => few(analysis, workload),
    };
    sentences.extend(analysis.fleet.map(|cost| {
        format!(
            "The run put {} node-minutes of load on {}.",
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
        sentences.push(
            "With only two nodes, a difference does not show which one is at fault.".to_owned(),
        );
    }
    if sentences.is_empty() {
        sentences.push(nobody(analysis, &nodes));
    }
    if !is_pair {
        let simulated = if nodes.len() > MAX_SIMULATED {
            format!(" This method was tested in simulations of at most {MAX_SIMULATED} nodes.")
        } else {
            String::new()
        };
        sentences.push(format!(
            "With fewer than 20 nodes, each one is compared with the mean of the others; all \
             intervals are jointly valid.{simulated}"
        ));
    }
    sentences
}

/// No node is slow, or none was found to be.
fn nobody(analysis: &Analysis, nodes: &[&Comparison]) -> String {
    let open: Vec<String> =
        nodes.iter().filter(|c| !c.verdict.is_decided()).map(|c| subject(c)).collect();
    let all = count(nodes.len() as u64, "node");
    if open.is_empty() {
        let margin = percent(analysis.margin);
        return format!(
            "None of the {all} is slow: none is more than {margin} slower than the others."
        );
    }
    let open = name::all(open);
    format!("No slow node was found among the {all}, but there is no verdict on {open}.")
}
