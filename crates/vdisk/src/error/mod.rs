//! What can go wrong before the first I/O.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use iotax_layers::blame::{Blame, Fault};
use rustix::io::Errno;

use crate::available::AvailableMemory;
use crate::names::shown;
use crate::text::Bytes;

/// Why a disk could not be opened, prepared or given a session. I/O itself answers with an
/// [`Errno`].
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

    /// A size that no device of this stack can have.
    #[error(
        "`{layer}`: size={} is not possible: it must be a multiple of {block_bytes} bytes, \
         the unit of `{unit_of}`, and not 0",
        Bytes(*size_bytes)
    )]
    Size {
        /// The layer with that size.
        layer: &'static str,
        /// The size asked for, bytes.
        size_bytes: u64,
        /// The unit, bytes.
        block_bytes: u32,
        /// The layer that needs this unit.
        unit_of: &'static str,
    },

    /// More memory than there is.
    #[error(
        "`{layer}`: size={} does not fit in memory{}: choose a smaller size",
        Bytes(*size_bytes),
        available.as_ref().map_or(String::new(), |available| format!(" ({available})"))
    )]
    NoMemory {
        layer: &'static str,
        /// The size asked for, bytes.
        size_bytes: u64,
        /// What is available, if known.
        available: Option<AvailableMemory>,
    },

    /// Memory for the I/Os of a session could not be had.
    #[error(
        "{depth} I/Os of {} each do not fit in memory: lower the queue depth or the block size",
        Bytes(*io_bytes as u64)
    )]
    NoMemoryForIo {
        /// I/Os in flight.
        depth: usize,
        io_bytes: usize,
    },

    /// A parameter outside its range.
    #[error("`{layer}`: {parameter}={value} is not possible: it must be {must_be}")]
    Parameter {
        layer: &'static str,
        parameter: &'static str,
        /// The value asked for.
        value: String,
        /// The values that are possible.
        must_be: &'static str,
    },

    /// A throttle without a cap.
    #[error("`throttle` limits nothing: add iops=4000, bw=32M, or both")]
    NothingThrottled,

    /// A new file needs a size.
    #[error("`file`: {} does not exist yet, so it needs a size: add size=1G", path.display())]
    NoSize {
        /// The file, or the directory of an anonymous one.
        path: PathBuf,
    },

    /// An existing file is smaller than the device that it should hold.
    #[error(
        "`file`: {} has {file_bytes} bytes, fewer than size={}; an existing file is never grown: \
         choose a smaller size or another path",
        path.display(),
        Bytes(*size_bytes)
    )]
    FileTooSmall {
        path: PathBuf,
        /// Its length, bytes.
        file_bytes: u64,
        /// The size asked for, bytes.
        size_bytes: u64,
    },

    /// The path leads to something that is not a regular file.
    #[error(
        "`file`: {} is {}: name a file",
        path.display(),
        if *device {
            "a block device, which a stack would overwrite"
        } else {
            "not a regular file"
        }
    )]
    NotAFile {
        path: PathBuf,
        /// Is it a block device?
        device: bool,
    },

    /// The file system has no room.
    #[error(
        "`file`: {} has no room for {} bytes{}: choose a smaller size or another place",
        path.display(),
        wanted_bytes,
        available_bytes.map_or(String::new(), |bytes| format!(" ({bytes} bytes available)"))
    )]
    NoSpace {
        /// The file, or the directory of an anonymous one.
        path: PathBuf,
        /// The size asked for, bytes.
        wanted_bytes: u64,
        /// What is available, bytes, if the file system tells.
        available_bytes: Option<u64>,
    },

    /// The file system refused.
    #[error("`file`: cannot {action} {}: {source}{}", path.display(), advice(action, source))]
    File {
        path: PathBuf,
        /// What was tried, as in "cannot open".
        action: &'static str,
        source: std::io::Error,
    },

    /// Filling a new disk with data failed.
    #[error("cannot fill {} with data at byte {offset}: {source}", path.display())]
    Fill {
        /// The file, or the stack's text if it has no name.
        path: PathBuf,
        /// Where, bytes.
        offset: u64,
        source: Errno,
    },

    /// Throttles of one group disagree.
    #[error(
        "`throttle`: group={group} is in use with other caps: \
         give all throttles of a group the same caps, or this one another group"
    )]
    GroupConflict { group: String },

    /// A worker thread could not be started.
    #[error("`queue`: worker thread {number} could not be started: {source}; use fewer workers")]
    Spawn {
        /// Which one, from 1.
        number: u32,
        source: std::io::Error,
    },

    /// The kernel's FUSE device cannot be used.
    #[error("cannot open /dev/fuse: {source}{}", fuse_advice(source))]
    NoFuse { source: std::io::Error },

    /// The disk could not be mounted.
    #[error("cannot mount the disk at {}: {source}{}", path.display(), mount_advice(source))]
    Mount {
        /// The directory to mount at.
        path: PathBuf,
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

fn advice(action: &str, source: &std::io::Error) -> &'static str {
    match source.kind() {
        // What is opened for writing would have been created.
        ErrorKind::NotFound if action == "open" => ": only an existing file can be read",
        ErrorKind::NotFound | ErrorKind::NotADirectory => ": create the directory first",
        ErrorKind::PermissionDenied => ": choose a place that you may write to",
        ErrorKind::ReadOnlyFilesystem => ": choose a place on a writable file system",
        ErrorKind::IsADirectory => ": name a file",
        _ => "",
    }
}

fn fuse_advice(source: &std::io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::NotFound => {
            ": load the kernel's module with `modprobe fuse`, or pass the device to this container \
             (--device /dev/fuse)"
        }
        ErrorKind::PermissionDenied => ": run as root",
        _ => "",
    }
}

fn mount_advice(source: &std::io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::NotFound => ": create the directory first",
        ErrorKind::NotADirectory => ": name a directory",
        ErrorKind::PermissionDenied => {
            ": run as root, or install fusermount3 (package fuse3) and name a directory that is yours"
        }
        _ => "",
    }
}

impl Error {
    pub(crate) fn file(path: &Path, action: &'static str, source: &std::io::Error) -> Self {
        // Of an error with a path in it, which ours would repeat, only the system's part is kept.
        let source = source
            .raw_os_error()
            .map_or_else(|| std::io::Error::from(source.kind()), std::io::Error::from_raw_os_error);
        Self::File { path: shown(path), action, source }
    }

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
            return Err(Self::Size { layer, size_bytes, block_bytes, unit_of: layer });
        }
        Ok(())
    }
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::EmptyStack
            | Self::NoBase { .. }
            | Self::BaseAboveBottom { .. }
            | Self::Size { .. }
            | Self::Parameter { .. }
            | Self::NothingThrottled
            | Self::NoSize { .. }
            | Self::FileTooSmall { .. }
            | Self::NotAFile { .. }
            | Self::GroupConflict { .. }
            | Self::Depth { .. }
            | Self::IoSize { .. } => Fault::Usage,
            Self::NoMemory { .. }
            | Self::NoMemoryForIo { .. }
            | Self::NoSpace { .. }
            | Self::File { .. }
            | Self::Fill { .. }
            | Self::Spawn { .. }
            | Self::NoFuse { .. }
            | Self::Mount { .. } => Fault::Environment,
        }
    }
}

#[cfg(test)]
mod tests;
