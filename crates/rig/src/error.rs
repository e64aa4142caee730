//! Errors while arms are brought up or taken down.

use std::io;
use std::path::{Path, PathBuf};

use iotax_experiment::{Blame, Fault};
use iotax_quantity::size;

use crate::refusal::list;
pub(crate) use crate::refusal::{Obstacle, Refusal};

/// Why arms could not be brought up or taken down.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Targets that cannot be used, and why, in the order of the arms; nothing was created.
    #[error("{}", list(refusals))]
    Refused { refusals: Vec<Refusal> },
    /// The undo journal cannot be written.
    #[error(
        "{directory}: cannot write the undo journal here: {source}; nothing was created. Set \
         IOTAX_STATE_DIR to a writable directory"
    )]
    Journal { directory: PathBuf, source: io::Error },
    /// The environment names no directory for state.
    #[error(
        "there is no directory for the undo journal, because neither HOME nor XDG_STATE_HOME is \
         set; nothing was created. Set IOTAX_STATE_DIR to a writable directory"
    )]
    NoStateDirectory,
    /// A directory on the path to the journals belongs to another user.
    #[error(
        "{path} belongs to user {owner}, who could make `iotax undo` remove anything that you \
         own; nothing was created or undone. Set IOTAX_STATE_DIR to a directory that only you can \
         write to"
    )]
    StrangersState { path: PathBuf, owner: u32 },
    /// Other users can write to a directory on the path to the journals.
    #[error(
        "{path}: other users can write here (mode {mode:04o}) and could make `iotax undo` remove \
         anything that you own; nothing was created or undone. Remove their write permission \
         (chmod go-w), or set IOTAX_STATE_DIR to a directory that only you can write to"
    )]
    OpenState { path: PathBuf, mode: u32 },
    /// The journals are not accessible.
    #[error("{path}: cannot search this directory for undo journals: {source}")]
    UnusableState { path: PathBuf, source: io::Error },
    /// Something could not be made, filled or opened; `action` is an infinitive: `make a private
    /// directory in it`.
    #[error("{path}: cannot {action}: {source}")]
    Make { path: PathBuf, action: &'static str, source: io::Error },
    /// The file system filled up while a file was written.
    #[error(
        "{path}: the file system is full: only {} of {} could be written; free some space, or \
         choose a smaller size",
        size(*done_bytes), size(*wanted_bytes)
    )]
    Full { path: PathBuf, done_bytes: u64, wanted_bytes: u64 },
    /// A virtual disk could not be opened.
    #[error("arm {arm}: {source}")]
    Stack { arm: String, source: iotax_vdisk::Error },
    /// An arm's layers could not be made.
    #[error("arm {arm}: {source}")]
    Arm { arm: String, source: Box<Error> },
    /// Another program failed.
    #[error("{name} failed ({status}){}{said}", if said.is_empty() { "" } else { ": " })]
    Program { name: String, status: String, said: String },
    /// The user's command that makes a host setting failed.
    #[error("arm {arm}: the `before` command `{command}` failed: {source}")]
    SettingFailed { arm: String, command: String, source: Box<Error> },
    /// The user's command that undoes a host setting failed.
    #[error(
        "arm {arm}: the `after` command `{command}` failed, so the host setting may still be \
         active: {source}. Undo the setting by hand, or fix the cause and run `iotax undo`; to \
         make iotax forget the setting, delete {journal}"
    )]
    SettingLeft { arm: String, command: String, journal: PathBuf, source: Box<Error> },
    /// Not measured, because the setting of another arm may still be active.
    #[error("not measured, because another arm's host setting could not be undone: {why}")]
    AfterSettingLeft { why: String },
    /// A layer differs from the request, and would be measured under a wrong name.
    #[error("{layer}: {asked} was requested, but the kernel reports {made}; {remedy}")]
    NotAsAsked { layer: &'static str, asked: String, made: String, remedy: &'static str },
    /// The kernel did not mount a file system.
    #[error(
        "cannot mount {kind}{}: {source}; see the kernel log (dmesg) for details",
        if options.is_empty() { String::new() } else { format!(" with {options}") }
    )]
    Mount { kind: String, options: String, source: io::Error },
    /// Another process uses what is to be taken down.
    #[error(
        "{path} is in use by another process (find it with fuser -vm); stop that process and run \
         iotax undo. The journal is {journal}"
    )]
    Busy { path: PathBuf, journal: PathBuf },
    /// A virtual disk that programs use.
    #[error(
        "{path} is in use (fuser -vm {path} lists the programs, and losetup -a lists the loop \
         devices); stop everything that uses the disk, or add --force, which makes any further \
         I/O on it fail"
    )]
    InUse { path: PathBuf },
    /// A server of virtual disks that does not end.
    #[error(
        "process {pid}, which serves {path}, does not exit; the disk is still in use (fuser -vm \
         {path} lists the programs)"
    )]
    Lingers { pid: u32, path: PathBuf },
    /// The user stopped the preparation.
    #[error("interrupted during preparation; everything created so far was removed")]
    Interrupted,
    /// A target that was there at the start is gone or was replaced.
    #[error("arm {arm}: {path} has changed since the run started: {what}")]
    Vanished { arm: String, path: PathBuf, what: String },
    /// A stack with layers of the system together with other targets.
    #[error(
        "{arm}: a target with system layers must be measured alone, but the check for shared \
         caps loads all targets together; give only this target, or only paths and in-process \
         stacks"
    )]
    OneAtATime { arm: String },
    /// Something else is in the place of what iotax made.
    #[error(
        "{path}: not removed: {why}. If what is at this path is yours, delete {journal} to make \
         iotax forget the path"
    )]
    NotOurs { path: PathBuf, why: &'static str, journal: PathBuf },
    /// The place where something was made is not accessible now.
    #[error(
        "{path} cannot be checked, because its file system is not mounted or its directory is \
         gone. Mount the file system and run iotax undo again, or delete {journal} to make iotax \
         forget the path"
    )]
    OutOfSight { path: PathBuf, journal: PathBuf },
    /// A device that was written to cannot be found.
    #[error(
        "{path}: the device is missing, and no other device has the data that iotax wrote to it. \
         Attach the device and run iotax undo again, or delete {journal} to make iotax forget \
         the device"
    )]
    DeviceGone { path: PathBuf, journal: PathBuf },
    /// Removing failed.
    #[error(
        "{path} cannot be removed: {source}. Fix the cause and run iotax undo again, or remove \
         the path yourself and delete {journal}"
    )]
    Remove { path: PathBuf, source: io::Error, journal: PathBuf },
    /// A journal that this program cannot use.
    #[error("{journal}: {why}; nothing listed in it was undone")]
    UnusableJournal { journal: PathBuf, why: String },
}

