//! What became of the rules that were set beforehand.

use iotax_analyze::{Analysis, Effect, Estimate, Judgment};
use iotax_experiment::Rule;
use iotax_experiment::rule::{Condition, Figure, RuleOutcome};
use iotax_quantity::{grouped, rate_interval};
use iotax_wording::effect::EffectWords as _;
use iotax_wording::{name, rule};

use crate::document::{Item, Section, Table};
use crate::{bandwidth, format, words};

/// Rules up to which each that is not kept gets a sentence; above that they are counted.
const MAX_SENTENCES: usize = 4;

/// What became of a rule, whatever it was held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What it was held against, and the rule: `new: not slower by 5%`.
    pub name: String,
    /// Broken, kept or neither.
    pub outcome: RuleOutcome,
    /// For people, with what was found.
    pub sentence: String,
}

impl Ruling {
    pub(crate) fn new(of: &str, rule: &Rule, outcome: RuleOutcome, told: &str) -> Self {
        let shown = words::printable(&rule.to_string());
        let sentence = format!("Rule {}: `{shown}`: {told}.", word(outcome));
        Self { name: format!("{of}: not {rule}"), outcome, sentence }
    }
}

impl Ruling {
    /// Of one of several phases.
    pub(crate) fn in_phase(self, name: &str) -> Self {
        Self { sentence: format!("{name}: {}", self.sentence), ..self }
    }
}

/// What became of the rules that were set for an experiment.
pub fn rulings(analysis: &Analysis) -> Vec<Ruling> {
    analysis.rules.iter().map(ruling).collect()
}

fn ruling(judgment: &Judgment) -> Ruling {
    Ruling::new(&rule::of(judgment), &judgment.rule, judgment.outcome, &told(judgment))
}

/// Those that are broken first, then those that are undecided; those that are kept in one sentence.
pub(crate) fn sentences(rulings: &[Ruling]) -> Vec<String> {
    let of = |outcome| rulings.iter().filter(move |ruling| ruling.outcome == outcome);
    let mut sentences: Vec<String> = of(RuleOutcome::Fail)
        .chain(of(RuleOutcome::Undecided))
        .take(MAX_SENTENCES)
        .map(|ruling| ruling.sentence.clone())
        .collect();
    let told = sentences.len();
    let open = rulings.iter().filter(|ruling| ruling.outcome != RuleOutcome::Pass).count();
    if open > told {
        let more = format::counted((open - told) as u64, "more rule");
        sentences.push(format!("{more} broken or undecided: see Rules."));
    }
    match of(RuleOutcome::Pass).collect::<Vec<_>>().as_slice() {
        [] => {}
        [one] => sentences.push(one.sentence.clone()),
        kept => sentences.push(format!("{} kept.", format::counted(kept.len() as u64, "rule"))),
    }
    sentences
}

/// What the data say of a rule: `target has a sync p99 of 12.3 ms [11, 13.1] over 5 trials`.
pub(crate) fn told(judgment: &Judgment) -> String {
    let of = words::printable(&rule::of(judgment));
    let (link, what) = match judgment.rule.condition {
        Condition::SlowerBy(_) => ("after", "block"),
        Condition::Figure { .. } | Condition::BelowDocumented(_) => ("over", "trial"),
    };
    let seen = format::counted(judgment.trials, what);
    let over = format!("{link} {seen}");
    let mut text = match found(judgment) {
        Some((verb, found)) => format!("{of} {verb} {found} {over}"),
        None if judgment.outcome == RuleOutcome::Undecided => {
            if judgment.open.is_none() && judgment.trials > 0 {
                let verb = if judgment.trials == 1 { "tells" } else { "tell" };
                format!("{seen} {verb} too little of {of}")
            } else {
                format!("nothing is known of {of} {over}")
            }
        }
        None => format!("{of} completed nothing in some trials, {over}"),
    };
    if let Some(why) = rule::why(judgment) {
        text.push_str(&format!("; {why}"));
    } else if let Some(needed) = judgment.needed {
        text.push_str(&format!("; about {} would decide it", grouped(needed.into())));
    }
    text
}

/// What was found, behind the verb that it needs: `has` and `a sync p99 of 12.3 ms [11, 13.1]`, `is`
/// and `5.0x slower [4.2, 6.0] in throughput`.
fn found(judgment: &Judgment) -> Option<(&'static str, String)> {
    let found = judgment.found?;
    match (&judgment.rule.condition, judgment.metric) {
        (Condition::Figure { figure, .. }, _) => Some(("has", of_figure(figure, found))),
        (Condition::SlowerBy(_), metric) => {
            let metric = metric?;
            let effect = Effect::of(metric.on(), found.value, [found.lo, found.hi]);
            Some(("is", effect.size(name::metric(metric))))
        }
        // No rule of trials.
        (Condition::BelowDocumented(_), _) => None,
    }
}

