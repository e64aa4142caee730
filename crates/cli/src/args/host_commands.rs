use clap::Args;

/// Settings of the host that belong to an arm.
#[derive(Debug, Args, Default, Clone)]
pub(crate) struct HostCommandArgs {
    /// Run this command each time ARM's turn begins, to make a setting of this host part of
    /// the arm; repeat for several arms
    ///
    /// The command is run by `sh -c` as you, in the working directory, within 60 s. If it fails, so does the
    /// trial, and --after is run. Several arms may have one target and differ in such a setting only: a scheduler,
    /// `read_ahead_kb`, `hdparm -W`, `zfs set`.
    #[arg(long, value_name = "ARM=COMMAND", help_heading = "Settings of the host")]
    pub before: Vec<String>,
    /// Run this command each time ARM's turn ends, to undo what --before did; ARM=none if
    /// nothing needs to be undone
    ///
    /// It is also run after a failure and after Ctrl-C, and by `iotax undo` after a run was killed.
    #[arg(long, value_name = "ARM=COMMAND", help_heading = "Settings of the host")]
    pub after: Vec<String>,
}
