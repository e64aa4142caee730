//! Index versions: a driver publishes them, a searcher loads each new one and answers queries.
//!
//! The load of a search engine on one machine: a new version of the index is written, made
//! durable and put in place at once; the searcher, which maps the index, must then load the new
//! one before queries can go on. What users feel is the load time.

mod driver;
mod files;
mod run;
mod searcher;
mod slots;
mod store;

pub(crate) use driver::publish_versions;
pub(crate) use files::{FileIndex, NAME, is_ours, lay_out};
pub(crate) use run::{Published, Run};
pub(crate) use searcher::search;
pub(crate) use slots::SlotIndex;
pub(crate) use store::IndexStore;
