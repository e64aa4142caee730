//! Time that I/Os spend in dm-crypt, between the mapping and the device below it.

use iotax_record::machine::{Crypt, Mapping};
use serde::Serialize;

use super::above::{Passage, passages};
use super::rules::{Rule, timed};
use crate::measured::case::Case;
use crate::measured::suspect::{Confidence, Suspect};

pub(super) const RULES: &[Rule] = &[timed(
    &["dm-crypt-workqueues", "dm-crypt-small-sectors", "encryption-in-path", "encrypted-twice"],
    time_in_dm_crypt,
)];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CryptEvidence {
    Layers { count: usize },
    // What its own encryption took at most, of CPU time; and whether it waited beside.
    Own { ns: f64, waited: bool },
}

/// Less of an I/O's time is no cause.
const SHARE: f64 = 0.25;
/// So many times what its own encryption can have taken is not encryption.
const WAITED: f64 = 2.0;
/// A page is encrypted at once from this size on.
const WHOLE_PAGE_BYTES: u32 = 4096;

/// dm-crypt keeps I/Os for much longer than the device it lies on.
pub(super) fn time_in_dm_crypt(case: &Case<'_>) -> Option<Suspect> {
    let is_crypt =
        |passage: &Passage<'_>| passage.upper.mapping.as_ref().is_some_and(Mapping::is_crypt);
    let passed: Vec<Passage<'_>> = passages(case).into_iter().filter(is_crypt).collect();
    let (first, last) = (passed.first()?, passed.last()?);
    let crypts: Vec<&Crypt> = passed
        .iter()
        .filter_map(|own| own.upper.mapping.as_ref())
        .flat_map(Mapping::crypts)
        .collect();
    let inside_ms: f64 = passed.iter().map(Passage::inside_ms).sum();
    let share = inside_ms / case.latency_ms().max(first.above_ms);
    (share > SHARE).then_some(())?;
    let own_ms = own_encryption_ms(case, first);
    let waits = own_ms.is_none_or(|own_ms| inside_ms > WAITED * own_ms);
    let (to_blame, confidence) = match () {
        () if passed.len() > 1 => ("encrypted-twice", Confidence::Sure),
        // Whether it waited is known where CPU time was measured.
        () if waits && crypts.iter().any(|crypt| is_queued(case, crypt)) => {
            let most = if own_ms.is_some() { Confidence::Sure } else { Confidence::Likely };
            ("dm-crypt-workqueues", most)
        }
        // That larger sectors would help was not measured.
        () if crypts.iter().any(|crypt| crypt.sector_bytes < WHOLE_PAGE_BYTES) => {
            ("dm-crypt-small-sectors", Confidence::Likely)
        }
        () => ("encryption-in-path", Confidence::Sure),
    };
    let evidence = first.evidence(last, share);
    let twice = (passed.len() > 1).then_some(CryptEvidence::Layers { count: passed.len() });
    let own = own_ms.map(|own_ms| CryptEvidence::Own { ns: own_ms * 1e6, waited: waits });
    Some(Suspect::new(to_blame, confidence, evidence).explaining(share).and(twice).and(own))
}

/// Whether this job's I/Os pass its work queues.
fn is_queued(case: &Case<'_>, crypt: &Crypt) -> bool {
    let reads = case.job.reads() && !crypt.has("no_read_workqueue");
    reads || case.job.writes() && !crypt.has("no_write_workqueue")
}

/// How long the encryption of an I/O can have taken, after all others of its job that were in
/// flight, in milliseconds: all that the CPUs did for a byte is more than encryption.
fn own_encryption_ms(case: &Case<'_>, passage: &Passage<'_>) -> Option<f64> {
    let in_flight = f64::from(case.job.in_flight().max(1));
    let per_cpu = (in_flight / f64::from(case.host().environment.cpus.max(1))).max(1.0);
    Some(case.kernel_ns_per_byte()? * passage.request_bytes * per_cpu / 1e6)
}
