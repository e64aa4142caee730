use iotax_experiment::{Does, Job, Pace};
use iotax_quantity::{bytes, percent};

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;
use crate::facts::TrialFacts;

/// Below this share of the bytes moved, the device did not do the work.
const MIN_SHARE: f64 = 0.5;

enum Finding {
    NotBypassed,
    Moved {
        write: bool,
        asked: f64,
        moved: f64,
    },
    /// Written as fast as it went, and never synced.
    Kept {
        written: f64,
        moved: f64,
    },
}

/// Direct I/O was asked for, but something above the device answered. It did happen: direct
/// writes to a directory encrypted by the file system, silently buffered, looked 4.5 times as fast.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, arm| finding(evidence, trial, arm));
    found
        .into_iter()
        .map(|worst| {
            let message = match &worst.finding {
                Finding::NotBypassed => {
                    "the page cache could not be bypassed: reads may come from memory".to_owned()
                }
                Finding::Moved { write, asked, moved } => format!(
                    "{} {} with direct I/O, but devices moved only {} ({})",
                    bytes(*asked),
                    if *write { "were written" } else { "were read" },
                    bytes(*moved),
                    percent(moved / asked)
                ),
                Finding::Kept { written, moved } => format!(
                    "{} were written to the page cache and never synced; devices moved only {} ({})",
                    bytes(*written),
                    bytes(*moved),
                    percent(moved / written)
                ),
            };
            let advice = match &worst.finding {
                Finding::Kept { .. } => {
                    "The rate of writes is that of memory, not of the storage. Set direct=true, or \
                     sync as the application does (fsync-every=...)."
                }
                Finding::NotBypassed | Finding::Moved { .. } => {
                    "The figures are those of a cache, not of the storage. Check that direct I/O \
                     reaches the device on this file system; else use a span larger than memory, \
                     and fsync for writes."
                }
            };
            Warning {
                check: Check::CacheAnswered,
                message: format!("{message} ({})", worst.how_often()),
                advice: advice.to_owned(),
                trials: worst.trials,
                arm: Some(worst.arm),
            }
        })
        .collect()
}

fn finding(evidence: &Evidence<'_>, trial: &TrialFacts, arm: usize) -> Option<(f64, Finding)> {
    let site = evidence.site(arm)?;
    let layers = evidence.layers(arm);
    if layers.iter().any(|layer| layer.info().does == Does::Caches) {
        return None;
    }
    let is_stack = !layers.is_empty() && !evidence.is_in_system(arm);
    let direct = || evidence.real_jobs(trial).filter(|(job, _)| is_stack || job.direct);
    if direct().next().is_some() && site.direct == Some(false) {
        return Some((0.5, Finding::NotBypassed));
    }
    if !site.has_device {
        return None;
    }
    let read: u64 = direct().map(|(_, facts)| facts.read_bytes).sum();
    let written: u64 = direct().map(|(_, facts)| facts.write_bytes).sum();
    let system = &trial.system;
    // A cold cache that was asked for has its own check of reads.
    let is_cold = direct().any(|(job, _)| job.invalidate);
    let reads = system.device_read_bytes.filter(|_| !is_cold).map(|moved| (false, read, moved));
    let writes = system.device_write_bytes.map(|moved| (true, written, moved));
    let few = |asked: u64, moved: u64| (moved as f64) < MIN_SHARE * asked as f64;
    let direct = [reads, writes]
        .into_iter()
        .flatten()
        .filter(|(_, asked, moved)| few(*asked, *moved))
        .map(|(write, asked, moved)| {
            let (asked, moved) = (asked as f64, moved as f64);
            (1.0 - moved / asked, Finding::Moved { write, asked, moved })
        })
        .max_by(|a, b| a.0.total_cmp(&b.0));
    // At an offered rate nobody takes the rate of writes for what the storage can do.
    let is_kept = |job: &Job| {
        let reaches = job.direct || job.write_through || job.fsync_every.is_some();
        !is_stack && !reaches && job.pace == Pace::Closed && job.tree.is_none()
    };
    let jobs = || evidence.real_jobs(trial);
    let kept: u64 =
        jobs().filter(|(job, _)| is_kept(job)).map(|(_, facts)| facts.write_bytes).sum();
    direct.or_else(|| {
        let moved = system.device_write_bytes.filter(|moved| few(kept, *moved))?;
        let (written, moved) = (kept as f64, moved as f64);
        Some((1.0 - moved / written, Finding::Kept { written, moved }))
    })
}
