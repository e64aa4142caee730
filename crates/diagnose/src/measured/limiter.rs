//! Rates over time: one that changes once and stays; and one that does not vary: what somebody lets
//! through, rather than what a device happens to do.
//!
//! Devices and paths vary from second to second, and if their I/Os are independent of each other, a
//! second with `n` of them varies by `c / sqrt(n)`, where `c` is the spread of the latencies over
//! their mean. A limiter makes up for each I/O that was late with the next one: its seconds vary
//! far less than their latencies do.

use iotax_analyze::latency_at;
use iotax_quantity::whole;
use iotax_stats::bucket::two_phase;
use iotax_stats::sample::{mean, median, variance};
use serde::Serialize;

use super::processor::{NoneLeft, ProcessorEvidence};
use super::{Rule, rule, timed};
use crate::measured::case::Case;
use crate::measured::suspect::{Confidence, Suspect};

pub(super) const STEPS: &[Rule] = &[timed(&["burst-spent"], burst_spent)];
pub(super) const RULES: &[Rule] = &[rule(&["throttle"], limited)];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimiterEvidence {
    // A rate that stayed within a share of itself.
    Held { iops: f64, bytes_per_s: f64, seconds: usize, within: f64 },
    BeforeDisk { share: f64 },
    // It varied so many times less than independent I/Os would.
    Calm { times: f64 },
    DeeperBroughtNoMore,
    // What another arm reached, and how many times less each I/O took there.
    Beside { arm: String, iops: f64, times: f64 },
    HoldsRate { within: f64 },
    Test { command: String },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegimeEvidence {
    Step { peak_iops: f64, seconds: usize, rate_iops: f64, within: f64 },
}

/// Seconds that tell how much a rate varies.
const SECONDS: usize = 10;
/// Of these, so many may have been disturbed.
const DISTURBED: f64 = 0.1;
/// Trials that tell the same.
const TRIALS: usize = 3;
/// The others lie within this of their median.
const CONSTANT: f64 = 0.005;
/// Fewer I/Os in a second are too coarse.
const MIN_IOS: f64 = 50.0;
/// Seconds that vary by this share, or less, of what independent I/Os would make them vary by.
const CALMER: f64 = 0.5;
/// I/Os by which a second must vary, if they are independent, for that to be told from counting.
const COUNTED: f64 = 2.0;
/// Width of a normal distribution from its 5th to its 95th percentile, in standard deviations.
const FROM_5_TO_95: f64 = 3.29;
/// Share of the time of an I/O that passes above the disk where something there holds it back.
const ABOVE: f64 = 0.5;
/// Another arm is so many times as fast under the same load.
const FASTER: f64 = 1.5;

pub(super) struct HeldRate {
    iops: f64,
    bytes_per_s: f64,
    seconds: usize,
    /// Largest deviation from the median of those that count.
    within: f64,
    /// How calm they are: their spread over that of independent I/Os; `None` if that is too small
    /// to be counted.
    calm: Option<f64>,
}

impl HeldRate {
    fn evidence(&self) -> LimiterEvidence {
        let Self { iops, bytes_per_s, seconds, within, .. } = *self;
        LimiterEvidence::Held { iops, bytes_per_s, seconds, within }
    }
}

/// `None` unless nine in ten seconds, or all of several trials, have the same rate.
fn held_rate(case: &Case<'_>) -> Option<HeldRate> {
    // An offered rate is constant by itself, and so is memory that one thread copies.
    (case.job.pace.offered_iops().is_none() && case.job.has_single_ios()).then_some(())?;
    (case.is_on_path() || case.has_limit_of_its_own()).then_some(())?;
    let seconds = case.trials.iter().flat_map(|trial| &trial.per_second_ios);
    let seconds: Vec<f64> = seconds.map(|ios| f64::from(*ios)).collect();
    let count = seconds.len();
    let typical = median(&seconds);
    (count >= SECONDS && typical >= MIN_IOS).then_some(())?;
    let kept = count - usize::try_from(whole(DISTURBED * count as f64)).ok()?;
    let seconds = nearest(seconds, typical, kept);
    let in_trial = count as f64 / case.trials.len() as f64;
    let trials: Vec<f64> =
        case.trials.iter().filter_map(|trial| Some(trial.iops? * in_trial)).collect();
    let is_several = trials.len() >= TRIALS;
    let steady = [within(&seconds, typical), within(&trials, typical * in_trial)];
    let within = match steady {
        [within, _] if within <= CONSTANT.max(1.0 / typical) => within,
        [_, within] if is_several && within <= CONSTANT => within,
        _ => return None,
    };
    let spread = latency_spread(case)?;
    // Where a second has too few I/Os to tell, a trial may have enough.
    let calm = |counts: &[f64], ios: f64| {
        let independent = spread * ios.sqrt();
        (independent >= COUNTED).then(|| variance(counts).sqrt() / independent)
    };
    let calm = calm(&seconds, typical)
        .or_else(|| calm(&trials, typical * in_trial).filter(|_| is_several));
    Some(HeldRate {
        iops: typical,
        bytes_per_s: typical * case.summary.bytes_per_s / case.summary.iops,
        seconds: count,
        within,
        calm,
    })
}

/// So many of them that are nearest to a value.
fn nearest(mut all: Vec<f64>, to: f64, count: usize) -> Vec<f64> {
    all.sort_by(|a, b| (a - to).abs().total_cmp(&(b - to).abs()));
    all.truncate(count);
    all
}

/// The largest deviation from a value, as a share of it.
fn within(all: &[f64], of: f64) -> f64 {
    all.iter().map(|one| (one - of).abs() / of).fold(0.0, f64::max)
}

/// Standard deviation over mean of the latencies, of most of them.
fn latency_spread(case: &Case<'_>) -> Option<f64> {
    let at = |q: f64| latency_at(&case.summary.latency, q).map(|ns| ns as f64);
    Some((at(0.95)? - at(0.05)?) / FROM_5_TO_95 / case.summary.mean_latency_ns)
}

/// A limit that nobody told of.
fn limited(case: &Case<'_>) -> Option<Suspect> {
    let held = held_rate(case)?;
    let above = case.share_at_disk().map(|at_disk| 1.0 - at_disk);
    let waits_above = above.is_some_and(|above| above > ABOVE);
    let is_calm = held.calm.is_some_and(|calm| calm <= CALMER);
    (is_calm || case.has_plateau).then_some(())?;
    // A saturated device that takes the same time for each I/O looks alike from above.
    let confidence = if waits_above || case.has_plateau || case.has_limit_of_its_own() {
        Confidence::Likely
    } else {
        Confidence::Possible
    };
    let waited = above.filter(|_| waits_above).map(|share| LimiterEvidence::BeforeDisk { share });
    let calm = held.calm.filter(|calm| *calm <= CALMER);
    let calm = calm.map(|calm| LimiterEvidence::Calm { times: 1.0 / calm.max(0.01) });
    let deeper = case.has_plateau.then_some(LimiterEvidence::DeeperBroughtNoMore);
    let suspect = Suspect::new("throttle", confidence, held.evidence());
    let suspect = suspect.explaining(above.filter(|_| waits_above));
    Some(suspect.and(waited).and(calm).and(deeper).and(test(case)))
}

/// The same of the slower one of two arms: the other one shows what the load can reach.
pub(super) fn limited_beside(case: &Case<'_>, other: &Case<'_>) -> Option<Suspect> {
    let held = held_rate(case)?;
    // I/Os that are as independent as those of any slow disk have no limiter. Where each takes as
    // long as the other, a path that is longer looks the same.
    held.calm.is_none_or(|calm| calm <= CALMER).then_some(())?;
    let confidence = if held.calm.is_some() { Confidence::Likely } else { Confidence::Possible };
    let slower = case.latency_ms() / other.latency_ms();
    (slower >= FASTER).then_some(())?;
    let (arm, iops) = (other.summary.name.clone(), other.summary.iops);
    let beside = LimiterEvidence::Beside { arm, iops, times: slower };
    let suspect = Suspect::new("throttle", confidence, held.evidence());
    Some(suspect.explaining(1.0 - 1.0 / slower).and([beside]).and(test(case)))
}

/// What speaks against a cause under which rates vary.
pub(super) fn holds_rate(case: &Case<'_>) -> Option<LimiterEvidence> {
    let held = held_rate(case).filter(|held| held.calm.is_none_or(|calm| calm <= CALMER))?;
    Some(LimiterEvidence::HoldsRate { within: held.within })
}

/// The command that tells whether there is a limit.
fn test(case: &Case<'_>) -> Option<LimiterEvidence> {
    let command = format!("iotax limits {}", case.target_word()?);
    Some(LimiterEvidence::Test { command })
}

/// How many times the second level the first one is.
const STEP: f64 = 1.3;
/// Each level is as steady as this (standard deviation over mean).
const STEADY: f64 = 0.15;

/// One step down from one steady level to another within a trial: credits that were spent.
fn burst_spent(case: &Case<'_>) -> Option<Suspect> {
    // Memory has no credits.
    case.is_on_path().then_some(())?;
    case.trials.iter().find_map(|trial| {
        let seconds: Vec<f64> = trial.per_second_ios.iter().map(|ios| f64::from(*ios)).collect();
        let step = two_phase(&seconds).filter(|step| step.found && step.ratio > STEP)?;
        let (before, after) = seconds.split_at(step.split);
        (spread(before) < STEADY && spread(after) < STEADY).then_some(())?;
        let evidence = RegimeEvidence::Step {
            peak_iops: step.peak,
            seconds: step.split,
            rate_iops: step.rate,
            within: spread(after),
        };
        let suspect = Suspect::new("burst-spent", Confidence::Likely, evidence);
        Some(suspect.explaining(1.0 - step.rate / step.peak).but(others_came(case)))
    })
}

fn spread(level: &[f64]) -> f64 {
    variance(level).sqrt() / mean(level)
}

/// What speaks against credits: something else may have begun meanwhile.
fn others_came(case: &Case<'_>) -> Option<ProcessorEvidence> {
    case.has_no_cpu_left().then_some(ProcessorEvidence::NoneLeft(NoneLeft::AnotherBegan))
}
