use std::io;

use anyhow::{Context as _, Result};
use iotax_run::agent::{AgentOptions, serve};

use crate::exit::Exit;

/// `iotax agent`
pub fn agent() -> Result<Exit> {
    let options =
        AgentOptions { program: std::env::current_exe()?, state_dir: iotax_rig::state_dir() };
    serve(io::stdin(), io::stdout(), &options)
        .context("the agent cannot speak with whoever started it")?;
    Ok(Exit::Done)
}
