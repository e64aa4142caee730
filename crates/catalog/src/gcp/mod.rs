//! Google Cloud.

pub(crate) mod disks;
pub(crate) mod machines;
mod row;
