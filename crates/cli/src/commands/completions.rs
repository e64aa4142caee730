use anyhow::Result;
use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::exit::Exit;

/// `iotax completions SHELL`
pub(crate) fn completions(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "iotax", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(Exit::Done)
}
