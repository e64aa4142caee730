//! Throughput that changes once and stays.

use iotax_stats::bucket::two_phase;
use iotax_stats::sample::{mean, variance};
use serde::Serialize;

use super::processor::{NoneLeft, ProcessorEvidence};
use super::rules::{Rule, timed};
use crate::measured::case::Case;
use crate::measured::suspect::{Confidence, Suspect};

pub(super) const RULES: &[Rule] = &[timed(&["burst-spent"], burst_spent)];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegimeEvidence {
    Step { peak_iops: f64, seconds: usize, rate_iops: f64, within: f64 },
}

/// The first level is so many times the second.
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
