//! The host setting that is active during an arm's turn. One command of the user makes it, and
//! another undoes it: at the end of the turn or the run, or by `undo` if the run was killed.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use iotax_experiment::HostCommands;

use crate::entry::Entry;
use crate::entry::host_command::Setting;
use crate::error::Error;
use crate::journal::Journal;
use crate::programs::Program;

/// A setting that is active. Dropping it undoes it.
#[derive(Debug)]
pub(crate) struct HostSetting {
    /// Index of the arm that the setting belongs to.
    pub(crate) arm: usize,
    journal: Journal,
}

impl HostSetting {
    /// Runs the command that makes it. The undo command is on disk before, and runs if this one
    /// fails: a command that failed half-way may have changed something.
    pub(crate) fn make(
        arm: usize,
        name: &str,
        commands: &HostCommands,
        state_dir: Option<PathBuf>,
        stop: &AtomicBool,
    ) -> Result<Self, Error> {
        let HostCommands { before, after, directory } = commands;
        let mut journal = Journal::new(state_dir);
        if let Some(after) = after {
            let (arm, after, directory) = (name.to_owned(), after.clone(), directory.clone());
            journal.announce(Entry::HostSetting(Setting { arm, after, directory }))?;
        }
        match Program::shell(before, directory).run(&journal.name(), stop) {
            Ok(_) => Ok(Self { arm, journal }),
            Err(Error::Interrupted) => {
                journal.unwind()?;
                Err(Error::Interrupted)
            }
            Err(source) => {
                let (arm, command) = (name.to_owned(), before.clone());
                let failed = Error::SettingFailed { arm, command, source: Box::new(source) };
                journal.unwind().and(Err(failed))
            }
        }
    }

    /// Undoes it.
    ///
    /// # Errors
    /// [`Error::SettingLeft`]: it stays in the journal, where [`undo`](crate::undo()) finds it.
    pub(crate) fn undo(mut self) -> Result<(), Error> {
        self.journal.unwind()
    }
}
