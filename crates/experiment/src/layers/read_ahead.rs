//! How far the kernel reads ahead on a mount.

use super::declared::Arguments;
use super::info::{Parameter, parameter};
use crate::error::Error;
use crate::units::Unit;

/// The kernel counts in pages, which have 4 KiB at least.
const PAGE_BYTES: u64 = 4096;
/// More is a mistake.
const MOST_BYTES: u64 = 1 << 30;

/// Of layers that are mounted.
pub(super) const READ_AHEAD: Parameter =
    parameter("read_ahead", Unit::Size, None, "bytes that the kernel reads ahead (read_ahead_kb)");

pub(super) fn read_ahead(arguments: &Arguments<'_>) -> Result<Option<u64>, Error> {
    let bytes = arguments.whole_if_given("read_ahead");
    if bytes.is_some_and(|bytes| bytes % PAGE_BYTES != 0 || bytes > MOST_BYTES) {
        let problem = "the kernel counts it in pages, up to 1G";
        return Err(arguments.refuse("read_ahead", problem, "write a multiple of 4k, such as 1M"));
    }
    Ok(bytes)
}
