//! JSON for programs: documented and versioned.

mod compare;

pub(crate) use compare::kind;
pub use compare::{COMPARE_FORMAT, json_compare};
