//! JSON output: documented in `docs/json.md`, versioned, with schemas.

mod analysis;
mod compare;
pub(crate) mod limits;
mod run;
pub(crate) mod text;

pub use compare::{COMPARE_FORMAT, json_compare};
pub(crate) use compare::{Output, kind};
pub(crate) use run::Root;
pub use run::json_run;
pub use text::json_text;
