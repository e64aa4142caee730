//! Why a target cannot be used, and what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use iotax_experiment::{Blame, Fault};
use iotax_quantity::size;
use iotax_vdisk::AvailableMemory;

/// One reason why an arm's target cannot be used.
#[derive(Debug)]
pub struct Refusal {
    /// The arm; several if they share the storage; empty if no arm is concerned.
    pub arm: String,
    /// The path in question; `None` for memory.
    pub path: Option<PathBuf>,
    /// The obstacle, and what to do.
    pub obstacle: Obstacle,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.arm.is_empty() {
            write!(f, "arm {}: ", self.arm)?;
        }
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        self.obstacle.fmt(f)
    }
}

/// Why a target cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// Nothing is there.
    #[error("does not exist; create the directory first, or check the spelling")]
    Missing,
    /// The directory of a file to be created does not exist.
    #[error("cannot be created, because its directory does not exist; create the directory first")]
    NoParent,
    /// It cannot be examined.
    #[error("cannot be examined: {0}")]
    Unreachable(io::Error),
    /// This machine lacks something that layers need.
    #[error("{what}; {remedy}")]
    Lacks { what: String, remedy: String },
    /// A base too small for its layers.
    #[error("{layer} needs at least {}; choose a larger size", size(*least_bytes))]
    TooSmallFor { layer: &'static str, least_bytes: u64 },
    /// Arguments that could make mkfs write to something other than its layer.
    #[error(
        "{layer}: mkfs=`{word}` names a file or device that mkfs would overwrite; leave out this \
         argument, because iotax creates the file system only on the layer below"
    )]
    NamesAnother { layer: &'static str, word: String },
    /// A file that exists, in a stack that would overwrite it.
    #[error(
        "already exists, and the layers would overwrite it; name a file that does not exist yet, \
         or leave out the path"
    )]
    WouldOverwrite,
    /// A kind of file that cannot be a target.
    #[error(
        "is not a directory, a regular file or a block device; name a directory in which iotax can \
         create its test files"
    )]
    WrongKind,
    /// A mount point with something in it.
    #[error("is not empty; name an empty directory")]
    NotEmpty,
    /// A directory that is already a mount point.
    #[error(
        "a file system is already mounted here; name another directory, or unmount it (iotax disk \
         down for a virtual disk, otherwise umount)"
    )]
    DiskThere,
    /// A mount point whose server was killed.
    #[error("the program that served this mount is gone; unmount it with iotax undo or umount")]
    DeadDisk,
    /// A mount point where another disk is about to be mounted.
    #[error("another virtual disk is being mounted here; name a different directory for each disk")]
    TakenByAnother,
    /// A link of another user, which root would follow.
    #[error("{link} is a link that another user can redirect at any time; name its target instead")]
    LinkOfAnother { link: PathBuf },
    /// A device in a directory of another user.
    #[error(
        "users other than root can write to {directory} and could replace the device; use the \
         device node in /dev instead"
    )]
    InOthersHands { directory: PathBuf },
    /// A directory was named where a file is needed.
    #[error("is a directory, but the base of the stack must be a file; name a file in it")]
    NotAFile,
    /// A block device where a file is needed.
    #[error(
        "is a block device, not a file; to put system layers on it, use dev(path=...), which \
         destroys the data on it"
    )]
    DeviceAsBase,
    /// Something else where a block device is needed.
    #[error(
        "is not a block device; name a block device, or use file(size=...) or dir(path=...) instead"
    )]
    NotADevice,
    /// The user did not allow the device to be overwritten.
    #[error("all data on it would be lost; if you do not need the data, add --destroy {path}")]
    NotGivenUp { path: PathBuf },
    /// A device that may be overwritten is not used.
    #[error(
        "was named with --destroy, but no arm uses it; check the name, or leave out the option"
    )]
    GivenUpInVain,
    /// Two targets of one trial that cannot be in use at the same time.
    #[error(
        "cannot be used at the same time, because there is only one {what}; give one of them \
         another target, or run the jobs one after the other"
    )]
    NotTogether { what: String },
    /// A device is in use.
    #[error("{by}; {remedy}")]
    InUse { by: String, remedy: &'static str },
    /// A device that is not blank.
    #[error(
        "contains {what}; name another device, or, if you do not need the data, wipe this one \
         yourself (wipefs --all {path})"
    )]
    Signature { what: String, path: PathBuf },
    /// A device with data without a signature.
    #[error(
        "seems to contain {what}; name another device, or, if you do not need the data, overwrite \
         the first and last MiB of this one yourself"
    )]
    HoldsData { what: &'static str },
    /// It is unknown whether a device is blank.
    #[error("may contain data, but iotax cannot check this: {why}")]
    Unprobed { why: String },
    /// A virtual disk on a file that may not be written.
    #[error(
        "is a read-only virtual disk, because its file already existed when the disk was created; \
         to allow iotax to overwrite the file, take the disk down and mount it again with \
         --write-to FILE"
    )]
    ReadOnlyDisk,
    /// A device that refuses writes.
    #[error("is read-only; name another device")]
    ReadOnlyDevice,
    /// Not readable.
    #[error("cannot be read: {0}; change its permissions, or run iotax as a user who can read it")]
    Unreadable(io::Error),
    /// A directory without write permission.
    #[error(
        "test files cannot be created here: {0}; choose another directory, or run iotax as a user \
         who can create them"
    )]
    Unwritable(io::Error),
    /// A directory on a read-only file system.
    #[error(
        "test files cannot be created here, because the file system is mounted read-only; choose \
         another directory"
    )]
    ReadOnly,
    /// A recording of several files.
    #[error(
        "is not a directory; the recording uses several files, or opens, renames or looks up \
         files: name a directory, because only the I/O of a single block device can be replayed on \
         a file or device"
    )]
    NeedsDirectory,
    /// Block devices are never written.
    #[error(
        "the workload writes, but iotax never writes to a device given by its path; choose a \
         read-only workload, name a directory on the device, or let iotax overwrite the \
         device: dev(path=...) with --destroy"
    )]
    WritesToDevice,
    /// A file that may hold the user's data.
    #[error(
        "the workload writes, but iotax did not create this file; name its directory instead, or a \
         file that does not exist yet"
    )]
    WritesToFile,
    /// A file or device that is only read.
    #[error(
        "preconditioning writes the whole span, but iotax never writes to a file or device given \
         by its path; leave out --precondition, name a directory instead, or let iotax overwrite a \
         device: dev(path=...) with --destroy"
    )]
    WouldPrecondition,
    /// No room for one I/O.
    #[error("is empty; {advice}")]
    Empty { advice: &'static str },
    /// Smaller than one I/O, or than the size given in the stack.
    #[error(
        "has only {}, but {} is needed; {advice}",
        size(*has_bytes), size(*needed_bytes)
    )]
    TooSmall { has_bytes: u64, needed_bytes: u64, advice: &'static str },
    /// The page cache cannot be bypassed.
    #[error(
        "its file system ({file_system}) cannot bypass the page cache; turn off direct I/O for all \
         arms (direct=false), or choose another location"
    )]
    NoDirect { file_system: String },
    /// Direct I/O in units that the device does not support.
    #[error(
        "direct I/O here requires a block size that is a multiple of {align_bytes} bytes, but job \
         {job} uses {block_bytes}-byte blocks; choose larger blocks, or turn off direct I/O for \
         all arms (direct=false)"
    )]
    Unaligned { align_bytes: u32, job: String, block_bytes: u32 },
    /// The file system has too little free space.
    #[error(
        "needs {} of free space, but only {} is available; free some space, or choose smaller \
         sizes",
        size(*needed_bytes), size(*free_bytes)
    )]
    NoSpace { needed_bytes: u64, free_bytes: u64 },
    /// Test files larger than the stack that they are to be on.
    #[error(
        "the test files need {}, but the stack has only {}",
        size(*files_bytes), size(*size_bytes)
    )]
    FilesTooLarge { files_bytes: u64, size_bytes: u64 },
    /// Layers that do not fit together, or with impossible parameters.
    #[error(transparent)]
    Stack(#[from] iotax_vdisk::Error),
    /// All stacks in memory together are too large.
    #[error(
        "{} of memory is needed for all `mem` stacks together, but only {} is available{}; choose \
         smaller sizes, or use `file` as the base",
        size(*needed_bytes), size(available.bytes), available.limit
    )]
    NoMemory { needed_bytes: u64, available: AvailableMemory },
}

