//! Equal throughput that a cap explains: what shows it, and what can still tell the arms apart.
//!
//! A comparison whose arms are equal in a closed loop says nothing about a layer if both arms sit
//! on the same cap. Whether they do is measured afterwards, at half and twice the depth
//! ([`depth_check`]); where that disagrees with the comparison itself, there is no verdict; where
//! they do, other loads can show the tax ([`below_the_cap`]).

mod agree;
mod depths;
mod follow_up;
mod judge;

use crate::blocks::Blocks;
use crate::method::Method;

pub(crate) use agree::LevelShift;
pub(crate) use depths::{Level, arm};
pub use follow_up::{below_the_cap, depth_check, longest_below_the_cap, longest_depth_check};
pub(crate) use judge::{even_one_at_a_time, hide_typical, involved};

/// What a depth check measured, beside the comparison that it follows.
pub(crate) struct DepthCheck<'a> {
    pub names: &'a [String],
    pub method: &'a Method,
    pub blocks: &'a Blocks<'a>,
    /// By arm, by ascending depth; empty if there was none.
    pub levels: &'a [Vec<Level>],
    /// The largest tax that counts as none, or keeps a rule.
    pub room: f64,
}
