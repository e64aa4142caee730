//! The nodes of a fleet, one by one: which is slow, by how much, and what slow ones have in common.

use iotax_analyze::{Analysis, ArmSummary, Comparison, Effect, Outliers, Verdict};
use iotax_quantity::{count, percent};
use iotax_record::{ExperimentHead, Site};

use super::comparison::{effect, short_effect, size, verdict};
use super::outliers::chance;
use crate::effect::EffectWords as _;
use crate::name::{self, printable};

/// Classes of verdicts on nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Flagged as slow.
    Slow,
    /// Faster than the others.
    Faster,
    /// Not different.
    Same,
    /// In a population, not flagged.
    Unnamed,
    /// Without a verdict.
    Open,
    /// Too few figures for a verdict.
    Unjudged,
}

impl Standing {
    /// In the order of a legend.
    pub const ALL: [Self; 6] =
        [Self::Slow, Self::Faster, Self::Same, Self::Unnamed, Self::Open, Self::Unjudged];
}

/// What several slow nodes, but not all nodes, have in common.
pub fn in_common(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<String> {
    type Fact = fn(&Site) -> Option<&String>;
    let facts: [(&str, Fact); 5] = [
        ("in zone", |site| site.placed.as_ref()?.zone.as_ref()),
        ("in cluster", |site| Some(&site.placed.as_ref()?.cluster)),
        ("in storage class", |site| site.placed.as_ref()?.class.as_ref()),
        ("on devices of model", |site| site.device_model.as_ref()),
        ("on device", |site| site.device_id.as_ref()),
    ];
    let nodes: Vec<(bool, &Site)> = (analysis.arms.iter().zip(&experiment.sites))
        .map(|(arm, site)| (NodeVerdict::of(analysis, arm).standing == Standing::Slow, site))
        .collect();
    let (slow, others): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|(is_slow, _)| *is_slow);
    let [(_, first), _, ..] = slow.as_slice() else { return Vec::new() };
    let shared = |(what, of): &(&str, Fact)| {
        let value = of(first)?;
        let has = |(_, site): &&(bool, &Site)| of(site) == Some(value);
        let too = others.iter().filter(has).count();
        (slow.iter().all(|node| has(&node)) && too < others.len()).then(|| {
            let value = printable(value);
            let all = match slow.len() {
                2 => "Both".to_owned(),
                many => format!("All {many}"),
            };
            let too = match too {
                0 => ", unlike".to_owned(),
                1 => ", and so is 1 of".to_owned(),
                many => format!(", and so are {many} of"),
            };
            let others = count(others.len() as u64, "node");
            format!("{all} slow nodes are {what} {value}{too} the other {others}.")
        })
    };
    facts.iter().filter_map(shared).collect()
}

/// The verdict on one node.
pub struct NodeVerdict {
    pub standing: Standing,
    pub word: String,
    /// The difference that its colour shows.
    pub tax: Option<f64>,
    /// The difference without its interval.
    pub size: String,
    /// The full verdict.
    pub sentence: String,
}

impl NodeVerdict {
    fn unjudged(why: &str) -> Self {
        let (word, sentence) = ("not judged".to_owned(), format!("not judged: {why}"));
        Self { standing: Standing::Unjudged, word, tax: None, size: String::new(), sentence }
    }

    pub fn of(analysis: &Analysis, arm: &ArmSummary) -> Self {
        if analysis.fleet.is_some_and(|fleet| fleet.is_population) {
            let found = analysis.outliers.as_ref();
            return found.map_or_else(
                || Self::unjudged("the run ended before it had enough rounds"),
                |found| Self::of_many(found, &arm.name),
            );
        }
        let is_own = |c: &&Comparison| c.subject.arm() == Some(&arm.name);
        match analysis.comparisons.iter().find(is_own) {
            Some(comparison) if arm.trials > 0 => Self::of_few(comparison),
            _ => Self::unjudged("no usable trial"),
        }
    }

    fn of_many(found: &Outliers, name: &str) -> Self {
        let finding = |standing, word: &str, tax, verdict: &str| {
            let effect = Effect::sized(found.metric.on(), tax);
            let size = effect.size(name::metric(found.metric));
            Self {
                standing,
                word: word.to_owned(),
                tax: Some(tax),
                size: effect.in_short(),
                sentence: format!("{size} than the median node; {verdict}"),
            }
        };
        if let Some(slow) = found.slow.iter().find(|slow| slow.arm == name) {
            let chance = chance(slow.p);
            let verdict =
                format!("flagged as slow (probability that a healthy node is this slow: {chance})");
            return finding(Standing::Slow, "slow", slow.tax, &verdict);
        }
        match found.others.iter().find(|other| other.arm == name) {
            Some(other) => {
                finding(Standing::Unnamed, "not flagged", other.tax, "not flagged as slow")
            }
            None => Self::unjudged("fewer than two usable trials"),
        }
    }

    fn of_few(found: &Comparison) -> Self {
        let standing = match found.verdict {
            Verdict::Slower => Standing::Slow,
            Verdict::Faster => Standing::Faster,
            Verdict::Equivalent => Standing::Same,
            Verdict::Undecided
            | Verdict::Masked
            | Verdict::EffectChanged
            | Verdict::NoInformation
            | Verdict::NotIndependent
            | Verdict::InsufficientTailSamples
            | Verdict::Overloaded => Standing::Open,
        };
        let is_plain = found.stalls.is_none() && found.verdict != Verdict::EffectChanged;
        let against = found.against.as_ref().map(|of| printable(&name::against(of)));
        let against = against.unwrap_or_default();
        let than = |size| format!("{size} than {against}; ");
        let size = size(found).filter(|_| is_plain);
        Self {
            standing,
            word: name::verdict(found.verdict).to_owned(),
            tax: found.tax.filter(|_| is_plain),
            size: if is_plain { short_effect(found) } else { effect(found) },
            sentence: size.map(than).unwrap_or_default() + &verdict(found),
        }
    }
}

/// The legend of a mark.
pub fn meaning(standing: Standing, analysis: &Analysis) -> String {
    let others = if analysis.arms.len() == 2 { "the other node" } else { "the other nodes" };
    match (standing, &analysis.outliers) {
        (Standing::Slow, Some(found)) => {
            format!(
                "flagged as slow; on average, at most {} of flagged nodes are false alarms",
                percent(found.rate)
            )
        }
        (Standing::Slow, None) => format!("slower than {others}"),
        (Standing::Faster, _) => format!("faster than {others}"),
        (Standing::Same, _) => {
            format!("equivalent: differs by less than {}", percent(analysis.margin))
        }
        (Standing::Unnamed, _) => "not flagged as slow, but not proven to be healthy".to_owned(),
        (Standing::Open, _) => "undecided, or no verdict is possible with these data".to_owned(),
        (Standing::Unjudged, _) => "not judged: too few usable trials".to_owned(),
    }
}
