use std::io::{self, IsTerminal as _};
use std::time::Duration;

use iotax_experiment::units::parse_duration;
use iotax_run::agent::{AgentOptions, keep, serve};

use crate::args::AgentArgs;
use crate::exit::{Context as _, Exit, Result, failed, usage};
use crate::{resolve, session};

/// `iotax agent`
pub(crate) fn agent(args: &AgentArgs) -> Result<Exit> {
    if let Some(limit) = resolve::option("--keep", args.keep.as_deref(), parse_duration)? {
        let stop = session::stop_flag()?;
        let left = keep(Duration::from_nanos(limit), &stop, Some(&iotax_rig::state_dir()))
            .context("cannot read /proc")?;
        if !left.is_empty() {
            return Err(failed(left.join("\n")));
        }
        return Ok(Exit::Done);
    }
    if io::stdin().is_terminal() {
        let why = "this command is not for use by hand; on the machine that controls the test, run \
                   iotax run, compare or peel with --agent 'ssh HOST iotax agent'";
        return Err(usage(why.to_owned()));
    }
    let options = AgentOptions {
        program: std::env::current_exe()?,
        state_dir: Some(iotax_rig::state_dir()),
        finishes_trials: args.finish_trials,
    };
    serve(io::stdin(), io::stdout(), &options)
        .context("the agent lost its connection to the iotax process that started it")?;
    Ok(Exit::Done)
}
