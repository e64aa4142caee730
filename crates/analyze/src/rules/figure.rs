//! A figure of each trial against a limit.

use iotax_experiment::rule::{Figure, RuleOutcome, Side};
use iotax_experiment::{Rule, Subject};
use iotax_quantity::whole;
use iotax_stats::dependence::{dependence, widening};
use iotax_stats::design::Design;
use iotax_stats::gate::{Outcome, Reach, blocks_needed, bounds, by_sign};
use iotax_stats::rci::{Interval, Summary};
use iotax_stats::sample::{count, mean};
use iotax_stats::tail::{Exceedances, most_beyond, samples_needed};

use super::{RuleContext, word};
use crate::analysis::{Estimate, Judgment, Missing, RuleOpen};
use crate::facts::TrialFacts;
use crate::taken::Taken;

/// What a rule about a figure says.
pub(super) struct Limit<'a> {
    /// Which of the rules it is.
    pub at: usize,
    pub figure: &'a Figure,
    pub side: Side,
    pub value: f64,
}

/// The rule about every arm that it is about.
pub(super) fn judge(context: &RuleContext<'_>, rule: &Rule, limit: &Limit<'_>) -> Vec<Judgment> {
    let arms: Vec<usize> =
        (0..context.names.len()).filter(|arm| rule.is_about(&context.names[*arm])).collect();
    let alpha = context.method.alpha / arms.len().max(1) as f64;
    let judged = |arm: usize| {
        let own = |trial: &&&TrialFacts| trial.usable && trial.arm == Some(arm);
        let trials: Vec<&TrialFacts> = context.trials.iter().filter(own).copied().collect();
        let all = context.trials.iter().filter(|trial| trial.arm == Some(arm)).copied();
        let missing = Missing::of_arm(all);
        let (judged, worst) = limit.of_arm(context, rule, &context.names[arm], &trials, alpha);
        let judged = Judgment { missing, ..judged };
        match missing.filter(|missing| stands_not(&judged, missing, worst)) {
            Some(_) => {
                let open = Some(RuleOpen::Lost);
                let outcome = RuleOutcome::Undecided;
                Judgment { outcome, open, needed: None, detectable: None, ..judged }
            }
            None => judged,
        }
    };
    arms.into_iter().map(judged).collect()
}

/// Whether a rule that is kept would not be with what is missing. `worst`: the upper end of the
/// excess, where there is one.
fn stands_not(judged: &Judgment, missing: &Missing, worst: Option<f64>) -> bool {
    let is_beyond = worst.is_some_and(|excess| excess + missing.log_loss() >= 0.0);
    judged.outcome == RuleOutcome::Pass && (missing.are_too_many() || is_beyond)
}

