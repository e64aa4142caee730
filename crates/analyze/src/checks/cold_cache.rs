use iotax_quantity::{bytes, percent, two_digits};

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;
use crate::facts::TrialFacts;

/// Share of the bytes read that devices must have delivered.
const MIN_SHARE: f64 = 0.95;
/// Above this, read-ahead fetched more than was asked for.
const EXCESS: f64 = 1.5;

enum Finding {
    NoDevice,
    Unknown,
    Short { read: f64, delivered: f64 },
    Excess { read: f64, delivered: f64 },
}

/// A cold cache was asked for: did devices deliver what was read?
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, arm| {
        let has_device = evidence.site(arm).is_some_and(|site| site.has_device);
        finding(evidence, trial, has_device)
    });
    found
        .into_iter()
        .map(|worst| {
            let arm = evidence.names.iter().position(|name| *name == worst.arm);
            let site = arm.and_then(|arm| evidence.site(arm));
            let place = site.and_then(|site| site.file_system.as_deref()).unwrap_or("memory");
            let (message, advice) = words(&worst.finding, place);
            Warning {
                check: Check::ColdCacheUnproven,
                message: format!("{message} ({})", worst.how_often()),
                advice: advice.to_owned(),
                trials: worst.trials,
                arm: Some(worst.arm),
            }
        })
        .collect()
}

fn finding(
    evidence: &Evidence<'_>,
    trial: &TrialFacts,
    has_device: bool,
) -> Option<(f64, Finding)> {
    let all = || evidence.real_jobs(trial);
    let cold: u64 =
        all().filter(|(job, _)| job.invalidate).map(|(_, facts)| facts.read_bytes).sum();
    let all_read: u64 = all().map(|(_, facts)| facts.read_bytes).sum();
    if cold == 0 {
        return None;
    }
    if !has_device {
        return Some((3.0, Finding::NoDevice));
    }
    let Some(delivered) = trial.system.device_read_bytes else {
        return Some((1.0, Finding::Unknown));
    };
    let (read, delivered) = (cold as f64, delivered as f64);
    if delivered < MIN_SHARE * read {
        let missing = 1.0 - delivered / read;
        return Some((2.0 + missing, Finding::Short { read, delivered }));
    }
    let excess = delivered / all_read as f64;
    let is_random = all().all(|(job, _)| job.pattern.is_random() || !job.reads());
    // What is read beside the jobs is delivered too, but counted in none.
    (excess > EXCESS && is_random && trial.beside.is_empty())
        .then(|| (1.0 - 1.0 / excess, Finding::Excess { read: all_read as f64, delivered }))
}

fn words(finding: &Finding, place: &str) -> (String, &'static str) {
    match finding {
        Finding::NoDevice => (
            format!("a cold cache was asked for, but this arm lies on {place}, not on a device"),
            "There is no cold cache here: the figures are those of memory. Name a target on a \
             disk (--dir for files made by iotax), or set invalidate=false.",
        ),
        Finding::Unknown => (
            "a cold cache was asked for, but this system does not tell what devices delivered"
                .to_owned(),
            "Take the figures as those of a warm cache until something else shows otherwise, such \
             as iostat beside the run.",
        ),
        Finding::Short { read, delivered } => (
            format!(
                "a cold cache was asked for, but devices delivered {} of the {} read ({})",
                bytes(*delivered),
                bytes(*read),
                percent(delivered / read)
            ),
            "Part of the data came from a cache: of this machine (another process keeps the file \
             mapped, or the span fits read-ahead) or of the server behind a mount. Use a span \
             larger than memory, or direct=true.",
        ),
        Finding::Excess { read, delivered } => (
            format!(
                "devices delivered {} for the {} read, {} times as much",
                bytes(*delivered),
                bytes(*read),
                two_digits(delivered / read)
            ),
            "Read-ahead, or a large device block, fetched what nobody asked for: later reads may \
             have found it in memory, so not every read was cold, and the excess costs bandwidth. \
             Tell the kernel that the order is random (advise=true), or use direct=true.",
        ),
    }
}
