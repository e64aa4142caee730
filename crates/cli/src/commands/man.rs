use std::fs;
use std::path::Path;

use clap::CommandFactory as _;

use crate::args::Cli;
use crate::exit::{Context as _, Exit, Result};

/// `iotax man DIR`
pub(crate) fn man(directory: &Path) -> Result<Exit> {
    let written = fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory));
    written.with_context(|| format!("cannot write man pages into {}", directory.display()))?;
    Ok(Exit::Done)
}
