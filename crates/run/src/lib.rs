//! Walks a plan: rig up, load, record, rig down; stops when `analyze` says so.
//!
//! There is one trial loop in iotax, this one. It owns no statistic and formats nothing: what it
//! sees goes to disk trial by trial, and to an [`Observer`].
#![forbid(unsafe_code)]

mod budget;
mod drain;
mod drivers;
mod error;
mod limits;
mod nanos;
mod observer;
mod precondition;
mod statistics;
mod trial;
mod walk;

pub use drain::{LONGEST_LOOKS_NS, drain};
pub use drivers::Drivers;
pub use error::Error;
pub use limits::{Search, limits, replay};
pub use observer::{Event, Observer};
pub use precondition::precondition;
pub use trial::target;
pub use walk::{Setup, run};
