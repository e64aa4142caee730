use iotax_record::Site;

use crate::analysis::{ColdCache, Doubt, DoubtKind};
use crate::evidence::Evidence;
use crate::facts::TrialFacts;

/// Share of the bytes read that devices must have delivered.
const MIN_SHARE: f64 = 0.95;
/// Above this, read-ahead fetched more than was asked for.
const EXCESS: f64 = 1.5;

/// A cold cache was asked for: did devices deliver what was read?
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_trials(|trial, arm| {
        let (how_bad, found) = proof(evidence, trial, evidence.site(arm))?;
        Some((how_bad, DoubtKind::ColdCache { found }))
    })
}

/// What the proof lacks.
fn proof(
    evidence: &Evidence<'_>,
    trial: &TrialFacts,
    site: Option<&Site>,
) -> Option<(f64, ColdCache)> {
    let all = || evidence.real_jobs(trial);
    let cold: u64 =
        all().filter(|(job, _)| job.invalidate).map(|(_, facts)| facts.read_bytes).sum();
    let all_read: u64 = all().map(|(_, facts)| facts.read_bytes).sum();
    if cold == 0 {
        return None;
    }
    if !site.is_some_and(|site| site.has_device) {
        let file_system = site.and_then(|site| site.file_system.clone());
        return Some((3.0, ColdCache::NoDevice { file_system }));
    }
    let Some(delivered) = trial.system.device_read_bytes else {
        return Some((1.0, ColdCache::Unknown));
    };
    let (read_bytes, delivered_bytes) = (cold as f64, delivered as f64);
    if delivered_bytes < MIN_SHARE * read_bytes {
        let missing = 1.0 - delivered_bytes / read_bytes;
        return Some((2.0 + missing, ColdCache::Short { read_bytes, delivered_bytes }));
    }
    let excess = delivered_bytes / all_read as f64;
    let is_random = all().all(|(job, _)| job.pattern.is_random() || !job.reads());
    // What is read beside the jobs is delivered too, but counted in none.
    (excess > EXCESS && is_random && trial.beside.is_empty()).then(|| {
        let read_bytes = all_read as f64;
        (1.0 - 1.0 / excess, ColdCache::Excess { read_bytes, delivered_bytes })
    })
}
