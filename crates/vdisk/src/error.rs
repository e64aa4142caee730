//! What can go wrong before the first I/O.

use std::fmt::Display;

use crate::text::Bytes;

/// Why a disk could not be opened, prepared or given a session. I/O itself answers with an
/// [`Errno`](crate::Errno).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing in the stack.
    #[error("the stack is empty: it needs at least a base layer, such as mem(size=64M)")]
    EmptyStack,

    /// The bottom layer holds no data.
    #[error(
        "`{layer}` is at the bottom of the stack, where the data must be: \
         start the stack with mem(size=64M) or file(size=1G)"
    )]
    NoBase {
        /// The layer found at the bottom.
        layer: &'static str,
    },

    /// A base layer lies above another layer.
    #[error(
        "`{layer}` is layer {position} of the stack, but it holds the data and can only be \
         the first: a stack has exactly one base"
    )]
    BaseAboveBottom {
        /// The base layer.
        layer: &'static str,
        /// Its position, counted from 1 at the bottom.
        position: usize,
    },

    /// A size that no device can have.
    #[error("`{layer}`: size={} is not a device size: it must be a multiple of {block_bytes} bytes, and not 0", Bytes(*size_bytes))]
    Size {
        /// The layer with that size.
        layer: &'static str,
        /// The size asked for, bytes.
        size_bytes: u64,
        /// The unit, bytes.
        block_bytes: u32,
    },

    /// More memory than there is.
    #[error(
        "`mem`: size={} does not fit in memory{}: choose a smaller size, or file(size=...)",
        Bytes(*size_bytes),
        available_bytes.map_or(String::new(), |bytes| format!(" ({} MiB available)", bytes >> 20))
    )]
    NoMemory {
        /// The size asked for, bytes.
        size_bytes: u64,
        /// What is available, bytes, if known.
        available_bytes: Option<u64>,
    },

    /// A parameter outside its range.
    #[error("`{layer}`: {parameter}={value} is not possible: it must be {must_be}")]
    Parameter {
        /// The layer.
        layer: &'static str,
        /// Its parameter.
        parameter: &'static str,
        /// The value asked for.
        value: String,
        /// The values that are possible.
        must_be: &'static str,
    },

    /// A worker thread could not be started.
    #[error("`queue`: worker thread {number} could not be started: {source}; use fewer workers")]
    Spawn {
        /// Which one, from 1.
        number: u32,
        /// The system's reason.
        source: std::io::Error,
    },

    /// A session without a slot, or with too many.
    #[error("a session of depth {depth} is not possible: it must be 1 to {max}")]
    Depth {
        /// The depth asked for.
        depth: usize,
        /// The largest possible.
        max: usize,
    },

    /// A session for I/Os that the disk cannot do.
    #[error(
        "I/Os of up to {max_io_bytes} bytes are not possible on this disk: \
         the size must be a multiple of {block_bytes} bytes, and not 0"
    )]
    IoSize {
        /// The largest I/O asked for, bytes.
        max_io_bytes: usize,
        /// The disk's block size, bytes.
        block_bytes: u32,
    },
}

impl Error {
    pub(crate) fn parameter(
        layer: &'static str,
        parameter: &'static str,
        value: impl Display,
        must_be: &'static str,
    ) -> Self {
        Self::Parameter { layer, parameter, value: value.to_string(), must_be }
    }

    pub(crate) fn check_size(
        layer: &'static str,
        size_bytes: u64,
        block_bytes: u32,
    ) -> Result<(), Self> {
        if size_bytes == 0 || !size_bytes.is_multiple_of(u64::from(block_bytes)) {
            return Err(Self::Size { layer, size_bytes, block_bytes });
        }
        Ok(())
    }
}
