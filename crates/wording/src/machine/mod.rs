//! A machine, or a cluster, that was looked at.

pub mod cluster;
pub mod layer;
mod network;
pub mod surroundings;
