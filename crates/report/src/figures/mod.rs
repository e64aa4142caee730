//! What is drawn of an experiment.

mod data;
mod forest;
mod machine;
mod nodes;
mod operations;
mod steps;
mod tiles;

pub(crate) use self::data::{Drawn, drawn, of_forest};
pub(crate) use self::forest::{groups, number, of_effects, over_phases};
pub(crate) use self::nodes::map;
pub(crate) use self::steps::{Figures, Interval, Number, Steps, within};
pub(crate) use self::tiles::tiles;
