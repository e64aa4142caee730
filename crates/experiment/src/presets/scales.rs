//! Scales of sizes and times.

pub(super) const KIB: u32 = 1 << 10;
pub(super) const MIB: u32 = 1 << 20;
pub(super) const GIB: u64 = 1 << 30;
pub(super) const SECOND_NS: u64 = 1_000_000_000;
pub(super) const MILLISECOND_NS: u64 = 1_000_000;
