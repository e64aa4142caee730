//! What could not be concluded, and why, in plain sentences.

use iotax_record::End;

use crate::attribution::Peel;
use crate::checks::Evidence;

/// The open questions of an experiment.
pub(crate) fn open(
    _evidence: &Evidence<'_>,
    _peel: Option<&Peel<'_>>,
    _end: Option<&End>,
) -> Vec<String> {
    Vec::new()
}
