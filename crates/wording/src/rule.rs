//! Sentences about rules: whether they are broken, and why they could not be decided.

use iotax_analyze::{
    Analysis, Effect, Estimate, Judgment, Missing, RuleOpen, Verdict, is_within_reach,
};
use iotax_experiment::Rule;
use iotax_experiment::rule::{Condition, Figure, RuleOutcome, Side};
use iotax_quantity::{capital, count, iops, percent, rate_interval, time};

use crate::effect::EffectWords as _;
use crate::name::{self, printable};
use crate::{bandwidth, format};

/// The arm, the layer, or the whole stack that a rule was checked for.
pub fn of(judgment: &Judgment) -> String {
    judgment.of.as_ref().map_or_else(|| "every arm".to_owned(), name::subject)
}

/// Why a rule is undecided, unless there are just too few trials.
pub fn why(judgment: &Judgment) -> Option<String> {
    Some(match judgment.open? {
        RuleOpen::NothingCompared => "nothing was compared".to_owned(),
        RuleOpen::Gate(verdict) => withheld(verdict).to_owned(),
        RuleOpen::Lost => lost(&judgment.missing?, &of(judgment)),
        RuleOpen::NoFigure => format!("no trial has a {}", figure(judgment)),
        RuleOpen::TooFew { needed, has, time_s } => format!(
            "trials with {} are too short to show that the {} is below the limit; use trials with \
             {} (--time {time_s}s)",
            count(has, "operation"),
            figure(judgment),
            count(needed, "operation"),
        ),
        RuleOpen::JobsUnmatched(jobs) => {
            let them = if jobs == 1 { "it" } else { "them" };
            format!(
                "{} could not be compared, because only one side has results for {them}",
                count(jobs, "job")
            )
        }
        RuleOpen::NoEnd => "the record is incomplete, because the run was cut off".to_owned(),
        RuleOpen::Cut { held, run } => {
            format!("the record contains only {held} of the {run} trials that were run")
        }
        RuleOpen::Interrupted => "the run was interrupted".to_owned(),
    })
}

fn figure(judgment: &Judgment) -> String {
    match &judgment.rule.condition {
        Condition::Figure { figure, .. } => figure.name(),
        Condition::SlowerBy(_) | Condition::BelowDocumented(_) => String::new(),
    }
}

/// Why a comparison has no verdict on the size of a difference.
pub(crate) const fn withheld(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Overloaded => "the offered rate was not reached",
        Verdict::NotIndependent => "successive blocks are correlated",
        Verdict::EffectChanged => "the effect changed during the run",
        Verdict::NoInformation => "neither arm completed anything",
        Verdict::Masked => "a cap hides the difference",
        Verdict::InsufficientTailSamples => "too few operations for this percentile",
        Verdict::Slower | Verdict::Faster | Verdict::Equivalent | Verdict::Undecided => "",
    }
}

/// Why the trials with a result do not keep a rule.
fn lost(missing: &Missing, of: &str) -> String {
    let Missing { arm, of_arm, base, of_base, .. } = missing;
    let what = match (arm, base) {
        (0, _) => format!("{base} of {of_base} baseline trials"),
        (_, 0) => format!("{arm} of {of_arm} trials of {of}"),
        _ => format!("{arm} of {of_arm} trials of {of} and {base} of {of_base} baseline trials"),
    };
    format!("{what} gave no result, and the remaining trials may be the fast ones")
}

/// At most this many rules that are not kept get a sentence; the others are counted.
const MAX_SENTENCES: usize = 4;

/// The outcome of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What it was checked for, and the rule: `new: not slower by 5%`.
    pub name: String,
    /// Broken, kept or neither.
    pub outcome: RuleOutcome,
    /// In words, with the result.
    pub sentence: String,
}

impl Ruling {
    pub fn new(of: &str, rule: &Rule, outcome: RuleOutcome, result: &str) -> Self {
        let shown = printable(&rule.to_string());
        let sentence = format!("Rule {}: `{shown}`: {result}.", self::outcome(outcome));
        Self { name: format!("{of}: not {rule}"), outcome, sentence }
    }
}

impl Ruling {
    /// With another sentence after its own.
    #[must_use]
    pub(crate) fn and(self, more: &str) -> Self {
        Self { sentence: format!("{} {more}", self.sentence), ..self }
    }

    /// With the name of its phase.
    #[must_use]
    pub fn in_phase(self, name: &str) -> Self {
        Self { sentence: format!("{name}: {}", self.sentence), ..self }
    }
}

/// The outcomes of the rules of an experiment.
pub fn rulings(analysis: &Analysis) -> Vec<Ruling> {
    analysis.rules.iter().map(ruling).collect()
}

