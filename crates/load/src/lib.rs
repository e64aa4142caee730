//! Drives I/O: native engines and pacing.

#[cfg(not(target_os = "linux"))]
compile_error!("iotax drives I/O on Linux only");

mod counters;
mod driver;
mod error;
mod index;
mod layout;
mod live;
mod native;
mod places;
mod verify;

pub use driver::{LoadDriver, Progress, Request, Target};
pub use error::Error;
pub use live::Live;
pub use native::{Native, calibrate};
