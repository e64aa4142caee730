use iotax_experiment::{Does, Job, Pace};

use crate::analysis::{CacheWay, Doubt, DoubtKind};
use crate::evidence::Evidence;
use crate::facts::TrialFacts;

/// Below this share of the bytes moved, the device did not do the work.
const MIN_SHARE: f64 = 0.5;

/// Direct I/O was asked for, but something above the device answered. It did happen: direct
/// writes to a directory encrypted by the file system, silently buffered, looked 4.5 times as fast.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_trials(|trial, arm| finding(evidence, trial, arm))
}

fn finding(evidence: &Evidence<'_>, trial: &TrialFacts, arm: usize) -> Option<(f64, DoubtKind)> {
    let site = evidence.site(arm)?;
    let layers = evidence.layers(arm);
    if layers.iter().any(|layer| layer.info().does == Does::Caches) {
        return None;
    }
    let is_stack = !layers.is_empty() && !evidence.is_in_system(arm);
    let direct = || evidence.real_jobs(trial).filter(|(job, _)| is_stack || job.direct);
    if direct().next().is_some() && site.direct == Some(false) {
        return Some((0.5, DoubtKind::NotBypassed));
    }
    if !site.has_device {
        return None;
    }
    let read: u64 = direct().map(|(_, facts)| facts.read_bytes).sum();
    let written: u64 = direct().map(|(_, facts)| facts.write_bytes).sum();
    let system = &trial.system;
    // A cold cache that was asked for has its own check of reads.
    let is_cold = direct().any(|(job, _)| job.invalidate);
    let reads = system
        .device_read_bytes
        .filter(|_| !is_cold)
        .map(|moved| (CacheWay::DirectRead, read, moved));
    let writes = system.device_write_bytes.map(|moved| (CacheWay::DirectWrite, written, moved));
    let few = |asked: u64, moved: u64| (moved as f64) < MIN_SHARE * asked as f64;
    let direct = [reads, writes]
        .into_iter()
        .flatten()
        .filter(|(_, asked, moved)| few(*asked, *moved))
        .map(|(way, asked, moved)| answered(way, asked, moved))
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
        Some(answered(CacheWay::NeverSynced, kept, moved))
    })
}

fn answered(way: CacheWay, asked: u64, moved: u64) -> (f64, DoubtKind) {
    let (asked_bytes, moved_bytes) = (asked as f64, moved as f64);
    let kind = DoubtKind::CacheAnswered { way, asked_bytes, moved_bytes };
    (1.0 - moved_bytes / asked_bytes, kind)
}
