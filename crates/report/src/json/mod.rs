//! JSON for programs: documented in `docs/json.md`, versioned, with a schema for each.

mod compare;
mod run;

pub(crate) use compare::kind;
pub use compare::{COMPARE_FORMAT, json_compare};
pub use run::json_run;
