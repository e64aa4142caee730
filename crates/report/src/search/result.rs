//! What there is to report.

use iotax_caps::Caps;
use iotax_record::{End, SearchHead};

use crate::bandwidth::{MEASURED, Unit};

/// A search: what was asked, what was found, how it ended.
#[derive(Debug, Clone, Copy)]
pub struct SearchResult<'a> {
    /// What was asked, and where.
    pub head: &'a SearchHead,
    pub caps: &'a Caps,
    /// How it ended; `None` if it was cut off.
    pub end: Option<&'a End>,
}

impl SearchResult<'_> {
    /// The unit of all bandwidths: that of the limits which stand beside what was measured.
    pub(super) fn unit(self) -> Unit {
        let rows = self.caps.documented.iter().filter(|row| row.is_bytes());
        let limits: Vec<_> = rows.flat_map(|row| &row.limits).map(|limit| limit.per_s).collect();
        let undecided = if limits.is_empty() { MEASURED } else { Unit::Mb };
        Unit::of(&limits).unwrap_or(undecided)
    }
}
