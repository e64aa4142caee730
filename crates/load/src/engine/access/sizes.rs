//! How large the next I/O is.

use iotax_experiment::BlockSizes;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

use crate::engine::below;

/// Draws sizes.
pub(super) trait Sizes: Send + 'static {
    /// (bytes, units covered, rounded up)
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> (u32, u64);
}

pub(super) struct FixedSize {
    bytes: u32,
    covered: u64,
}

impl FixedSize {
    /// Of `bytes`, where offsets are multiples of `unit`.
    pub(super) fn new(bytes: u32, unit: u64) -> Self {
        Self { bytes, covered: u64::from(bytes).div_ceil(unit) }
    }
}

impl Sizes for FixedSize {
    #[inline]
    fn draw(&self, _: &mut Xoshiro256PlusPlus) -> (u32, u64) {
        (self.bytes, self.covered)
    }
}

/// Uniform over the multiples of the smallest.
pub(super) struct RangeSizes {
    smallest: u32,
    multiples: u64,
    unit: u64,
}

impl RangeSizes {
    /// From `min` to `max`, where offsets are multiples of `unit`.
    pub(super) fn new(min: u32, max: u32, unit: u64) -> Self {
        Self { smallest: min, multiples: u64::from(max / min), unit }
    }
}

impl Sizes for RangeSizes {
    #[inline]
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> (u32, u64) {
        let multiple = 1 + below(rng.next_u64(), self.multiples);
        let bytes = u64::from(self.smallest) * multiple;
        // No division in the usual case.
        let covered = if self.unit == u64::from(self.smallest) {
            multiple
        } else {
            bytes.div_ceil(self.unit)
        };
        (u32::try_from(bytes).expect("at most the largest block, a u32"), covered)
    }
}

/// By weight: one entry per percent.
pub(super) struct SplitSizes {
    by_percent: Vec<(u32, u64)>,
}

impl SplitSizes {
    /// As in `sizes`, where offsets are multiples of `unit`.
    pub(super) fn new(sizes: &BlockSizes, unit: u64) -> Self {
        let BlockSizes::Split(shares) = sizes else { unreachable!("called for splits only") };
        let by_percent = shares
            .iter()
            .flat_map(|share| {
                let covered = u64::from(share.bytes).div_ceil(unit);
                std::iter::repeat_n((share.bytes, covered), usize::from(share.percent))
            })
            .collect();
        Self { by_percent }
    }
}

impl Sizes for SplitSizes {
    #[inline]
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> (u32, u64) {
        let index = below(rng.next_u64(), self.by_percent.len() as u64);
        self.by_percent[usize::try_from(index).expect("an index of this vector")]
    }
}
