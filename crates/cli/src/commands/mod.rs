//! One file per subcommand.

mod agent;
mod catalog;
mod compare;
mod completions;
mod disk;
mod doctor;
mod layers;
mod limits;
mod peel;
mod plan;
mod report;
mod repro;
mod run;
mod undo;
mod workloads;

pub use agent::agent;
pub use catalog::catalog;
pub use compare::compare;
pub use completions::completions;
pub use disk::disk;
pub use doctor::doctor;
pub use layers::layers;
pub use limits::{limits, read_limits, report_limits};
pub use peel::peel;
pub use plan::plan;
pub use report::report;
pub use repro::repro;
pub use run::run;
pub use undo::undo;
pub use workloads::workloads;
