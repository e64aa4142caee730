//! A namespace that a run creates for itself, and removes with its content.

use std::thread;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{DeleteParams, ListParams, PostParams, Preconditions};

use crate::connect::Cluster;
use crate::error::{Call, Error};
use crate::objects::{MANAGED, PodSecurity, Run, run_of};
use crate::remove::until_gone;

/// How long a cluster may take to make it ready.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(200);
/// The account of pods that name none.
const ACCOUNT: &str = "default";

/// One that a run has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) name: String,
    /// Distinguishes it from a later namespace of the same name.
    uid: String,
    /// The run that made it.
    pub(crate) run: String,
}

impl Made {
    fn of(namespace: Namespace) -> Option<Self> {
        let run = run_of(&namespace.metadata)?;
        let metadata = namespace.metadata;
        Some(Self { name: metadata.name?, uid: metadata.uid?, run })
    }
}

/// Creates the namespace, and waits for its account for pods, without which pods are refused.
pub(crate) fn make(cluster: &Cluster, run: &Run, security: PodSecurity) -> Result<Made, Error> {
    let namespaces = cluster.api_of_all::<Namespace>();
    let (namespace, how) = (run.namespace(security), PostParams::default());
    let made = namespaces.create(&how, &namespace);
    let made = cluster.ask(Call::new("create", "namespaces"), made).map_err(in_all_of_it)?;
    let made = Made::of(made).expect("it is named and labeled");
    if let Err(error) = wait_for_account(cluster) {
        remove(cluster, &made)?;
        return Err(error);
    }
    Ok(made)
}

fn wait_for_account(cluster: &Cluster) -> Result<(), Error> {
    let accounts = cluster.api::<ServiceAccount>();
    let started = Instant::now();
    loop {
        let account = accounts.get(ACCOUNT);
        match cluster.ask_of(Call::new("get", "serviceaccounts"), account) {
            Ok(Some(_)) => return Ok(()),
            Ok(None) => {}
            Err(error) if error.may_pass() => {}
            Err(error) => return Err(error),
        }
        if started.elapsed() > PATIENCE {
            let namespace = cluster.namespace().to_owned();
            return Err(Error::NoServiceAccount { namespace, seconds: PATIENCE.as_secs() });
        }
        thread::sleep(LOOK);
    }
}

/// All namespaces in the cluster that runs created; none for users who may not list namespaces, who
/// cannot have created any.
pub(crate) fn all(cluster: &Cluster) -> Result<Vec<Made>, Error> {
    let namespaces = cluster.api_of_all::<Namespace>();
    let which = ListParams::default().labels(MANAGED);
    match cluster.ask(Call::new("list", "namespaces"), namespaces.list(&which)) {
        Ok(listed) => Ok(listed.into_iter().filter_map(Made::of).collect()),
        Err(Error::Forbidden { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Removes a namespace that a run created, and waits until it is gone.
pub(crate) fn remove(cluster: &Cluster, made: &Made) -> Result<String, Error> {
    let namespaces = cluster.api_of_all::<Namespace>();
    let this_one = Preconditions { uid: Some(made.uid.clone()), resource_version: None };
    let how = DeleteParams { preconditions: Some(this_one), ..DeleteParams::background() };
    let told_as = format!("Namespace {}", made.name);
    let mut is_asked = false;
    until_gone(&made.name, &made.run, Instant::now(), || {
        if !is_there(cluster, made).map_err(in_all_of_it)? {
            return Ok(Vec::new());
        }
        if !is_asked {
            let gone = namespaces.delete(&made.name, &how);
            cluster.ask_of(Call::new("delete", "namespaces"), gone).map_err(in_all_of_it)?;
            is_asked = true;
        }
        Ok(vec![told_as.clone()])
    })?;
    Ok(told_as)
}

fn is_there(cluster: &Cluster, made: &Made) -> Result<bool, Error> {
    let namespaces = cluster.api_of_all::<Namespace>();
    let there = namespaces.get(&made.name);
    let there = cluster.ask_of(Call::new("get", "namespaces"), there)?;
    Ok(there.and_then(Made::of).as_ref() == Some(made))
}

/// Turns an error into one that says that the right must be cluster-wide.
fn in_all_of_it(error: Error) -> Error {
    match error {
        Error::Forbidden { verb, resource, message, .. } => {
            Error::NamespaceForbidden { verb, resource, message }
        }
        other => other,
    }
}