impl Blame for Obstacle {
    /// Usage if another argument helps, as opposed to another machine, more rights, or more space.
    fn fault(&self) -> Fault {
        match self {
            Self::Stack(error) => error.fault(),
            #[rustfmt::skip]
            Self::Unreachable(_) | Self::Lacks { .. } | Self::DeadDisk | Self::Unprobed { .. }
            | Self::Unreadable(_) | Self::Unwritable(_) | Self::NoSpace { .. }
            | Self::NoMemory { .. } => Fault::Environment,
            #[rustfmt::skip]
            Self::Missing | Self::NoParent | Self::TooSmallFor { .. } | Self::NamesAnother { .. }
            | Self::WouldOverwrite | Self::WrongKind | Self::NotEmpty | Self::DiskThere
            | Self::TakenByAnother | Self::LinkOfAnother { .. } | Self::InOthersHands { .. }
            | Self::NotAFile | Self::DeviceAsBase | Self::NotADevice | Self::NotGivenUp { .. }
            | Self::GivenUpInVain | Self::NotTogether { .. } | Self::InUse { .. }
            | Self::Signature { .. } | Self::HoldsData { .. } | Self::ReadOnlyDisk
            | Self::ReadOnlyDevice | Self::ReadOnly | Self::WritesToDevice | Self::WritesToFile
            | Self::WouldPrecondition | Self::Empty { .. } | Self::TooSmall { .. }
            | Self::NoDirect { .. } | Self::Unaligned { .. }
            | Self::NeedsDirectory | Self::FilesTooLarge { .. } => Fault::Usage,
        }
    }

