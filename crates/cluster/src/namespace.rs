//! A namespace that a run makes for itself, and removes again.

use std::fmt::Debug;
use std::thread;
use std::time::{Duration, Instant};

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, PersistentVolumeClaim, Pod, ServiceAccount};
use kube::Resource;
use kube::api::{DeleteParams, ListParams, PostParams};
use serde::de::DeserializeOwned;

use crate::connect::Cluster;
use crate::error::{Call, Error};
use crate::objects::{PodSecurity, Run, run_of};

/// So long may a cluster take to make it ready, and to remove it.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(200);
/// Pods are of this account if they name none.
const ACCOUNT: &str = "default";

/// Makes the cluster's namespace, if it is not there: whether it was made. Then pods wait for their
/// account.
pub(crate) fn make(cluster: &Cluster, run: &Run, security: PodSecurity) -> Result<bool, Error> {
    let namespaces = cluster.api_of_all::<Namespace>();
    let namespace = run.namespace(cluster.namespace(), security);
    let how = PostParams::default();
    let made = cluster.ask(Call::new("create", "namespaces"), async {
        match namespaces.create(&how, &namespace).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(false),
            other => other.map(|_| true),
        }
    });
    made.map_err(in_all_of_it)
}

/// Waits for the account of pods in a new namespace, without which they are refused.
pub(crate) fn wait_for_account(cluster: &Cluster) -> Result<(), Error> {
    let accounts = cluster.api::<ServiceAccount>();
    let started = Instant::now();
    loop {
        let account = accounts.get(ACCOUNT);
        if cluster.ask_of(Call::new("get", "serviceaccounts"), account)?.is_some() {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            let namespace = cluster.namespace().to_owned();
            return Err(Error::NoServiceAccount { namespace, seconds: PATIENCE.as_secs() });
        }
        thread::sleep(LOOK);
    }
}

/// The run that made the cluster's namespace; `None` if it is somebody's, is not there, or may not be
/// looked at, as by users who cannot make any.
pub(crate) fn maker(cluster: &Cluster) -> Result<Option<String>, Error> {
    let namespaces = cluster.api_of_all::<Namespace>();
    let namespace = namespaces.get(cluster.namespace());
    match cluster.ask_of(Call::new("get", "namespaces"), namespace) {
        Ok(namespace) => Ok(namespace.and_then(|namespace| run_of(&namespace.metadata))),
        Err(Error::Forbidden { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes the namespace that a run made, when nothing of anybody is in it any more, and waits until
/// it is gone.
pub(crate) fn remove(cluster: &Cluster, run: &Run) -> Result<String, Error> {
    let mut left = names::<Pod>(cluster, "pods")?;
    left.extend(names::<PersistentVolumeClaim>(cluster, "persistentvolumeclaims")?);
    left.extend(names::<Lease>(cluster, "leases")?);
    let remains = |what: String| Error::Left {
        namespace: cluster.namespace().to_owned(),
        run: run.id.clone(),
        what,
    };
    if !left.is_empty() {
        let left = left.join(", ");
        return Err(remains(format!("the namespace stays, since others use it: {left}")));
    }
    let (namespaces, how) = (cluster.api_of_all::<Namespace>(), DeleteParams::background());
    let started = Instant::now();
    loop {
        let gone = namespaces.delete(cluster.namespace(), &how);
        if cluster.ask_of(Call::new("delete", "namespaces"), gone).map_err(in_all_of_it)?.is_none()
        {
            return Ok(format!("Namespace {}", cluster.namespace()));
        }
        if started.elapsed() > PATIENCE {
            return Err(remains("the namespace is still being deleted".to_owned()));
        }
        thread::sleep(LOOK);
    }
}

/// What there is of one kind, whoever's it is.
fn names<K>(cluster: &Cluster, resource: &'static str) -> Result<Vec<String>, Error>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + DeserializeOwned
        + Debug,
{
    let objects = cluster.api::<K>();
    let which = ListParams::default();
    let listed = cluster.ask(Call::new("list", resource), objects.list(&which))?;
    let name = |object: K| Some(format!("{} {}", K::kind(&()), object.meta().name.as_ref()?));
    Ok(listed.into_iter().filter_map(name).collect())
}

/// No role of a namespace gives this right.
fn in_all_of_it(error: Error) -> Error {
    match error {
        Error::Forbidden { verb, resource, message, .. } => {
            Error::NamespaceForbidden { verb, resource, message }
        }
        other => other,
    }
}
