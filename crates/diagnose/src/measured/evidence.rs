//! What speaks for causes, as figures: an enum for each family of rules, in its file.

pub use super::apart::{NthLayer, PutIn};
pub use super::{
    above, crypt, device, limiter, memory, network, nfs, processor, regime, stack, waiting,
};
