//! The rules, one file for each group of causes.

mod encryption;

use super::finding::Finding;
use super::seen::Seen;

/// From what was seen to what is found.
pub(super) type Rule = fn(&Seen<'_>) -> Vec<Finding>;

/// All rules, in the order of the catalogue's causes.
pub(super) const ALL: [Rule; 1] = [encryption::work_queues];
