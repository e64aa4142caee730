//! Records a container of a pod, by a privileged pod on the same node.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use iotax_run::AgentError;
use iotax_run::agent::{RecordingProgress, fetch_recording};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::api::ListParams;

use crate::agent::PodAgent;
use crate::connect::Cluster;
use crate::error::Error;
use crate::objects::{
    Amounts, Container, Member, PodOptions, PodSecurity, RECORDING, Recording, Toleration,
};
use crate::session::{Note, Session};

/// What the recorder itself needs: the kernel's types and its rings.
const OWN_BYTES: u64 = 256 << 20;
/// A recording is checked against its limit now and then, so it can become a little larger.
const EXCESS_BYTES: u64 = 32 << 20;
/// For the start of the pod and the transfer.
const MORE_TIME: Duration = Duration::from_mins(15);

/// What to record.
pub struct RecordRequest<'a> {
    pub pod: &'a str,
    /// Needed if the pod has several.
    pub container: Option<&'a str>,
    /// Namespace for the recorder, if it is not that of the pod.
    pub recorder_namespace: Option<&'a str>,
    /// When the recording ends by itself.
    pub time: Option<Duration>,
    /// The size at which it ends.
    pub bytes: u64,
    /// Options of `iotax capture`, including these limits.
    pub words: &'a [String],
    /// Options of the recorder's pod. Its memory depends on the size of the recording.
    pub options: &'a PodOptions,
    /// Set from outside to end the recording early.
    pub stop: &'a Arc<AtomicBool>,
    /// Notes for the user: what iotax waits for, and what could not be removed.
    pub note: Note,
    /// Called with the progress.
    pub tell: &'a mut dyn FnMut(&RecordingProgress),
    /// Gets the recording.
    pub file: &'a mut dyn Write,
}

/// Records a container, writes the recording to the file, and removes the recorder. Returns an
/// error if the recorder could not be removed.
///
/// # Errors
/// If there is no such running container, or if it cannot be recorded from its node. Then
/// everything is removed again.
pub fn record(
    cluster: &Cluster,
    request: &mut RecordRequest<'_>,
) -> Result<Result<(), Error>, iotax_run::Error> {
    let subject = Subject::find(cluster, request.pod, request.container)?;
    let place = request.recorder_namespace.unwrap_or(cluster.namespace());
    let new_namespace = request.options.create_namespace.then_some(PodSecurity::Privileged);
    let note = Arc::clone(&request.note);
    let session = Session::begin(&Arc::new(cluster.at(place)), new_namespace, note)?;
    let session = Arc::new(session);
    match recorded(&session, &subject, request) {
        Ok(()) => Ok(Session::left(session)),
        Err(error) => Err(Session::gave_up(session, error)),
    }
}

fn recorded(
    session: &Arc<Session>,
    subject: &Subject,
    request: &mut RecordRequest<'_>,
) -> Result<(), iotax_run::Error> {
    let RecordRequest { options, stop, .. } = *request;
    let options = on_every_node(options);
    let member = member(subject, request.time, request.bytes, &options);
    let namespace = session.cluster().namespace();
    session.make(&member, &options).map_err(|error| error.of_recorder(namespace))?;
    session.running(std::slice::from_ref(&member), &options, stop)?;
    let agent = PodAgent::new(session, member, &options, stop);
    let file = format!("{RECORDING}/app.iotx");
    let mut words =
        vec!["iotax", "capture", "--to-client", "--container", &subject.id, "--out", &file];
    words.extend(request.words.iter().map(String::as_str));
    let recorder = agent.start(&words)?;
    let name = format!("recorder in pod {namespace}/{}", agent.pod());
    let fetched = fetch_recording(&name, recorder, stop, request.tell, request.file);
    fetched.map_err(|error| match error {
        iotax_run::Error::Agent(AgentError::Failed { error, fault }) => {
            let error = format!("node {}: {error}", subject.node);
            AgentError::Failed { error, fault }.into()
        }
        other => other,
    })
}

/// The pod to record runs there, so its node's taints and labels do not matter.
pub(crate) fn on_every_node(options: &PodOptions) -> PodOptions {
    let all = Toleration { key: None, value: None, effect: None };
    PodOptions { tolerations: vec![all], node_selector: BTreeMap::new(), ..options.clone() }
}

