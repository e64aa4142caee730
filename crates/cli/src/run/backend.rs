//! Chooses where an experiment runs: in this process, on agents, or in a cluster.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use iotax_experiment::{Arm, CloudChoice, Job, KnownLimit, Search, Spec, Target};
use iotax_load::PeerSecrets;
use iotax_record::{HostRecord, HostRole};
use iotax_rig::{GivenUp, Options, Preparing};
use iotax_run::agent::{ChildAgent, Remote, RemoteOptions};
use iotax_run::{Host, Hosts, Local, here, shapers};

use super::{Asked, instance};
use crate::args::{LimitsArgs, LoadArgs};
use crate::exit::{Result, usage};
#[cfg(feature = "kubernetes")]
use crate::in_cluster::{InCluster, NetInCluster};
#[cfg(feature = "kubernetes")]
use crate::resolve::Question;
use crate::resolve::Resolved;
use crate::session::{OpenedHosts, Session};

/// What runs an arm: this process, or the agent that this command starts.
type Server = Option<Vec<String>>;

/// Where trials run.
pub(crate) enum Backend<'a> {
    Here(Here<'a>),
    /// In pods.
    #[cfg(feature = "kubernetes")]
    Volumes(&'a InCluster<'a>),
    /// Between pods.
    #[cfg(feature = "kubernetes")]
    Paths(&'a NetInCluster),
}

/// In this process, and on the agents of `--agent`.
pub(crate) struct Here<'a> {
    agents: &'a [String],
    work_dir: &'a Path,
    destroy: &'a [PathBuf],
}

impl<'a> From<&'a LoadArgs> for Backend<'a> {
    fn from(args: &'a LoadArgs) -> Self {
        Self::Here(Here { agents: &args.agent, work_dir: &args.dir, destroy: &args.destroy })
    }
}

impl<'a> From<&'a LimitsArgs> for Backend<'a> {
    fn from(args: &'a LimitsArgs) -> Self {
        Self::Here(Here { agents: &[], work_dir: &args.dir, destroy: &args.destroy })
    }
}

impl Backend<'_> {
    /// Whether all targets are on this machine.
    pub(crate) fn is_here(&self) -> bool {
        match self {
            Self::Here(here) => here.agents.is_empty(),
            #[cfg(feature = "kubernetes")]
            Self::Volumes(_) | Self::Paths(_) => false,
        }
    }

    /// Starts the session.
    pub(super) fn session(&self, name: &str, out: Option<&Path>, spec: &Spec) -> Result<Session> {
        match self {
            Self::Here(_) => Session::start(name, out, spec.arms.iter().map(|arm| &arm.target)),
            #[cfg(feature = "kubernetes")]
            Self::Volumes(_) | Self::Paths(_) => Session::elsewhere(name, out),
        }
    }

    /// Checks the targets of all arms, and creates what they need.
    pub(super) fn open(
        &self,
        spec: &Spec,
        session: &Session,
        making: &mut dyn FnMut(&Preparing<'_>),
    ) -> Result<OpenedHosts> {
        match self {
            Self::Here(here) => here.open(spec, session, making),
            #[cfg(feature = "kubernetes")]
            Self::Volumes(asked) => asked.open(spec, session, making),
            #[cfg(feature = "kubernetes")]
            Self::Paths(asked) => asked.open(spec, session, making),
        }
    }

    /// The VM and disks that the user or the metadata service names. This machine's service knows
    /// nothing of agents on other hosts.
    pub(super) fn cloud(
        &self,
        resolved: &Resolved,
        opened: &mut OpenedHosts,
        asked: &Asked<'_>,
    ) -> CloudChoice {
        let spec = resolved.spec();
        let mut cloud = spec.cloud.clone();
        match (self, opened.records.as_mut_slice()) {
            (Self::Here(here), [record]) if record.role == HostRole::Local => {
                let targets = spec.targets();
                let told = instance::complete(&mut cloud, asked.documented, targets, here.work_dir);
                instance::note(record, told);
            }
            #[cfg(feature = "kubernetes")]
            (Self::Volumes(volumes), _) if matches!(resolved.question(), Question::Caps(_)) => {
                volumes.complete(&mut cloud, &opened.nodes);
            }
            _ => {}
        }
        cloud
    }

    /// Limits that this machine itself is known to set on a target.
    pub(super) fn limits(
        &self,
        target: &Target,
        search: &Search,
        records: &[HostRecord],
    ) -> Vec<KnownLimit> {
        let (Self::Here(_), [record]) = (self, records) else { return Vec::new() };
        let mut known = iotax_rig::cgroup_limits(target, search.writes);
        known.extend(shapers(record.machine.as_deref(), target));
        known
    }
}

