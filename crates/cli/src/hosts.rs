//! The hosts of an experiment: this process, and agents.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use iotax_load::Live;
use iotax_record::Environment;
use iotax_rig::{Options, Progress, Rig};
use iotax_run::agent::{Remote, RemoteOptions};
use iotax_run::{Drivers, Host, Hosts, Local};
use iotax_spec::{Arm, Spec};

use crate::args::LoadArgs;
use crate::exit::Usage;

/// What is known of the host of the first arm.
#[derive(Default)]
pub struct Facts {
    pub environment: Environment,
    /// CPU time the load generator itself needs per I/O there, in nanoseconds.
    pub generator_ns_per_io: f64,
}

/// What serves some of the arms: this process, or the agent of this command.
type Server = Option<Vec<String>>;

/// Looks at the targets of all arms, and makes what they need. `flags`: one that ends it, and the
/// counters of what is done.
pub fn open(
    spec: &Spec,
    load: &LoadArgs,
    flags: (&Arc<AtomicBool>, &Arc<Live>),
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<(Hosts, Facts)> {
    let servers = servers(&spec.arms, &load.agent)?;
    let mut distinct: Vec<&Server> = Vec::new();
    for server in &servers {
        if !distinct.contains(&server) {
            distinct.push(server);
        }
    }
    let mut hosts = Vec::new();
    let mut first = None;
    for server in distinct {
        let arms: Vec<usize> = (0..servers.len()).filter(|arm| servers[*arm] == *server).collect();
        let theirs = arms.iter().map(|arm| spec.arms[*arm].clone()).collect();
        let theirs = Spec { arms: theirs, ..spec.clone() };
        let (host, facts): (Box<dyn Host>, _) = match server {
            None => local(&theirs, (&load.dir, &load.destroy), flags, progress)?,
            Some(command) => remote(theirs, load, flags, command)?,
        };
        first.get_or_insert(facts);
        hosts.push((host, arms));
    }
    Ok((Hosts::new(hosts), first.unwrap_or_default()))
}

type Opened = (Box<dyn Host>, Facts);

/// This process; `work_dir` and `destroy` as in [`Options`].
pub fn local(
    spec: &Spec,
    (work_dir, destroy): (&Path, &[PathBuf]),
    (stop, live): (&Arc<AtomicBool>, &Arc<Live>),
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Opened> {
    let drivers = Drivers::find(spec)?;
    let mut rig = Rig::open(
        spec,
        Options {
            work_dir,
            state_dir: iotax_rig::state_dir(),
            progress,
            stop,
            destroy,
            program: &std::env::current_exe()?,
        },
    )?;
    rig.heed(Arc::clone(stop));
    let local = Local { rig, drivers, stop: Arc::clone(stop), live: Arc::clone(live) };
    let facts = Facts {
        environment: iotax_inspect::environment(),
        generator_ns_per_io: iotax_load::calibrate(),
    };
    Ok((Box::new(local), facts))
}

fn remote(
    spec: Spec,
    load: &LoadArgs,
    (stop, live): (&Arc<AtomicBool>, &Arc<Live>),
    command: &[String],
) -> Result<Opened> {
    let remote = Remote::open(RemoteOptions {
        command: command.to_vec(),
        spec,
        work_dir: load.dir.clone(),
        destroy: load.destroy.clone(),
        stop: Arc::clone(stop),
        live: Arc::clone(live),
    })?;
    let facts = Facts {
        environment: remote.environment().clone(),
        generator_ns_per_io: remote.generator_ns_per_io(),
    };
    Ok((Box::new(remote), facts))
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
