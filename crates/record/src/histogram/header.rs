//! Checks the header of a histogram before memory is allocated for it.
//!
//! The library trusts the header: it allocates a length of 2^32 bytes before reading the first of
//! them, and bounds from 1 to 2^63 at five digits need a table to match. So the header must be one
//! that iotax could have written.
//!
//! Layout (`HdrHistogram` V2, all big-endian): cookie, length of the counts in bytes, normalising
//! offset, significant digits (32 bits each), lowest and highest value (64 bits each), ratio (64
//! bits). In a file it is deflated, after a cookie and the length of the deflated part.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// Longest latency that is distinguished, in nanoseconds (one hour); longer ones count as this
/// long.
pub(super) const MAX_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits: every value is exact to 0.1 %.
pub(super) const DIGITS: u8 = 3;
/// Cookie and length before the deflated part.
const OUTER_BYTES: usize = 8;
const HEADER_BYTES: usize = 40;
/// A histogram that grew has the bound of its last bucket, at most twice that of the longest value.
const HIGHEST: u64 = MAX_NS.next_power_of_two() * 2;
/// A count takes at most nine bytes in LEB128.
const MOST_COUNT_BYTES: u64 = 9;
/// Number of counts up to [`HIGHEST`]: at three digits 2,048 values of one unit each, then 1,024
/// for each doubling.
const MOST_COUNTS: u64 = 1024 * (HIGHEST.ilog2() as u64 - 10 + 2);

/// Fails with a reason unless iotax could have written this header.
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
            "the {what} of a histogram is {found}; it must be from {} to {}",
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