/// The recorder of a container.
pub(crate) fn member(
    subject: &Subject,
    time: Option<Duration>,
    bytes: u64,
    options: &PodOptions,
) -> Member {
    let bytes = bytes.saturating_add(EXCESS_BYTES);
    let longest = time.map(|time| time + options.wait + MORE_TIME);
    let amounts =
        Amounts { memory_bytes: bytes.saturating_add(OWN_BYTES), ..options.amounts.clone() };
    Member {
        number: 0,
        told_as: "recorder".to_owned(),
        volume: None,
        node: Some(subject.node.clone()),
        apart: None,
        is_on_host_network: false,
        sight: None,
        recording: Some(Recording { bytes, longest }),
        containers: vec![Container::only(&amounts)],
    }
}

// The container to record.

/// A running container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) node: String,
    /// The runtime's ID, without the runtime's name.
    pub(crate) id: String,
}

impl Subject {
    fn find(cluster: &Cluster, pod: &str, container: Option<&str>) -> Result<Self, Error> {
        let which = ListParams::default().fields(&format!("metadata.name={pod}"));
        let is_it = |other: &Pod| other.metadata.name.as_deref() == Some(pod);
        if let Some(found) = cluster.list::<Pod>(&which)?.into_iter().find(is_it) {
            return Self::of(&found, pod, container);
        }
        let all = cluster.list::<Pod>(&ListParams::default())?;
        let names = all.into_iter().filter_map(|pod| pod.metadata.name);
        let (pod, namespace) = (pod.to_owned(), cluster.namespace().to_owned());
        let similar = similar(&pod, names.collect());
        Err(Error::NoPod { pod, namespace, similar })
    }

    fn of(found: &Pod, pod: &str, container: Option<&str>) -> Result<Self, Error> {
        let pod = pod.to_owned();
        let status = found.status.clone().unwrap_or_default();
        let phase = status.phase.unwrap_or_default();
        let node = found.spec.as_ref().and_then(|spec| spec.node_name.clone());
        let Some(node) = node.filter(|_| phase == "Running") else {
            return Err(Error::PodNotRunning { pod, phase });
        };
        let regular = status.container_statuses.unwrap_or_default();
        let names =
            |all: &[ContainerStatus]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        let of_pod = names(&regular);
        let name = match (container, of_pod.as_slice()) {
            (Some(container), _) => container.to_owned(),
            (None, [only]) => only.clone(),
            (None, _) => return Err(Error::SeveralContainers { pod, containers: of_pod }),
        };
        // Sidecars are init containers that do not end.
        let others = [status.init_container_statuses, status.ephemeral_container_statuses];
        let all: Vec<_> =
            regular.into_iter().chain(others.into_iter().flatten().flatten()).collect();
        let Some(status) = all.iter().find(|one| one.name == name) else {
            let containers = names(&all);
            return Err(Error::NoContainer { pod, container: name, containers });
        };
        let id = status.container_id.as_deref().and_then(|id| id.split_once("://"));
        match (state(status), id) {
            (None, Some((_, id))) => Ok(Self { node, id: id.to_owned() }),
            (why, _) => {
                let why = why.unwrap_or_else(|| "it has no ID yet".to_owned());
                Err(Error::ContainerNotRunning { pod, container: name, why })
            }
        }
    }
}

/// Why a container does not run; `None` if it does.
fn state(status: &ContainerStatus) -> Option<String> {
    let state = status.state.clone().unwrap_or_default();
    if state.running.is_some() {
        return None;
    }
    let reason = state.waiting.and_then(|waiting| waiting.reason);
    let ended = state.terminated.map(|end| format!("it ended with exit code {}", end.exit_code));
    Some(reason.or(ended).unwrap_or_else(|| "it has not started".to_owned()))
}

/// The pods that the user may have meant: those whose names share the longest beginning with the
/// given name, or contain it.
fn similar(pod: &str, names: Vec<String>) -> Vec<String> {
    let common = |name: &String| {
        let pairs = name.bytes().zip(pod.bytes());
        if name.contains(pod) { pod.len() } else { pairs.take_while(|(a, b)| a == b).count() }
    };
    let longest = names.iter().map(common).max().unwrap_or_default();
    let mut similar: Vec<String> =
        names.into_iter().filter(|name| longest > 0 && common(name) == longest).collect();
    similar.sort();
    similar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_pods_share_the_longest_beginning_or_contain_the_name() {
        let names = ["web-1", "db-0", "db-1", "db-backup-7", "shop-db-0"];
        let of = |pod: &str| similar(pod, names.map(str::to_owned).to_vec()).join(" ");
        assert_eq!(of("db-2"), "db-0 db-1 db-backup-7");
        assert_eq!(of("db-b"), "db-backup-7");
        assert_eq!(of("db"), "db-0 db-1 db-backup-7 shop-db-0");
        assert_eq!(of("web"), "web-1");
        assert_eq!(of("x"), "");
    }
}
