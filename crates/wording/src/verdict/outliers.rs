//! Which of many arms lie outside of the others.

use iotax_analyze::{Analysis, Effect, Outlier, Outliers};
use iotax_quantity::{count, fixed};

use crate::effect::EffectWords as _;
use crate::name::{self, printable};

/// Arms up to which each is named in the sentence.
const MAX_NAMED: usize = 6;

/// What a population is of.
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

/// `2 of 50 arms lie outside of the others: node-11 (27 % less throughput than the median arm) and
/// node-42 (24 %).`
pub fn sentences(found: &Outliers, member: Member) -> Vec<String> {
    let member = member.name();
    let metric = name::metric(found.metric);
    let all = count(found.arms, member);
    let mut sentences = Vec::new();
    if found.slow.is_empty() {
        sentences.push(format!("None of {all} lies outside of the others in {metric}."));
    } else {
        let named = found.slow.iter().take(MAX_NAMED);
        let named = named.map(|slow| format!("{} ({})", printable(&slow.arm), size(found, slow)));
        let mut named: Vec<String> = named.collect();
        if found.slow.len() > MAX_NAMED {
            named.push(format!("{} more", found.slow.len() - MAX_NAMED));
        }
        let named = name::all(named);
        let (few, verb) = (found.slow.len(), if found.slow.len() == 1 { "lies" } else { "lie" });
        sentences.push(format!(
            "{few} of {all} {verb} outside of the others, against the median {member}: {named}."
        ));
    }
    if !found.left_out.is_empty() {
        let left_out = count(found.left_out.len() as u64, member);
        sentences.push(format!("{left_out} with fewer than two usable trials left out of that."));
    }
    sentences
}

fn size(found: &Outliers, slow: &Outlier) -> String {
    Effect::sized(found.metric.on(), slow.tax).size(name::metric(found.metric))
}

/// The chance that a healthy one looks like this.
pub fn chance(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { fixed(p, 3) }
}
