//! JSON for programs: documented in `docs/json.md`, versioned, with a schema for each.

mod compare;
mod run;

pub use compare::{COMPARE_FORMAT, json_compare};
pub(crate) use compare::{Output, kind, print};
pub(crate) use run::Root;
pub use run::json_run;