fn of_figure(figure: &Figure, found: Estimate) -> String {
    match figure {
        Figure::Iops => rate_interval(found.value, found.lo, found.hi, "IOPS"),
        Figure::Bandwidth => {
            let [value, lo, hi] = [found.value, found.lo, found.hi].map(bandwidth::measured);
            format!("{value} {} [{lo}, {hi}]", bandwidth::MEASURED.word())
        }
        Figure::Time(..) => format!("a {} of {}", figure.name(), format::time_interval(found)),
    }
}

const fn word(outcome: RuleOutcome) -> &'static str {
    match outcome {
        RuleOutcome::Fail => "broken",
        RuleOutcome::Pass => "kept",
        RuleOutcome::Undecided => "undecided",
    }
}

/// All of them; `None` if there are none.
pub(crate) fn section(analysis: &Analysis) -> Option<Section> {
    let note = format!(
        "Each end of an interval is a bound of its own, wrong in at most {} of such runs at \
         whichever look one stops.",
        format::percent(analysis.alpha)
    );
    let items = [Item::Table(table(&analysis.rules)), Item::Note(note)];
    (!analysis.rules.is_empty()).then(|| Section::new("Rules", items))
}

fn table(judgments: &[Judgment]) -> Table {
    Table::of(judgments)
        .word("rule", |judgment| judgment.rule.to_string())
        .word("of", rule::of)
        .word("outcome", |judgment| word(judgment.outcome))
        .word("found", |judgment| format::or_absent(found(judgment).map(|(_, found)| found)))
        .figure("trials", |judgment| grouped(judgment.trials.into()))
        .figure("needed", |judgment| {
            judgment.needed.map_or_else(String::new, |needed| grouped(needed.into()))
        })
        .table
}

#[cfg(test)]
mod tests {
    use iotax_analyze::Metric;
    use iotax_experiment::{Rule, Subject};

    use super::*;

    fn judged(rule: &str, outcome: RuleOutcome, found: Option<(f64, f64, f64)>) -> Judgment {
        let rule = Rule::parse(rule).unwrap();
        let is_difference = matches!(rule.condition, Condition::SlowerBy(_));
        Judgment {
            rule,
            of: Some(Subject::Arm("new".to_owned())),
            outcome,
            metric: is_difference.then_some(Metric::Throughput),
            found: found.map(|(value, lo, hi)| Estimate { value, lo, hi }),
            trials: 10,
            needed: None,
            missing: None,
            open: None,
        }
    }

    fn told_of(judgment: &Judgment) -> String {
        ruling(judgment).sentence
    }

    #[test]
    fn a_rule_is_told_with_what_was_found_and_what_is_missing() {
        let broken = judged("slower by 5%", RuleOutcome::Fail, Some((0.23, 0.21, 0.25)));
        insta::assert_snapshot!(told_of(&broken), @"Rule broken: `slower by 5%`: new is 23 % slower [21, 25] in throughput after 10 blocks.");
        let far = judged("slower by 5%", RuleOutcome::Fail, Some((0.8, 0.75, 0.84)));
        insta::assert_snapshot!(told_of(&far), @"Rule broken: `slower by 5%`: new is 5.0x slower [4.0, 6.2] in throughput after 10 blocks.");
        let kept = judged("sync.p99 > 10ms", RuleOutcome::Pass, Some((4.1e6, 3.9e6, 4.4e6)));
        insta::assert_snapshot!(told_of(&kept), @"Rule kept: `sync.p99 > 10ms`: new has a sync p99 of 4.1 ms [3.9, 4.4] over 10 trials.");
        let open = judged("iops < 5000", RuleOutcome::Undecided, Some((5_010., 4_800., 5_300.)));
        insta::assert_snapshot!(told_of(&Judgment { needed: Some(90), ..open }), @"Rule undecided: `iops < 5000`: new has 5,010 IOPS [4,800, 5,300] over 10 trials; about 90 would decide it.");
        let gain = judged("slower by 5%", RuleOutcome::Pass, Some((-0.1, -0.12, -0.08)));
        insta::assert_snapshot!(told_of(&gain), @"Rule kept: `slower by 5%`: new is 10 % faster [8, 12] in throughput after 10 blocks.");
        let stalled = judged("p99 > 1ms", RuleOutcome::Fail, None);
        insta::assert_snapshot!(told_of(&stalled), @"Rule broken: `latency.p99 > 1ms`: new completed nothing in some trials, over 10 trials.");
        let early = judged("p99 > 1ms", RuleOutcome::Undecided, None);
        insta::assert_snapshot!(told_of(&Judgment { trials: 2, ..early }), @"Rule undecided: `latency.p99 > 1ms`: 2 trials tell too little of new.");
    }
}
