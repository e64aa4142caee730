//! Walks a plan: arms up, load, record, arms down; stops when `analyze` says so.
//!
//! There is one trial loop in iotax, this one. It owns no statistic and formats nothing: what it
//! sees goes to disk trial by trial, and to an [`Observer`]. Where trials run is behind the seam
//! [`Host`]: in this process ([`Local`]), or in an agent that may be on another machine ([`agent::Remote`]).
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
