use anyhow::Result;
use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::exit::Exit;
use crate::output::say;

/// `iotax completions SHELL`
pub(crate) fn completions(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "iotax", &mut script);
    say(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