impl Error {
    /// An error about a path: `cannot ACTION`.
    pub(crate) fn cannot<S: Into<io::Error>>(
        action: &'static str,
        path: &Path,
    ) -> impl Fn(S) -> Self + Copy {
        move |source| Self::Make { path: path.to_owned(), action, source: source.into() }
    }

    /// One reason to refuse the target at a path.
    pub(crate) fn refused(arm: &str, path: &Path, obstacle: Obstacle) -> Self {
        let (arm, path) = (arm.to_owned(), Some(path.to_owned()));
        Self::Refused { refusals: vec![Refusal { arm, path, obstacle }] }
    }

    /// Something that could not be removed, and the journal that lists it.
    pub(crate) fn unremovable(path: &Path, source: impl Into<io::Error>, journal: &Path) -> Self {
        Self::Remove { path: path.to_owned(), source: source.into(), journal: journal.to_owned() }
    }

    /// Something in the place of what was made, and the journal that lists it.
    pub(crate) fn not_ours(path: &Path, why: &'static str, journal: &Path) -> Self {
        Self::NotOurs { path: path.to_owned(), why, journal: journal.to_owned() }
    }

    /// Something that another process uses, and the journal that lists it.
    pub(crate) fn busy(path: &Path, journal: &Path) -> Self {
        Self::Busy { path: path.to_owned(), journal: journal.to_owned() }
    }

