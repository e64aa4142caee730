#[cfg(feature = "kubernetes")]
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::exit::{Context as _, Exit, Result, bug};
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

/// `iotax man DIR`
pub(crate) fn man(directory: &Path) -> Result<Exit> {
    let written = fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory));
    written.with_context(|| format!("cannot write man pages to {}", directory.display()))?;
    Ok(Exit::Done)
}

/// Prints completions for the plugin of kubectl.
#[cfg(feature = "kubernetes")]
pub(crate) fn complete_plugin(words: Vec<OsString>) -> Result<Exit> {
    say(&candidates(words)?)?;
    Ok(Exit::Done)
}
