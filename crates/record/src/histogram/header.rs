//! What a histogram says of its own size, before memory is taken for it.
//!
//! The library believes the header: a length of 2^32 bytes is allocated before the first of them is
//! read, and bounds from 1 to 2^63 at five digits take a table to match. So the header must be one
//! that iotax could have written.
//!
//! Layout (`HdrHistogram` V2, all big-endian): cookie, length of the counts in bytes, normalising
//! offset, significant digits (32 bits each), lowest and highest value (64 bits each), ratio (64
//! bits). In a file it is deflated, behind a cookie and the length of what is deflated.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// Longest latency told apart, in nanoseconds (one hour); longer ones count as this long.
pub(super) const MAX_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits: every value is exact to 0.1 %.
pub(super) const DIGITS: u8 = 3;
/// Cookie and length in front of the deflated part.
const OUTER_BYTES: usize = 8;
const HEADER_BYTES: usize = 40;
/// A histogram that grew has the bound of its last bucket, at most twice the longest value's.
const HIGHEST: u64 = MAX_NS.next_power_of_two() * 2;
/// A count takes nine bytes at most, in LEB128 as the format has it.
const MOST_COUNT_BYTES: u64 = 9;
/// Counts of a histogram up to [`HIGHEST`]: at three digits 2,048 values of one unit each, and then
/// 1,024 for each doubling.
const MOST_COUNTS: u64 = 1024 * (HIGHEST.ilog2() as u64 - 10 + 2);

/// Fails, saying why, unless a histogram of iotax's could begin so.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    let mut header = [0; HEADER_BYTES];
    let deflated = bytes.get(OUTER_BYTES..).unwrap_or_default();
    let read = ZlibDecoder::new(deflated).read_exact(&mut header);
    read.map_err(|error| format!("cannot decompress a histogram: {error}"))?;
    let number = |at: usize| u64::from(u32::from_be_bytes(part(&header, at)));
    let long = |at: usize| u64::from_be_bytes(part(&header, at));
    let facts = [
        ("number of bytes", number(4), 0..=MOST_COUNTS * MOST_COUNT_BYTES),
        ("number of digits", number(12), DIGITS.into()..=DIGITS.into()),
        ("lowest value", long(16), 1..=1),
        ("highest value", long(24), 2..=HIGHEST),
    ];
    match facts.iter().find(|(_, found, possible)| !possible.contains(found)) {
        Some((what, found, possible)) => Err(format!(
            "the {what} of a histogram is {found}; it must be {} to {}",
            possible.start(),
            possible.end()
        )),
        None => Ok(()),
    }
}

fn part<const N: usize>(header: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&header[at..at + N]);
    part
}
