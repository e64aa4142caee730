//! Jobs that verify what other jobs of the file wrote.

use super::draft::Draft;

const OTHERS: &str = "iotax looks for its own checksums, which another job of this file writes";
const UNKNOWN: &str = "checks what no other job of this file wrote";

/// Finds, for each job that only reads and verifies, the one that wrote what it reads.
pub(super) fn bind(drafts: &mut [Draft<'_>]) {
    for at in 0..drafts.len() {
        let job = &drafts[at].job;
        if !(job.verify_apart && job.reads()) {
            continue;
        }
        let is_writer = |other: &Draft<'_>| {
            let other = &other.job;
            (other.verify || other.verify_apart)
                && other.writes_data()
                && (&other.files, &other.target) == (&job.files, &job.target)
                && other.granule_bytes() == job.granule_bytes()
        };
        let is_written = drafts[..at].iter().any(is_writer);
        let draft = &mut drafts[at];
        let Some(setting) = draft.chosen.get("verify") else { continue };
        if is_written {
            draft.note(setting, OTHERS);
        } else {
            draft.job.verify_apart = false;
            draft.job.verify_ends = false;
            draft.beyond(setting, UNKNOWN);
        }
    }
}
