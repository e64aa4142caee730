//! What is drawn of an experiment.

mod data;
mod forest;
mod machine;
mod tiles;

pub(crate) use self::data::{Drawn, drawn};
pub(crate) use self::forest::groups;
pub(crate) use self::tiles::tiles;
