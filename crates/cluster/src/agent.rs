//! Starts agents in a container of a pod, and recreates the pod if it is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

use iotax_run::AgentError;
use iotax_run::agent::{Launch, Launched};
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::api::ListParams;

use crate::connect::Cluster;
use crate::error::Error;
use crate::exec::{can_exec, exec};
use crate::objects::{Member, PodOptions, PodOverrides};
use crate::place::Volume;
use crate::session::Session;

/// Time between two attempts with a cluster that does not answer.
const LOOK: Duration = Duration::from_secs(1);

/// Starts the agents of a container.
pub(crate) struct PodAgent {
    pub(crate) session: Arc<Session>,
    pub(crate) member: Member,
    /// Index of the container in its pod.
    pub(crate) container: usize,
    pub(crate) options: PodOptions,
    /// Whether a trial continues if its connection is cut. Not if it has another end, whose
    /// connection may be cut as well.
    pub(crate) finishes_trials: bool,
    pub(crate) stop: Arc<AtomicBool>,
}

impl PodAgent {
    /// For the first container; does not finish a trial if its connection is cut.
    pub(crate) fn new(
        session: &Arc<Session>,
        member: Member,
        options: &PodOptions,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let (session, options) = (Arc::clone(session), options.clone());
        let stop = Arc::clone(stop);
        Self { session, member, container: 0, options, finishes_trials: false, stop }
    }

    pub(crate) fn pod(&self) -> String {
        self.session.run().member(self.member.number)
    }

    /// Starts a program in the container once the cluster answers. Recreates the pod if it is gone.
    pub(crate) fn start(&self, words: &[&str]) -> Result<Launched, Error> {
        let started = Instant::now();
        let mut is_told = false;
        loop {
            let error = match self.start_now(words) {
                Err(error) if error.may_pass() => error,
                done => return done,
            };
            if self.stop.load(Ordering::Relaxed) || started.elapsed() > self.options.wait {
                return Err(error);
            }
            if !is_told {
                let whose = &self.member.told_as;
                (self.session.note)(&format!("{whose}: {error}; waiting for a response"));
                is_told = true;
            }
            thread::sleep(LOOK);
        }
    }

    fn start_now(&self, words: &[&str]) -> Result<Launched, Error> {
        let Self { session, member, options, stop, .. } = self;
        session.make_again_if_gone(member, options, stop)?;
        let (pod, container) = (self.pod(), &member.containers[self.container].name);
        can_exec(session.cluster(), &pod, container)?;
        exec(session.cluster(), &pod, container, words)
    }
}

impl Launch for PodAgent {
    fn name(&self) -> String {
        format!("iotax agent in pod {}/{}", self.session.cluster().namespace(), self.pod())
    }

    fn finishes_trials(&self) -> bool {
        self.finishes_trials
    }

    fn launch(&mut self) -> Result<Launched, AgentError> {
        let words = ["iotax", "agent", "--finish-trials"];
        self.start(if self.finishes_trials { &words } else { &words[..2] }).map_err(|error| {
            AgentError::Start { command: self.name(), source: io::Error::other(error.to_string()) }
        })
    }
}

// Claims in the cluster: those of the user, and those of all volumes.

/// Refuses a claim of the user that a pod of the run could not use, or only by destroying its data.
///
/// # Errors
/// Those, and if the claim cannot be read.
pub(crate) fn refuse_unusable(
    cluster: &Cluster,
    volume: &Volume,
    overrides: &PodOverrides,
) -> Result<(), Error> {
    if let Some(field) = overrides.changing_files().filter(|_| volume.is_theirs()) {
        let why = format!(
            "spec.securityContext.{field} would change the ownership or labels of all existing \
             files on {volume}; leave it out, and use supplementalGroups or --user"
        );
        return Err(Error::PodOverrides { why });
    }
    let Volume::Claim { namespace, name } = volume else { return Ok(()) };
    let own = cluster.namespace();
    if let Some(theirs) = namespace.as_ref().filter(|theirs| *theirs != own) {
        return Err(Error::OtherNamespace { namespace: own.to_owned(), theirs: theirs.clone() });
    }
    let Some(claim) = claim(cluster, name)? else {
        return Err(Error::NoClaim { claim: name.clone(), namespace: own.to_owned() });
    };
    match claim.spec.and_then(|spec| spec.volume_mode).as_deref() {
        Some("Block") => Err(Error::RawClaim { claim: name.clone() }),
        _ => Ok(()),
    }
}

/// The class of a claim, and its volume.
#[derive(Debug, Default)]
pub(crate) struct Claimed {
    pub(crate) volume: Option<String>,
    pub(crate) class: Option<String>,
}

/// The same for a claim, as far as it is visible.
pub(crate) fn claimed(cluster: &Cluster, name: &str) -> Claimed {
    let spec = claim(cluster, name).ok().flatten().and_then(|claim| claim.spec);
    spec.map_or_else(Claimed::default, |spec| Claimed {
        volume: spec.volume_name,
        class: spec.storage_class_name,
    })
}

fn claim(cluster: &Cluster, name: &str) -> Result<Option<PersistentVolumeClaim>, Error> {
    let which = ListParams::default().fields(&format!("metadata.name={name}"));
    Ok(cluster.list(&which)?.into_iter().next())
}
