//! The hosts of an experiment: this process, and agents.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use iotax_experiment::{Arm, Spec};
use iotax_load::PeerSecrets;
use iotax_record::{HostRecord, HostRole};
use iotax_rig::{GivenUp, Options, Progress};
use iotax_run::agent::{ChildAgent, Remote, RemoteOptions};
use iotax_run::{Host, Hosts, Local, here};

use crate::args::LoadArgs;
use crate::exit::Usage;
#[cfg(feature = "kubernetes")]
use crate::in_cluster::{InCluster, NetInCluster};
use crate::session::{Flags, Session};

/// What serves some of the arms: this process, or the agent of this command.
type Server = Option<Vec<String>>;

/// Where trials are performed.
pub(crate) enum Where<'a> {
    /// In this process, and by the agents that were asked for.
    Asked(&'a LoadArgs),
    /// In pods.
    #[cfg(feature = "kubernetes")]
    Cluster(&'a InCluster<'a>),
    /// Between pods.
    #[cfg(feature = "kubernetes")]
    Net(&'a NetInCluster),
}

impl Where<'_> {
    /// Whether all targets are on this machine.
    pub(crate) fn is_here(&self) -> bool {
        match self {
            Self::Asked(load) => load.agent.is_empty(),
            #[cfg(feature = "kubernetes")]
            Self::Cluster(_) | Self::Net(_) => false,
        }
    }

    /// Opens what is called for when an experiment is run.
    pub(crate) fn session(&self, name: &str, out: Option<&Path>, spec: &Spec) -> Result<Session> {
        match self {
            Self::Asked(_) => Session::start(name, out, spec.arms.iter().map(|arm| &arm.target)),
            #[cfg(feature = "kubernetes")]
            Self::Cluster(_) | Self::Net(_) => Session::elsewhere(name, out),
        }
    }

    /// As [`open()`]. Of paths in a cluster, it is known now where they lead to.
    pub(crate) fn open(
        &self,
        spec: &mut Spec,
        flags: Flags<'_>,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<(Hosts, Vec<HostRecord>)> {
        match self {
            Self::Asked(load) => open(spec, load, flags, progress),
            #[cfg(feature = "kubernetes")]
            Self::Cluster(asked) => asked.open(spec, flags, progress),
            #[cfg(feature = "kubernetes")]
            Self::Net(asked) => asked.open(spec, flags, progress),
        }
    }
}

/// Looks at the targets of all arms, and makes what they need. `flags`: one that ends it, and the
/// counters of what is done. What is known of each host comes with them, in their order.
fn open(
    spec: &Spec,
    load: &LoadArgs,
    flags: Flags<'_>,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<(Hosts, Vec<HostRecord>)> {
    let servers = servers(&spec.arms, &load.agent)?;
    let mut distinct: Vec<&Server> = Vec::new();
    for server in &servers {
        if !distinct.contains(&server) {
            distinct.push(server);
        }
    }
    let mut hosts = Vec::new();
    let mut known = Vec::new();
    for server in distinct {
        let arms: Vec<usize> = (0..servers.len()).filter(|arm| servers[*arm] == *server).collect();
        let theirs = arms.iter().map(|arm| spec.arms[*arm].clone()).collect();
        let theirs = Spec { arms: theirs, ..spec.clone() };
        let (host, record): (Box<dyn Host + Send>, _) = match server {
            None => {
                let given_up = GivenUp::by_user(&load.destroy);
                let given = (load.dir.as_path(), &given_up);
                let host = local(&theirs, given, flags, progress)?;
                (Box::new(host), here(&theirs.arms, HostRole::Local))
            }
            Some(command) => remote(theirs, load, flags, command)?,
        };
        known.push(record);
        hosts.push((host, arms));
    }
    Ok((Hosts::new(hosts), known))
}

/// This process; `work_dir` and `given_up` as in [`Options`].
pub(crate) fn local(
    spec: &Spec,
    (work_dir, given_up): (&Path, &GivenUp),
    (stop, live): Flags<'_>,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Local> {
    let program = std::env::current_exe()?;
    let state_dir = iotax_rig::state_dir();
    let stop = Arc::clone(stop);
    let secrets = &PeerSecrets::new();
    let program = &program;
    let options = Options { work_dir, state_dir, progress, stop, given_up, program, secrets };
    Ok(Local::open(spec, options, live)?)
}

fn remote(
    spec: Spec,
    load: &LoadArgs,
    (stop, live): Flags<'_>,
    command: &[String],
) -> Result<(Box<dyn Host + Send>, HostRecord)> {
    let remote = Remote::open(RemoteOptions {
        agent: Box::new(ChildAgent { command: command.to_vec() }),
        spec,
        work_dir: load.dir.clone(),
        given_up: GivenUp::by_user(&load.destroy),
        secrets: PeerSecrets::new(),
        stop: Arc::clone(stop),
        live: Arc::clone(live),
    })?;
    let host = remote.host().clone();
    Ok((Box::new(remote), host))
}

/// What serves each arm: later options win over earlier ones.
fn servers(arms: &[Arm], asked: &[String]) -> Result<Vec<Server>> {
    let mut servers = vec![None; arms.len()];
    for text in asked {
        let named = arms
            .iter()
            .enumerate()
            .find_map(|(at, arm)| Some((at, text.strip_prefix(&arm.name)?.strip_prefix('=')?)));
        let (which, command) = named.map_or((None, text.as_str()), |(at, rest)| (Some(at), rest));
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let Some(words) = words else {
            return Err(Usage(format!(
                "--agent {text}: this is no command; write one as in a shell, as in \
                 --agent 'ssh HOST iotax agent'"
            ))
            .into());
        };
        for (at, server) in servers.iter_mut().enumerate() {
            if which.is_none_or(|which| which == at) {
                *server = Some(words.clone());
            }
        }
    }
    Ok(servers)
}
