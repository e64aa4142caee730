//! The bins of JSON+: fio's own histogram, and the ways in which its buckets were named.

use super::raw::RawLatency;
use crate::importers::error::Error;
use crate::importers::number::{MOST, Number};

/// Bits of precision in each power of two: `FIO_IO_U_PLAT_BITS` of every version.
const BITS: u32 = 6;
/// An hour: fio's last bucket ends at 17 s.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Bins as middles in nanoseconds, ascending, and counts. `unit_ns` is what fio measured in.
pub(super) fn read_bins(
    latency: &RawLatency,
    unit_ns: u64,
    job: &str,
    field: &str,
) -> Result<Vec<(u64, u64)>, Error> {
    // fio 2.2.12 to 2.19 name buckets by index, and say by three members how to understand it.
    let by_index = latency.bins.0.iter().any(|(key, _)| key.starts_with("FIO_IO_U_PLAT_"));
    let mut bins = Vec::with_capacity(latency.bins.0.len());
    for (key, count) in &latency.bins.0 {
        if key.starts_with("FIO_IO_U_PLAT_") {
            continue;
        }
        let middle_ns = key
            .parse()
            .ok()
            .and_then(|key| if by_index { middle(key) } else { Some(key) })
            .and_then(|units| units.checked_mul(unit_ns))
            .filter(|ns| *ns <= LONGEST_NS);
        let Some(middle_ns) = middle_ns else {
            let why = "a bucket of less than an hour";
            let (job, value) = (job.to_owned(), format!("{key:?}"));
            return Err(Error::Number { job, field: field.to_owned(), value, expected: why });
        };
        let count = count.count(job, format_args!("{field}.{key:?}"))?.unwrap_or(0);
        if count > 0 {
            bins.push((middle_ns, count));
        }
    }
    bins.sort_unstable();
    let total = bins.iter().try_fold(0u64, |sum, (_, n)| sum.checked_add(*n)).unwrap_or(u64::MAX);
    if total > MOST {
        let number = Number::Whole(total);
        return Err(number.wrong(job, field, "at most 9 * 10^15 in all"));
    }
    Ok(bins)
}

/// Middle of the bucket with this index, as `plat_idx_to_val` in fio's `stat.c` has it.
fn middle(index: u64) -> Option<u64> {
    if index < 1 << (BITS + 1) {
        return Some(index);
    }
    let error_bits = u32::try_from((index >> BITS) - 1).ok().filter(|bits| *bits < 48)?;
    let base = 1u64 << (error_bits + BITS);
    let in_group = index % (1 << BITS);
    // (k + 0.5) * 2^e; e is 1 at least here, so the half is whole.
    Some(base + (in_group << error_bits) + (1 << (error_bits - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_where_fio_has_them() {
        // From the table in fio's stat.h, and a key that fio 3.33 printed (44288).
        assert_eq!(middle(0), Some(0));
        assert_eq!(middle(127), Some(127));
        assert_eq!(middle(128), Some(129));
        assert_eq!(middle(191), Some(255));
        assert_eq!(middle(192), Some(258));
        assert!((0..29 * 64).any(|i| middle(i) == Some(44_288)));
        assert_eq!(middle(u64::MAX), None);
    }
}
