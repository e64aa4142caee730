//! A machine that was looked at.

pub mod layer;
mod network;
pub mod surroundings;
