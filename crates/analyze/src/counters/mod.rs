//! What the machine did during a trial: the figures of iostat, nfsiostat, pressure stall
//! information, and of interfaces. Descriptive: no conclusion rests on them.

mod figures;
mod interfaces;
mod iostat;
mod mean;
mod samples;
mod series;
mod summary;

pub use figures::*;
pub use interfaces::*;
pub use iostat::*;
pub use series::*;
pub use summary::*;
