//! Sentences about slow outliers among many arms.

use iotax_analyze::{Analysis, Effect, Outlier, Outliers};
use iotax_quantity::{count, fixed};

use crate::effect::EffectWords as _;
use crate::name::{self, printable};

/// At most this many arms are named in the sentence.
const MAX_NAMED: usize = 6;

/// What a population consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    Arm,
    Node,
}

impl Member {
    pub fn of(analysis: &Analysis) -> Self {
        if analysis.fleet.is_some() { Self::Node } else { Self::Arm }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Arm => "arm",
            Self::Node => "node",
        }
    }
}

/// `2 of 50 arms are slow outliers, compared with the median arm: node-11 (27 % slower in
/// throughput) and node-42 (24 % slower in throughput).`
pub fn sentences(found: &Outliers, member: Member) -> Vec<String> {
    let member = member.name();
    let metric = name::metric(found.metric);
    let all = count(found.arms, member);
    let mut sentences = Vec::new();
    if found.slow.is_empty() {
        sentences.push(format!("None of the {all} is a slow outlier in {metric}."));
    } else {
        let named = found.slow.iter().take(MAX_NAMED);
        let named = named.map(|slow| format!("{} ({})", printable(&slow.arm), size(found, slow)));
        let mut named: Vec<String> = named.collect();
        if found.slow.len() > MAX_NAMED {
            named.push(format!("{} more", found.slow.len() - MAX_NAMED));
        }
        let named = name::all(named);
        let few = found.slow.len();
        let are = if few == 1 { "is a slow outlier" } else { "are slow outliers" };
        sentences
            .push(format!("{few} of {all} {are}, compared with the median {member}: {named}."));
    }
    if !found.left_out.is_empty() {
        let left_out = count(found.left_out.len() as u64, member);
        sentences.push(format!("Not included: {left_out} with fewer than two usable trials."));
    }
    sentences
}

fn size(found: &Outliers, slow: &Outlier) -> String {
    Effect::sized(found.metric.on(), slow.tax).size(name::metric(found.metric))
}

/// The probability that a healthy one is this slow.
pub fn chance(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { fixed(p, 3) }
}