impl Here<'_> {
    fn open(
        &self,
        spec: &Spec,
        session: &Session,
        making: &mut dyn FnMut(&Preparing<'_>),
    ) -> Result<OpenedHosts> {
        let mut servers: IndexMap<Server, Vec<usize>> = IndexMap::new();
        for (arm, server) in self::servers(&spec.arms, self.agents)?.into_iter().enumerate() {
            servers.entry(server).or_default().push(arm);
        }
        let (mut hosts, mut records) = (Vec::new(), Vec::new());
        for (server, arms) in servers {
            let own = arms.iter().map(|arm| spec.arms[*arm].clone()).collect();
            let theirs = spec.with(|draft| draft.arms = own);
            let (host, record): (Box<dyn Host + Send>, _) = match server {
                None => {
                    let host = self.local(&theirs, session, making)?;
                    (Box::new(host), here(&theirs.arms, HostRole::Local))
                }
                Some(command) => self.remote(theirs, session, command)?,
            };
            records.push(record);
            hosts.push((host, arms));
        }
        Ok(OpenedHosts { hosts: Hosts::new(hosts), records, nodes: Vec::new() })
    }

    fn local(
        &self,
        spec: &Spec,
        session: &Session,
        progress: &mut dyn FnMut(&Preparing<'_>),
    ) -> Result<Local> {
        let program = &std::env::current_exe()?;
        let given_up = &GivenUp::by_user(self.destroy);
        let (work_dir, state_dir) = (self.work_dir, Some(iotax_rig::state_dir()));
        let (stop, secrets) = (Arc::clone(&session.stop), &PeerSecrets::new());
        let options = Options { work_dir, state_dir, progress, stop, given_up, program, secrets };
        Ok(Local::open(spec, options, &session.live)?)
    }

    fn remote(
        &self,
        spec: Spec,
        session: &Session,
        command: Vec<String>,
    ) -> Result<(Box<dyn Host + Send>, HostRecord)> {
        let remote = Remote::open(RemoteOptions {
            agent: Box::new(ChildAgent { command }),
            spec,
            work_dir: self.work_dir.to_owned(),
            given_up: GivenUp::by_user(self.destroy),
            secrets: PeerSecrets::new(),
            stop: Arc::clone(&session.stop),
            live: Arc::clone(&session.live),
        })?;
        let host = remote.host().clone();
        Ok((Box::new(remote), host))
    }
}

/// What runs each arm; later options take precedence.
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
            return Err(usage(format!(
                "--agent {text}: not a valid command; enter it as in a shell, for example \
                 --agent 'ssh HOST iotax agent'"
            )));
        };
        for (at, server) in servers.iter_mut().enumerate() {
            if which.is_none_or(|which| which == at) {
                *server = Some(words.clone());
            }
        }
    }
    Ok(servers)
}

// The fallback to `libaio` where a sandbox blocks `io_uring`, as container runtimes do by default.

/// Prints a note if iotax falls back.
pub(crate) fn tell(spec: &Spec, hosts: &[HostRecord]) {
    if forbidding(hosts) > 0 && !jobs(spec).is_empty() {
        eprintln!(
            "note: a sandbox blocks io_uring here, as container runtimes do by default; iotax \
             falls back to libaio for direct I/O"
        );
    }
}

/// Refuses a comparison if only some hosts would fall back, because arms would differ in their
/// engines.
pub(crate) fn refuse_on_some(spec: &Spec, hosts: &[HostRecord]) -> Result<()> {
    let (forbidding, jobs) = (forbidding(hosts), jobs(spec));
    if forbidding == 0 || forbidding == hosts.len() || jobs.is_empty() {
        return Ok(());
    }
    let set: Vec<String> = jobs.iter().map(|job| format!("--set {job}.engine=libaio")).collect();
    Err(usage(format!(
        "a sandbox blocks io_uring on {forbidding} of {} hosts, so arms would use different \
         engines; use {} so that all arms use the same engine",
        hosts.len(),
        set.join(" ")
    )))
}

fn forbidding(hosts: &[HostRecord]) -> usize {
    hosts.iter().filter(|host| host.io_uring == Some(false)).count()
}

/// Names of the jobs that may fall back.
fn jobs(spec: &Spec) -> BTreeSet<String> {
    let jobs = spec.all_at_once().jobs.into_iter();
    jobs.filter(Job::may_be_stood_in_for).map(|job| job.name).collect()
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Stop, Target, Workload};

    use super::*;

    fn told(preset: &str, allowed: &[bool]) -> Result<()> {
        let arm = Arm::new("a", Target::parse("/mnt/a").unwrap());
        let workload = Workload::preset(preset).unwrap();
        let spec = Spec::single(workload, arm, Stop::default(), 1).unwrap();
        let host =
            |io_uring: &bool| HostRecord { io_uring: Some(*io_uring), ..HostRecord::default() };
        refuse_on_some(&spec, &allowed.iter().map(host).collect::<Vec<_>>())
    }

    #[test]
    fn what_would_differ_by_engine_is_refused_with_what_helps() {
        let error = told("randread-4k", &[true, false]).unwrap_err();
        insta::assert_snapshot!(error, @"a sandbox blocks io_uring on 1 of 2 hosts, so arms would use different engines; use --set io.engine=libaio so that all arms use the same engine");
        told("randread-4k", &[false, false]).unwrap();
        told("randread-4k", &[true, true]).unwrap();
        // It does not use io_uring.
        told("driver-searcher", &[true, false]).unwrap();
    }
}