    /// Test files are too large for the place.
    fn wants_space(&self) -> bool {
        matches!(self, Self::NoSpace { .. } | Self::FilesTooLarge { .. } | Self::TooSmall { .. })
    }
}

/// One line for one reason, a list for several.
pub(crate) fn list(refusals: &[Refusal]) -> String {
    match refusals {
        [one] => one.to_string(),
        many => {
            let mut text = format!("{} targets cannot be used:", many.len());
            for refusal in many {
                text.push_str("\n  ");
                text.push_str(&refusal.to_string());
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use iotax_vdisk::MemoryLimit;

    use super::*;

    /// What cannot be brought about in a test that must also run as root, or on any file system.
    #[test]
    fn obstacles_say_what_to_do() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let told = |obstacle: Obstacle| {
            Refusal { arm: "b".into(), path: Some("/mnt/x".into()), obstacle }.to_string()
        };
        insta::assert_snapshot!(told(Obstacle::Unreachable(denied())), @"arm b: /mnt/x: cannot be examined: permission denied");
        insta::assert_snapshot!(told(Obstacle::Unreadable(denied())), @"arm b: /mnt/x: cannot be read: permission denied; change its permissions, or run iotax as a user who can read it");
        insta::assert_snapshot!(told(Obstacle::Unwritable(denied())), @"arm b: /mnt/x: test files cannot be created here: permission denied; choose another directory, or run iotax as a user who can create them");
        let link = "/home/me/x".into();
        insta::assert_snapshot!(told(Obstacle::LinkOfAnother { link }), @"arm b: /mnt/x: /home/me/x is a link that another user can redirect at any time; name its target instead");
        let directory = "/home/me".into();
        insta::assert_snapshot!(told(Obstacle::InOthersHands { directory }), @"arm b: /mnt/x: users other than root can write to /home/me and could replace the device; use the device node in /dev instead");
        insta::assert_snapshot!(told(Obstacle::ReadOnly), @"arm b: /mnt/x: test files cannot be created here, because the file system is mounted read-only; choose another directory");
        insta::assert_snapshot!(told(Obstacle::NoDirect { file_system: "fuse.sshfs".into() }), @"arm b: /mnt/x: its file system (fuse.sshfs) cannot bypass the page cache; turn off direct I/O for all arms (direct=false), or choose another location");
        let job = "query".to_owned();
        insta::assert_snapshot!(
            told(Obstacle::Unaligned { align_bytes: 4096, job, block_bytes: 512 }), @"arm b: /mnt/x: direct I/O here requires a block size that is a multiple of 4096 bytes, but job query uses 512-byte blocks; choose larger blocks, or turn off direct I/O for all arms (direct=false)");
        insta::assert_snapshot!(
            told(Obstacle::NoSpace { needed_bytes: 2 << 30, free_bytes: 1 << 30 }), @"arm b: /mnt/x: needs 2 GiB of free space, but only 1 GiB is available; free some space, or choose smaller sizes");
        let (files_bytes, size_bytes) = (110 << 30, 2 << 30);
        insta::assert_snapshot!(told(Obstacle::FilesTooLarge { files_bytes, size_bytes }), @"arm b: /mnt/x: the test files need 110 GiB, but the stack has only 2 GiB");
        let memory = Obstacle::NoMemory {
            needed_bytes: 2 << 30,
            available: AvailableMemory { bytes: 1 << 30, limit: MemoryLimit::Machine },
        };
        insta::assert_snapshot!(
            Refusal { arm: "a, b".into(), path: None, obstacle: memory }, @"arm a, b: 2 GiB of memory is needed for all `mem` stacks together, but only 1 GiB is available; choose smaller sizes, or use `file` as the base");
    }
}
