use std::io::{self, IsTerminal as _};

use anyhow::{Context as _, Result};
use iotax_run::agent::{AgentOptions, serve};

use crate::exit::{Exit, Usage};

/// `iotax agent`
pub(crate) fn agent() -> Result<Exit> {
    if io::stdin().is_terminal() {
        let why = "an agent is spoken to by another iotax, which starts it; there, give \
                   --agent 'ssh HOST iotax agent' to run, compare or peel";
        return Err(Usage(why.to_owned()).into());
    }
    let options =
        AgentOptions { program: std::env::current_exe()?, state_dir: iotax_rig::state_dir() };
    serve(io::stdin(), io::stdout(), &options)
        .context("the agent cannot speak with whoever started it")?;
    Ok(Exit::Done)
}
