//! What became of the rules that were set for a search.

use iotax_caps::CapJudgment;
use iotax_experiment::rule::{Condition, Side};

use iotax_quantity::percent;

use super::SearchResult;
use super::quantity;
use crate::bandwidth::Unit;
use crate::name::printable;
use crate::rule::{Ruling, would_detect};
use crate::{cap, limit};

/// One for each rule and cap.
pub fn rulings(search: SearchResult<'_>) -> Vec<Ruling> {
    let ruling = |judgment: &CapJudgment| {
        let told = told(judgment, search.unit());
        let ruling = Ruling::new(&judgment.of, &judgment.rule, judgment.outcome, &told);
        match judgment.detectable {
            Some(per_s) => ruling.and(&detectable(judgment, per_s, search.unit())),
            None => ruling,
        }
    };
    search.caps.rules.iter().map(ruling).collect()
}

/// `A cap of 4,900 IOPS or less would have been detected.`
fn detectable(judgment: &CapJudgment, per_s: f64, unit: Unit) -> String {
    let quantity = quantity::named(judgment.quantity.as_deref().unwrap_or_default(), unit);
    let side = match judgment.rule.condition {
        Condition::Figure { side, .. } => side,
        Condition::SlowerBy(_) | Condition::BelowDocumented(_) => Side::Below,
    };
    would_detect(&format!("a cap of {}", quantity.rate(per_s)), side)
}

/// `/data reaches 399.8 IOPS [398.1, 401.2], 20 % below the disk limit of P10, 500 IOPS`
fn told(judgment: &CapJudgment, unit: Unit) -> String {
    let mut text = printable(&judgment.of);
    let quantity = quantity::named(judgment.quantity.as_deref().unwrap_or_default(), unit);
    if let Some(found) = judgment.found {
        let [cap, lo, hi] = found.map(|per_s| quantity.figure(per_s));
        text.push_str(&format!(" reaches {cap} {} [{lo}, {hi}]", quantity.head()));
        if let Some(limit) = &judgment.limit {
            let share = 1.0 - found[0] / limit.per_s;
            let side = if share < 0.0 { "above" } else { "below" };
            let (share, rate) = (percent(share.abs()), quantity.rate(limit.per_s));
            text.push_str(&format!(", {share} {side} the {}, {rate}", limit::name(limit)));
        }
    }
    let why = judgment.why.as_ref().map(cap::undecided);
    match why {
        Some(why) if judgment.found.is_some() => text + "; " + &why,
        Some(why) => format!("{text}: {why}"),
        None => text,
    }
}
