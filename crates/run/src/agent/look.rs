//! Examines the storage under paths on the agent's host, without opening or changing anything.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use iotax_experiment::Fault;
use iotax_inspect::{ProbeOptions, enter, machine};
use iotax_record::Machine;

use super::connection::Connection;
use super::launch::Launch;
use super::message::{Command, Look, PROTOCOL, Reply};
use crate::error::{AgentError, Error};

/// Directories of a machine's programs, because the search path is that of the container.
const PROGRAMS: [&str; 6] =
    ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin", "/run/current-system/sw/bin"];

/// Starts an agent, lets it examine its host, and ends it.
///
/// # Errors
/// If it cannot be started, is of another version, or does not find a path; if the user stopped it.
pub fn look(agent: &mut dyn Launch, asked: Look, stop: &AtomicBool) -> Result<Machine, Error> {
    let command = agent.name();
    let lost = |why: String| AgentError::Lost { command: command.clone(), why };
    let mut connection = Connection::start(agent, Arc::default())?;
    let mut ask = |what: &Command| match connection.ask(what, None, stop, &|_, _| ()) {
        Ok(Reply::Failed { error, fault }) => Err(AgentError::Failed { error, fault }),
        told => told.map_err(lost),
    };
    let told = ask(&Command::Hello { protocol: PROTOCOL }).and_then(|hello| match hello {
        Reply::Hello { protocol: PROTOCOL, .. } => ask(&Command::Look(asked)),
        Reply::Hello { protocol: theirs, .. } => {
            Err(AgentError::Version { command: command.clone(), theirs, ours: PROTOCOL })
        }
        other => Ok(other),
    });
    let machine = match told? {
        Reply::Looked(machine) => *machine,
        _ => return Err(lost("it sent an unexpected reply".to_owned()).into()),
    };
    connection.end(stop).map_err(lost)?;
    Ok(machine)
}

/// The facts about this machine and the storage under the paths.
pub(super) fn looked(asked: &Look) -> Result<Machine, Error> {
    let mut how = ProbeOptions::default();
    let paths = if let Some(root) = &asked.root {
        how.programs = PROGRAMS.map(PathBuf::from).to_vec();
        enter(root, &asked.paths).map_err(|error| AgentError::Failed {
            error: error.to_string(),
            fault: Fault::Environment,
        })?
    } else {
        // The network of a container may lead elsewhere, or nowhere.
        how.metadata = None;
        asked.paths.clone()
    };
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    Ok(machine(&paths, &[], &how))
}
