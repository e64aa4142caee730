//! The native load: threads up, the loop that issues I/Os, threads down, one record.

mod calibrate;
mod coordinator;
mod drive;
mod fill;
mod io_errors;
mod latency_target;
mod memory;
mod placement;
mod worker;

pub use calibrate::calibrate;
pub use coordinator::Native;
pub(crate) use coordinator::{add as add_to_job, panic_message};
pub use fill::Filler;