    /// Whether the targets were refused, as opposed to a failure while working on them.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Refused { refusals } => {
                let is_usage = |it: &Refusal| it.obstacle.fault() == Fault::Usage;
                if refusals.iter().any(is_usage) { Fault::Usage } else { Fault::Environment }
            }
            Self::Stack { source, .. } => source.fault(),
            Self::Arm { source, .. }
            | Self::SettingFailed { source, .. }
            | Self::SettingLeft { source, .. } => source.fault(),
            Self::OneAtATime { .. } => Fault::Usage,
            #[rustfmt::skip]
            Self::Journal { .. } | Self::NoStateDirectory | Self::StrangersState { .. }
            | Self::OpenState { .. } | Self::UnusableState { .. } | Self::Make { .. }
            | Self::Full { .. } | Self::Program { .. } | Self::AfterSettingLeft { .. }
            | Self::NotAsAsked { .. } | Self::Mount { .. } | Self::Busy { .. }
            | Self::InUse { .. } | Self::Lingers { .. } | Self::Vanished { .. }
            | Self::NotOurs { .. } | Self::OutOfSight { .. } | Self::DeviceGone { .. }
            | Self::Remove { .. } | Self::UnusableJournal { .. } => Fault::Environment,
            Self::Interrupted => Fault::Interrupted,
        }
    }

    fn wants_space(&self) -> bool {
        let Self::Refused { refusals } = self else { return false };
        refusals.iter().any(|refusal| refusal.obstacle.wants_space())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_to_make_and_remove_name_the_path_and_the_way_out() {
        let read_only = || io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
        let path = || PathBuf::from("/mnt/x");
        let journal = PathBuf::from("/state/undo/1.jsonl");
        let make = Error::Make { path: path(), action: "create this file", source: read_only() };
        insta::assert_snapshot!(make, @"/mnt/x: cannot create this file: read-only filesystem or storage medium");
        insta::assert_snapshot!(
            Error::Remove { path: path(), source: read_only(), journal }, @"/mnt/x cannot be removed: read-only filesystem or storage medium. Fix the cause and run iotax undo again, or remove the path yourself and delete /state/undo/1.jsonl");
    }

    #[test]
    fn one_wrong_argument_among_the_obstacles_is_for_the_user_to_correct() {
        let fault = |obstacles: Vec<Obstacle>| {
            let refusal = |obstacle| Refusal { arm: "a".to_owned(), path: None, obstacle };
            Error::Refused { refusals: obstacles.into_iter().map(refusal).collect() }.fault()
        };
        let full = || Obstacle::NoSpace { needed_bytes: 2, free_bytes: 1 };
        assert_eq!(fault(vec![full(), Obstacle::DeadDisk]), Fault::Environment);
        assert_eq!(fault(vec![full(), Obstacle::Missing]), Fault::Usage);
        assert_eq!(
            fault(vec![iotax_vdisk::Error::NotADisk { stack: String::new() }.into()]),
            Fault::Usage
        );
        let no_file = iotax_vdisk::Error::NotAFile { path: "/dev/null".into(), device: false };
        assert_eq!(fault(vec![no_file.into()]), Fault::Usage);
    }

    #[test]
    fn what_happened_to_an_arm_is_whose_doing_its_cause_is() {
        let of_arm = |source| Error::Arm { arm: "a".to_owned(), source: Box::new(source) };
        assert_eq!(of_arm(Error::Interrupted).fault(), Fault::Interrupted);
        assert_eq!(of_arm(Error::NoStateDirectory).fault(), Fault::Environment);
        assert_eq!(Error::OneAtATime { arm: "a".to_owned() }.fault(), Fault::Usage);
    }
}
