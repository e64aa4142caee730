//! A host setting that a command of the user made: undone by another command of the user.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::programs::Program;
use crate::undone::Undone;

/// A setting, and the command that undoes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setting {
    pub(crate) arm: String,
    /// The command that undoes it.
    pub(crate) after: String,
    /// The directory that it runs in.
    pub(crate) directory: PathBuf,
}

impl Setting {
    /// Runs the command, however the run ended.
    pub(crate) fn undo(&self, journal: &Path) -> Result<Undone, Error> {
        let never = AtomicBool::new(false);
        let done = Program::shell(&self.after, &self.directory).run("", &never);
        done.map(|_| Undone::Removed).map_err(|source| Error::SettingLeft {
            arm: self.arm.clone(),
            command: self.after.clone(),
            journal: journal.to_owned(),
            source: Box::new(source),
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host setting of arm {} (ran `{}`)", self.arm, self.after)
    }
}
