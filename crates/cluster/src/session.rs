//! The objects of a run in a cluster: created, kept and removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iotax_experiment::Fault;
use iotax_run::AgentError;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::connect::Cluster;
use crate::error::Error;
use crate::namespace::{self, Made};
use crate::objects::{Member, PodOptions, PodSecurity, Run};
use crate::remove::{is_up, wait};
use crate::remove::{remove, remove_pod};

/// Shows the user a note during the work.
pub type Note = Arc<dyn Fn(&str) + Send + Sync>;

/// Time between two renewals of a lease.
pub(crate) const RENEWAL: Duration = Duration::from_secs(10);

/// A run in a cluster. Its objects are removed when it ends, at the latest when it is dropped.
pub(crate) struct Session {
    cluster: Arc<Cluster>,
    run: Run,
    /// It owns everything else. It is created first, so that nothing exists without it.
    owner: Lease,
    renewal: JoinHandle<()>,
    /// Its own namespace, if it has one.
    namespace: Option<Made>,
    /// Notes for the user: what iotax waits for, and what could not be removed.
    pub(crate) note: Note,
    is_over: AtomicBool,
}

impl Session {
    /// `new_namespace`: the Pod Security level of the run's own namespace, if it gets one.
    pub(crate) fn begin(
        cluster: &Arc<Cluster>,
        new_namespace: Option<PodSecurity>,
        note: Note,
    ) -> Result<Self, Error> {
        let run = Run::new();
        let own_place = new_namespace.map(|_| Arc::new(cluster.at(&run.name())));
        let cluster = own_place.unwrap_or_else(|| Arc::clone(cluster));
        let make = |security| namespace::make(&cluster, &run, security);
        let namespace = new_namespace.map(make).transpose()?;
        let owner = match cluster.create(&run.lease(Timestamp::now())) {
            Ok(owner) => owner,
            Err(error) => {
                if let Some(made) = &namespace {
                    namespace::remove(&cluster, made)?;
                }
                return Err(error);
            }
        };
        let leases = cluster.api::<Lease>();
        let name = run.name();
        let renewal = cluster.runtime().spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                let renewed = json!({ "spec": { "renewTime": MicroTime(Timestamp::now()) } });
                // After a failure, others follow long before the lease ends.
                let _ = leases.patch(&name, &PatchParams::default(), &Patch::Merge(renewed)).await;
            }
        });
        let is_over = AtomicBool::new(false);
        Ok(Self { cluster, run, owner, renewal, namespace, note, is_over })
    }

    /// The cluster, with the namespace of the run.
    pub(crate) fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// Creates a pod, and the volume that is mounted in it.
    pub(crate) fn make(&self, member: &Member, options: &PodOptions) -> Result<(), Error> {
        let claim = member.volume.as_ref().and_then(|volume| {
            self.run.claim(member.number, volume, options.size_bytes, &self.owner)
        });
        claim.map(|claim| self.cluster.create(&claim)).transpose()?;
        self.make_pod(member, options)
    }

    fn make_pod(&self, member: &Member, options: &PodOptions) -> Result<(), Error> {
        self.cluster.create(&self.run.pod(member, options, &self.owner)).map(drop)
    }

    /// Creates a Service for a port of a pod, and returns it as the cluster has it.
    pub(crate) fn make_service(&self, member: &Member, port: u16) -> Result<Service, Error> {
        self.cluster.create(&self.run.service(member, port, &self.owner))
    }

    /// Recreates a pod that was removed or ended, for example because its node was lost. Its claim
    /// and the data on its volume stay.
    pub(crate) fn make_again_if_gone(
        &self,
        member: &Member,
        options: &PodOptions,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        if is_up(&self.cluster, &self.run, member)? {
            return Ok(());
        }
        (self.note)(&format!(
            "{}: its pod is gone or has ended; creating another one",
            member.told_as
        ));
        remove_pod(&self.cluster, &self.run, member)?;
        self.make_pod(member, options)?;
        let members = std::slice::from_ref(member);
        self.running(members, options, stop).map(drop)
    }

    /// Waits until pods run, which are returned in the order of `members`.
    pub(crate) fn running(
        &self,
        members: &[Member],
        options: &PodOptions,
        stop: &AtomicBool,
    ) -> Result<Vec<Pod>, Error> {
        wait(&self.cluster, &self.run, members, options.wait, stop, &self.note)
    }

    /// Removes everything of a run that could not start, and returns the reason.
    pub(crate) fn gave_up(session: Arc<Self>, error: iotax_run::Error) -> iotax_run::Error {
        match Self::left(session) {
            Ok(()) => error,
            Err(left) => {
                AgentError::Failed { error: format!("{error}\n{left}"), fault: Fault::Environment }
                    .into()
            }
        }
    }

    /// Leaves the run. The last one to leave removes everything.
    pub(crate) fn left(session: Arc<Self>) -> Result<(), Error> {
        Arc::into_inner(session).map_or(Ok(()), Self::end)
    }

    /// Removes everything of the run.
    pub(crate) fn end(self) -> Result<(), Error> {
        self.remove()
    }

    fn remove(&self) -> Result<(), Error> {
        self.is_over.store(true, Ordering::Relaxed);
        self.renewal.abort();
        remove(&self.cluster, &self.run)?;
        if let Some(made) = &self.namespace {
            namespace::remove(&self.cluster, made)?;
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.is_over.load(Ordering::Relaxed)
            && let Err(error) = self.remove()
        {
            (self.note)(&error.to_string());
        }
    }
}
