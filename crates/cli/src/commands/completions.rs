#[cfg(feature = "kubernetes")]
use std::ffi::OsString;

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::exit::{Exit, Result, bug};
use crate::output::say;
#[cfg(feature = "kubernetes")]
use crate::plugin::candidates;

/// `iotax completions SHELL`
pub(crate) fn completions(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "iotax", &mut script);
    say(&String::from_utf8(script).map_err(bug)?)?;
    Ok(Exit::Done)
}

/// What kubectl completes the words of its plugin with.
#[cfg(feature = "kubernetes")]
pub(crate) fn complete_plugin(words: Vec<OsString>) -> Result<Exit> {
    say(&candidates(words)?)?;
    Ok(Exit::Done)
}