impl Limit<'_> {
    /// Above 0 where the rule is broken.
    fn excess(&self, value: f64) -> f64 {
        match self.side {
            Side::Above => (value / self.value).ln(),
            Side::Below => (self.value / value).ln(),
        }
    }

    /// An interval of excesses as one of the figure.
    fn estimate(&self, excess: Interval) -> Estimate {
        let [value, a, b] = [excess.mean, excess.lo, excess.hi].map(|excess| self.at(excess));
        Estimate { value, lo: a.min(b), hi: a.max(b) }
    }

    /// The figure that has this excess.
    fn at(&self, excess: f64) -> f64 {
        match self.side {
            Side::Above => self.value * excess.exp(),
            Side::Below => self.value / excess.exp(),
        }
    }

    fn of_arm(
        &self,
        context: &RuleContext<'_>,
        rule: &Rule,
        name: &str,
        trials: &[&TrialFacts],
        alpha: f64,
    ) -> (Judgment, Option<f64>) {
        let blank = Judgment::undecided(rule, Some(Subject::Arm(name.to_owned())));
        let taken = |trial: &TrialFacts| trial.taken.get(self.at).copied().flatten();
        let design = context.method.design();
        if trials.iter().any(|trial| trial.stalled_below.is_some()) {
            // Whatever the figure, a trial that completes nothing is beyond any limit.
            let excess = |trial: &&TrialFacts| match trial.stalled_below {
                Some(_) => Some(f64::INFINITY),
                None => taken(trial).map(|taken| self.excess(taken.value)),
            };
            let excesses: Vec<f64> = trials.iter().filter_map(excess).collect();
            let seen = count(excesses.len());
            let outcome = word(by_sign(excesses, 0.0, alpha));
            return (Judgment { outcome, trials: seen, ..blank }, None);
        }
        let taken: Vec<Taken> = trials.iter().filter_map(|trial| taken(trial)).collect();
        if taken.is_empty() {
            let open = (!trials.is_empty()).then_some(RuleOpen::NoFigure);
            return (Judgment { open, ..blank }, None);
        }
        let excesses: Vec<f64> = taken.iter().map(|taken| self.excess(taken.value)).collect();
        let Some(look) = design.look_at_or_before(excesses.len()) else {
            return (Judgment { trials: count(excesses.len()), ..blank }, None);
        };
        let excesses = &excesses[..look];
        let Some(interval) = bounds(excesses, design, alpha) else {
            return (Judgment { trials: count(look), ..blank }, None);
        };
        // Successive trials of one arm may well depend on each other: levels drift.
        let factor = dependence(excesses).map_or(1.0, |_| widening(excesses));
        let interval = Interval::around(interval.mean, interval.half_width() * factor);
        let outcome = Outcome::of(&interval, 0.0);
        let windows: Vec<f64> = trials.iter().map(|trial| trial.window_ns as f64).collect();
        let window_ns = mean(&windows);
        let open = self.too_few(&taken[..look], window_ns).filter(|_| outcome == Outcome::Pass);
        let beyond = self.beyond(&taken[..look], design, alpha);
        let open = open.filter(|_| beyond.is_none_or(|share| share >= 1.0));
        let outcome = if open.is_some() { Outcome::Undecided } else { outcome };
        let summary =
            Summary::of(excesses).map(|summary| Summary { sd: summary.sd * factor, ..summary });
        let needed = summary
            .and_then(|summary| blocks_needed(&summary, summary.mean, alpha))
            .filter(|_| outcome == Outcome::Undecided && open.is_none());
        // The bound falls as the operations of all trials grow.
        let by_operations = open.and(beyond).map(|share| whole((look as f64 * share).ceil()));
        let needed = needed.map(count).or_else(|| u32::try_from(by_operations?).ok());
        let may_tell = outcome != Outcome::Fail && open.is_none();
        let beyond = summary.filter(|_| may_tell).map(|summary| {
            let (half_width, freedom) = (interval.half_width(), summary.blocks - 1);
            let standard_error = summary.standard_error();
            Reach { half_width, standard_error, freedom }.beyond()
        });
        let judgment = Judgment {
            outcome: word(outcome),
            found: Some(self.estimate(interval)),
            trials: count(look),
            needed,
            detectable: beyond.map(|beyond| self.at(beyond)),
            open,
            ..blank
        };
        (judgment, Some(interval.hi))
    }

    /// The operations beyond the limit, at most, as a multiple of those that may be. From all
    /// trials together: each may have too few for a quantile of its own.
    fn beyond(&self, taken: &[Taken], design: Design, alpha: f64) -> Option<f64> {
        let exceedances = |taken: &Taken| {
            let beyond = taken.beyond.filter(|_| self.side == Side::Above)?;
            Some(Exceedances { beyond, operations: taken.operations })
        };
        let trials: Option<Vec<Exceedances>> = taken.iter().map(exceedances).collect();
        let (quantile, trials) = (self.figure.quantile()?, trials?);
        let in_flight = taken.iter().map(|taken| taken.in_flight).max().unwrap_or(1);
        Some(most_beyond(&trials, in_flight, design, alpha) / (1.0 - quantile))
    }

    /// Why quantiles below the limit are not to be taken at their word: with few operations beyond
    /// them they come out too low.
    fn too_few(&self, taken: &[Taken], window_ns: f64) -> Option<RuleOpen> {
        let quantile = self.figure.quantile()?;
        // As many are under way in every trial; a stall delays all of these, as one episode.
        let needed = samples_needed(quantile) * taken.first()?.in_flight;
        let operations: u64 = taken.iter().map(|taken| taken.operations).sum();
        let has = operations / taken.len() as u64;
        // A little more than enough: rates vary.
        let time_s = (1.2 * window_ns / 1e9 * needed as f64 / has as f64).ceil();
        (has < needed).then_some(RuleOpen::TooFew { needed, has, time_s })
    }
}