fn ruling(judgment: &Judgment) -> Ruling {
    let Judgment { rule, outcome, .. } = judgment;
    let ruling = Ruling::new(&of(judgment), rule, *outcome, &result(judgment));
    match outcome {
        RuleOutcome::Undecided => ruling.and(&detectable(judgment)),
        RuleOutcome::Fail | RuleOutcome::Pass => ruling,
    }
}

/// The smallest violation that the run would have shown: `A slowdown of 8 % or more would have been
/// detected.`
fn detectable(judgment: &Judgment) -> String {
    let nothing = |open: RuleOpen| {
        let no_information = RuleOpen::Gate(Verdict::NoInformation);
        matches!(open, RuleOpen::NothingCompared | RuleOpen::NoFigure) || open == no_information
    };
    let is_blind = judgment.trials == 0 || judgment.open.is_some_and(nothing);
    match (&judgment.rule.condition, judgment.detectable) {
        (Condition::SlowerBy(_), Some(share)) => {
            would_detect(&format!("a slowdown of {}", percent(share)), Side::Above)
        }
        (Condition::Figure { figure, side, .. }, Some(value)) => {
            let value = match figure {
                Figure::Iops => iops(value),
                Figure::Bandwidth => bandwidth::measured_rate(value),
                Figure::Time(..) => format!("a {} of {}", figure.name(), time(value)),
            };
            would_detect(&value, *side)
        }
        _ if is_blind => "No violation, however large, would have been detected.".to_owned(),
        _ => "The smallest detectable violation is unknown.".to_owned(),
    }
}

/// The smallest violation that would have been detected.
pub(crate) fn would_detect(violation: &str, side: Side) -> String {
    let beyond = match side {
        Side::Above => "more",
        Side::Below => "less",
    };
    format!("{} or {beyond} would have been detected.", capital(violation))
}

/// Broken rules first, then undecided ones, then one sentence for all that are kept.
pub fn sentences(rulings: &[Ruling]) -> Vec<String> {
    let of = |outcome| rulings.iter().filter(move |ruling| ruling.outcome == outcome);
    let mut sentences: Vec<String> = of(RuleOutcome::Fail)
        .chain(of(RuleOutcome::Undecided))
        .take(MAX_SENTENCES)
        .map(|ruling| ruling.sentence.clone())
        .collect();
    let shown = sentences.len();
    let open = rulings.iter().filter(|ruling| ruling.outcome != RuleOutcome::Pass).count();
    if open > shown {
        let more = count((open - shown) as u64, "more broken or undecided rule");
        sentences.push(format!("For {more}, see the section \"Rules\"."));
    }
    match of(RuleOutcome::Pass).collect::<Vec<_>>().as_slice() {
        [] => {}
        [one] => sentences.push(one.sentence.clone()),
        kept => sentences.push(format!("{} passed.", count(kept.len() as u64, "rule"))),
    }
    sentences
}

/// The result for a rule: `target has a sync p99 of 12.3 ms [11, 13.1] over 5 trials`.
pub fn result(judgment: &Judgment) -> String {
    let of = printable(&of(judgment));
    let (link, what) = match judgment.rule.condition {
        Condition::SlowerBy(_) => ("after", "block"),
        Condition::Figure { .. } | Condition::BelowDocumented(_) => ("over", "trial"),
    };
    let seen = count(judgment.trials, what);
    let over = format!("{link} {seen}");
    let mut text = match measured(judgment) {
        Some((verb, found)) => format!("{of} {verb} {found} {over}"),
        None if judgment.outcome == RuleOutcome::Undecided => {
            if judgment.open.is_none() && judgment.trials > 0 {
                format!("no verdict on {of} after {seen}")
            } else {
                format!("no result for {of} after {seen}")
            }
        }
        None => format!("{of} completed nothing in some of the {seen}"),
    };
    if let Some(why) = why(judgment) {
        text.push_str(&format!("; {why}"));
    } else if let Some(needed) = judgment.needed.filter(|n| is_within_reach(*n, judgment.trials)) {
        text.push_str(&format!("; about {} would be enough for a verdict", count(needed, what)));
    }
    text
}

/// The figure and its verb: `has` with `a sync p99 of 12.3 ms [11, 13.1]`, `is` with `5.0x slower
/// [4.2, 6.0] in throughput`.
pub fn measured(judgment: &Judgment) -> Option<(&'static str, String)> {
    let found = judgment.found?;
    match (&judgment.rule.condition, judgment.metric) {
        (Condition::Figure { figure, .. }, _) => Some(("has", of_figure(figure, found))),
        (Condition::SlowerBy(_), metric) => {
            let metric = metric?;
            let effect = Effect::of(metric.on(), found.value, [found.lo, found.hi]);
            Some(("is", effect.size(name::metric(metric))))
        }
        // Not a rule about trials.
        (Condition::BelowDocumented(_), _) => None,
    }
}

