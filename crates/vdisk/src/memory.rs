//! Checks that there is enough memory for a layer.

use crate::available::available_memory;
use crate::error::Error;

/// Memory that is left for the rest of this process.
const RESERVE_BYTES: u64 = 256 << 20;

/// `size_bytes` as a length, if that much is available without swapping or out-of-memory kills.
pub(crate) fn check_available(layer: &'static str, size_bytes: u64) -> Result<usize, Error> {
    check_beside(layer, size_bytes, 0)
}

/// The same where the layer takes so many bytes beside its size.
pub(crate) fn check_beside(
    layer: &'static str,
    size_bytes: u64,
    more_bytes: u64,
) -> Result<usize, Error> {
    let needed_bytes = size_bytes.saturating_add(more_bytes);
    let available = available_memory();
    let is_less = available.as_ref().is_some_and(|available| {
        needed_bytes > available.bytes - (available.bytes / 8).min(RESERVE_BYTES)
    });
    // Rust's allocations are at most isize::MAX long.
    match isize::try_from(size_bytes) {
        Ok(bytes) if !is_less => Ok(bytes.unsigned_abs()),
        _ => Err(Error::NoMemory { layer, size_bytes, available }),
    }
}

/// The error of a failed allocation, with the memory that is available.
pub(crate) fn lacking(layer: &'static str, size_bytes: usize) -> Error {
    Error::NoMemory { layer, size_bytes: size_bytes as u64, available: available_memory() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_is_refused_by_name_and_figure() {
        assert_eq!(check_available("mem", 4096).unwrap(), 4096);
        let error = check_available("cache", u64::MAX).unwrap_err();
        let Error::NoMemory { layer: "cache", size_bytes: u64::MAX, .. } = error else {
            panic!("{error}")
        };
    }
}
