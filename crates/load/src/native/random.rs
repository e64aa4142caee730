//! From random bits to random numbers.

/// A number in `0..bound` from 64 random bits, without division: the high half of the product
/// (Lemire, 2019). Its bias is below `bound / 2^64`.
#[inline]
pub(crate) fn below(word: u64, bound: u64) -> u64 {
    let product = u128::from(word) * u128::from(bound);
    u64::try_from(product >> 64).expect("the high half of a 128-bit product")
}