fn of_figure(figure: &Figure, found: Estimate) -> String {
    let interval = interval(figure, found);
    match figure {
        Figure::Iops | Figure::Bandwidth => interval,
        Figure::Time(..) => format!("a {} of {interval}", figure.name()),
    }
}

/// A figure with its interval and unit: `1.2 ms [1.1, 1.3]`.
pub(crate) fn interval(figure: &Figure, found: Estimate) -> String {
    match figure {
        Figure::Iops => rate_interval(found.value, found.lo, found.hi, "IOPS"),
        Figure::Bandwidth => {
            let [value, lo, hi] = [found.value, found.lo, found.hi].map(bandwidth::measured);
            format!("{value} {} [{lo}, {hi}]", bandwidth::MEASURED.word())
        }
        Figure::Time(..) => format::time_interval(found),
    }
}

/// The outcome of a rule in one word.
pub const fn outcome(outcome: RuleOutcome) -> &'static str {
    match outcome {
        RuleOutcome::Fail => "broken",
        RuleOutcome::Pass => "passed",
        RuleOutcome::Undecided => "undecided",
    }
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
            detectable: None,
            missing: None,
            open: None,
        }
    }

    fn told_of(judgment: &Judgment) -> String {
        ruling(judgment).sentence
    }

    #[test]
    fn an_undecided_rule_says_which_violation_would_have_been_detected() {
        let open = |rule, detectable| {
            told_of(&Judgment { detectable, ..judged(rule, RuleOutcome::Undecided, None) })
        };
        insta::assert_snapshot!(open("slower by 5%", Some(0.083)), @"Rule undecided: `slower by 5%`: no verdict on new after 10 blocks. A slowdown of 8.3 % or more would have been detected.");
        insta::assert_snapshot!(open("bandwidth < 100M", Some(90e6)), @"Rule undecided: `bandwidth < 100MiB/s`: no verdict on new after 10 trials. 85.8 MiB/s or less would have been detected.");
        insta::assert_snapshot!(open("sync.p99 > 10ms", Some(10.94e6)), @"Rule undecided: `sync.p99 > 10ms`: no verdict on new after 10 trials. A sync p99 of 10.9 ms or more would have been detected.");
        let masked = Some(RuleOpen::Gate(Verdict::Masked));
        let masked =
            Judgment { open: masked, ..judged("slower by 5%", RuleOutcome::Undecided, None) };
        insta::assert_snapshot!(told_of(&masked), @"Rule undecided: `slower by 5%`: no result for new after 10 blocks; a cap hides the difference. The smallest detectable violation is unknown.");
    }

    #[test]
    fn a_rule_is_told_with_what_was_found_and_what_is_missing() {
        let broken = judged("slower by 5%", RuleOutcome::Fail, Some((0.23, 0.21, 0.25)));
        insta::assert_snapshot!(told_of(&broken), @"Rule broken: `slower by 5%`: new is 23 % slower [21, 25] in throughput after 10 blocks.");
        let far = judged("slower by 5%", RuleOutcome::Fail, Some((0.8, 0.75, 0.84)));
        insta::assert_snapshot!(told_of(&far), @"Rule broken: `slower by 5%`: new is 5.0x slower [4.0, 6.2] in throughput after 10 blocks.");
        let kept = judged("sync.p99 > 10ms", RuleOutcome::Pass, Some((4.1e6, 3.9e6, 4.4e6)));
        insta::assert_snapshot!(told_of(&kept), @"Rule passed: `sync.p99 > 10ms`: new has a sync p99 of 4.1 ms [3.9, 4.4] over 10 trials.");
        let open = judged("iops < 5000", RuleOutcome::Undecided, Some((5_010., 4_800., 5_300.)));
        let needed = Some(90);
        insta::assert_snapshot!(told_of(&Judgment { needed, detectable: Some(4_690.0), ..open }), @"Rule undecided: `iops < 5000`: new has 5,010 IOPS [4,800, 5,300] over 10 trials; about 90 trials would be enough for a verdict. 4,690 IOPS or less would have been detected.");
        let gain = judged("slower by 5%", RuleOutcome::Pass, Some((-0.1, -0.12, -0.08)));
        insta::assert_snapshot!(told_of(&gain), @"Rule passed: `slower by 5%`: new is 10 % faster [8, 12] in throughput after 10 blocks.");
        let stalled = judged("p99 > 1ms", RuleOutcome::Fail, None);
        insta::assert_snapshot!(told_of(&stalled), @"Rule broken: `latency.p99 > 1ms`: new completed nothing in some of the 10 trials.");
        let early = judged("p99 > 1ms", RuleOutcome::Undecided, None);
        insta::assert_snapshot!(told_of(&Judgment { trials: 2, ..early }), @"Rule undecided: `latency.p99 > 1ms`: no verdict on new after 2 trials. The smallest detectable violation is unknown.");
    }
}
