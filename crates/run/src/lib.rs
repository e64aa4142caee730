//! Walks a plan: arms up, load, record, arms down; stops when `analyze` says so.
//!
//! This is the only trial loop in iotax. It computes no statistics and formats nothing: every trial
//! goes to disk, and to an [`Observer`]. The trait [`Host`] hides where trials run: in this process
//! ([`Local`]), or in an agent that may be on another machine ([`agent::Remote`]).
#![forbid(unsafe_code)]

pub mod agent;
mod before;
mod clock;
mod drivers;
mod error;
mod host;
mod hosts;
mod local;
mod observer;
mod pilot;
mod search;
mod trials;
mod way;

pub use before::{drain, precondition};
pub use clock::{Clock, Monotonic};
pub use drivers::Drivers;
pub use error::{AgentError, Error};
pub use host::{Arms, Files, Host, Load, Measured, Runner, Task, TrialRequest, here};
pub use hosts::Hosts;
pub use local::{LONGEST_LOOKS_NS, Local};
pub use observer::{Event, Observer};
pub use pilot::pilot;
pub use search::{SearchSetup, replay, search};
pub use trials::{Setup, trials};
pub use way::{shapers, subject};
