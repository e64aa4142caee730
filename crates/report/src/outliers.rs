//! Which of many arms lie outside of the others.

use iotax_analyze::{Analysis, Effect, Outlier, Outliers};
use iotax_quantity::{fixed, list, percent};
use iotax_wording::effect::EffectWords as _;
use iotax_wording::name;

use crate::document::{Item, Section, Table};
use crate::{format, words};

/// Arms up to which each is named in the sentence.
const MAX_NAMED: usize = 6;

/// What a population is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    Arm,
    Node,
}

impl Member {
    pub(crate) fn of(analysis: &Analysis) -> Self {
        if analysis.fleet.is_some() { Self::Node } else { Self::Arm }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Arm => "arm",
            Self::Node => "node",
        }
    }
}

/// `2 of 50 arms lie outside of the others: node-11 (27 % less throughput than the median arm) and
/// node-42 (24 %).`
pub(crate) fn sentences(found: &Outliers, member: Member) -> Vec<String> {
    let member = member.name();
    let metric = name::metric(found.metric);
    let all = format::counted(found.arms, member);
    let mut sentences = Vec::new();
    if found.slow.is_empty() {
        sentences.push(format!("None of {all} lies outside of the others in {metric}."));
    } else {
        let named = found.slow.iter().take(MAX_NAMED);
        let named =
            named.map(|slow| format!("{} ({})", words::printable(&slow.arm), size(found, slow)));
        let mut named: Vec<String> = named.collect();
        if found.slow.len() > MAX_NAMED {
            named.push(format!("{} more", found.slow.len() - MAX_NAMED));
        }
        let named = list(&named.iter().map(String::as_str).collect::<Vec<_>>());
        let (count, verb) = (found.slow.len(), if found.slow.len() == 1 { "lies" } else { "lie" });
        sentences.push(format!(
            "{count} of {all} {verb} outside of the others, against the median {member}: {named}."
        ));
    }
    if !found.left_out.is_empty() {
        let left_out = format::counted(found.left_out.len() as u64, member);
        sentences.push(format!("{left_out} with fewer than two usable trials left out of that."));
    }
    sentences
}

fn size(found: &Outliers, slow: &Outlier) -> String {
    Effect::sized(found.metric.on(), slow.tax).size(name::metric(found.metric))
}

pub(crate) fn chance(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { fixed(p, 3) }
}

/// What speaks for each.
pub(crate) fn section(analysis: &Analysis) -> Option<Section> {
    let found = analysis.outliers.as_ref()?;
    let member = Member::of(analysis).name();
    let mut items = Vec::new();
    if !found.slow.is_empty() {
        let short = |tax| Effect::sized(found.metric.on(), tax).in_short();
        let rows = Table::of(&found.slow)
            .word(member, |slow| words::printable(&slow.arm))
            .figure("effect", |slow| short(slow.tax))
            .figure("allowing for chance", |slow| short(slow.shrunken))
            .figure("chance if healthy", |slow| chance(slow.p));
        items.push(Item::Table(rows.table));
    }
    items.push(Item::Note(format!(
        "Against the median of {}: {} ({}). Healthy {member}s differ by {} (one standard deviation); of \
         those named, {} at most are false, on average.",
        format::counted(found.arms, member),
        format::figure(found.metric.unit(), found.median),
        name::metric(found.metric),
        percent(found.spread),
        percent(found.rate),
    )));
    Some(Section::new("Outliers", items))
}
