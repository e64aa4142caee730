//! Errors before the first I/O.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use iotax_layers::blame::{Blame, Fault};
use iotax_layers::units::format_bytes;

use crate::available::AvailableMemory;
use crate::names::shown;

/// Why a disk could not be opened, prepared or given a session. I/O itself answers with an
/// [`Errno`](rustix::io::Errno).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not a valid list of layers. The parser of stacks reports such errors earlier.
    #[error(
        "`{stack}` is not an in-process disk: such a disk needs one base (mem or file) at the bottom"
    )]
    NotADisk { stack: String },

    /// A size that no device of this stack can have.
    #[error(
        "`{layer}`: size={} is not valid: it must be a multiple of {block_bytes} bytes, the unit \
         of `{unit_of}`, and not 0",
        format_bytes(*size_bytes)
    )]
    Size { layer: &'static str, size_bytes: u64, block_bytes: u32, unit_of: &'static str },

    /// More memory than there is.
    #[error(
        "`{layer}`: size={} does not fit in memory{}: choose a smaller size",
        format_bytes(*size_bytes),
        available.as_ref().map_or(String::new(), |available| format!(" ({available})"))
    )]
    NoMemory { layer: &'static str, size_bytes: u64, available: Option<AvailableMemory> },

    /// Memory for the I/Os of a session could not be allocated.
    #[error(
        "{depth} I/Os of {} do not fit in memory: lower the queue depth or the block size",
        format_bytes(*io_bytes as u64)
    )]
    NoMemoryForIo { depth: usize, io_bytes: usize },

    /// A parameter outside its range.
    #[error("`{layer}`: {parameter}={value} is not valid: it must be {must_be}")]
    Parameter {
        layer: &'static str,
        parameter: &'static str,
        /// The requested value.
        value: String,
        /// The values that are possible.
        must_be: &'static str,
    },

    /// An existing file is smaller than the device that it should hold.
    #[error(
        "`file`: {path} has {file_bytes} bytes, fewer than size={}, and iotax never extends an \
         existing file: choose a smaller size or another path",
        format_bytes(*size_bytes)
    )]
    FileTooSmall { path: PathBuf, file_bytes: u64, size_bytes: u64 },

    /// The path leads to something that is not a regular file.
    #[error(
        "`file`: {path} is {}: choose another path",
        if *device {
            "a block device, which a stack would overwrite"
        } else {
            "not a regular file"
        }
    )]
    NotAFile { path: PathBuf, device: bool },

    /// The file system refused.
    #[error("`file`: cannot {action} {path}: {source}{}", advice(source))]
    File { path: PathBuf, action: &'static str, source: std::io::Error },

    /// Throttles of one group disagree.
    #[error(
        "`throttle`: group={group} is already used with different caps: give all throttles in a \
         group the same caps, or use another group for this throttle"
    )]
    GroupConflict { group: String },

    /// A worker thread could not be started.
    #[error("`queue`: worker thread {number} could not be started: {source}; use fewer workers")]
    Spawn { number: u32, source: std::io::Error },

    /// The kernel's FUSE device cannot be used.
    #[error("cannot open /dev/fuse: {source}{}", fuse_advice(source))]
    NoFuse { source: std::io::Error },

    /// The disk could not be mounted.
    #[error("cannot mount the disk at {path}: {source}{}", mount_advice(source))]
    Mount { path: PathBuf, source: std::io::Error },

    /// A session without a slot, or with too many.
    #[error("session depth {depth} is not valid: it must be 1 to {max}")]
    Depth { depth: usize, max: usize },

    /// A session for I/Os of a size that the disk does not support.
    #[error(
        "a maximum I/O size of {max_io_bytes} bytes is not valid on this disk: it must be a \
         multiple of {block_bytes} bytes, and not 0"
    )]
    IoSize { max_io_bytes: usize, block_bytes: u32 },
}

fn advice(source: &std::io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::NotFound => ": only an existing file can be used",
        ErrorKind::PermissionDenied => ": choose a location that you have permission to write to",
        ErrorKind::ReadOnlyFilesystem => ": choose a path on a writable file system",
        ErrorKind::IsADirectory => ": specify a file",
        _ => "",
    }
}

fn fuse_advice(source: &std::io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::NotFound => {
            ": load the kernel module with `modprobe fuse`, or pass the device to this container \
             (--device /dev/fuse)"
        }
        ErrorKind::PermissionDenied => ": run as root",
        _ => "",
    }
}

fn mount_advice(source: &std::io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::NotFound => ": create the directory first",
        ErrorKind::NotADirectory => ": specify a directory",
        ErrorKind::PermissionDenied => {
            ": run as root, or install fusermount3 (package fuse3) and specify a directory that \
             you own"
        }
        _ => "",
    }
}

impl Error {
    pub(crate) fn file(path: &Path, action: &'static str, source: &std::io::Error) -> Self {
        // Only the system's part is kept: this error already contains the path.
        let source = source
            .raw_os_error()
            .map_or_else(|| std::io::Error::from(source.kind()), std::io::Error::from_raw_os_error);
        Self::File { path: shown(path), action, source }
    }

    /// Refuses the value of a parameter unless `is_met`.
    pub(crate) fn demand(
        is_met: bool,
        layer: &'static str,
        parameter: &'static str,
        value: impl Display,
        must_be: &'static str,
    ) -> Result<(), Self> {
        let value = value.to_string();
        if is_met { Ok(()) } else { Err(Self::Parameter { layer, parameter, value, must_be }) }
    }

    pub(crate) fn check_size(
        layer: &'static str,
        size_bytes: u64,
        block_bytes: u32,
    ) -> Result<(), Self> {
        if size_bytes == 0 || !size_bytes.is_multiple_of(u64::from(block_bytes)) {
            return Err(Self::Size { layer, size_bytes, block_bytes, unit_of: layer });
        }
        Ok(())
    }
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            #[rustfmt::skip]
            Self::NotADisk { .. } | Self::Size { .. } | Self::Parameter { .. }
            | Self::FileTooSmall { .. } | Self::NotAFile { .. } | Self::GroupConflict { .. }
            | Self::Depth { .. } | Self::IoSize { .. } => Fault::Usage,
            Self::NoMemory { .. }
            | Self::NoMemoryForIo { .. }
            | Self::File { .. }
            | Self::Spawn { .. }
            | Self::NoFuse { .. }
            | Self::Mount { .. } => Fault::Environment,
        }
    }
}

#[cfg(test)]
mod tests;
