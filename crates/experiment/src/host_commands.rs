//! Settings of the host as part of an arm: a command that makes one, and a command that undoes it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Commands around the turns of an arm, for the user's shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCommands {
    /// Makes the setting, each time that the arm's turn begins.
    pub before: String,
    /// Undoes it, each time that the arm's turn ends; `None`: the user said that nothing needs to
    /// be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The directory that both run in.
    pub directory: PathBuf,
}
