//! The pods of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::overrides::PodOverrides;
use super::volume::{VOLUME, quantity};
use super::{LEASE, MEMBER, RUN, Run};
use crate::place::{ArmPlace, Volume};

/// The container of a pod that has one.
const CONTAINER: &str = "iotax";
/// The directory of agents' journals. It ends with the pod, and nobody else can write there.
const STATE: &str = "/dev/shm";
/// How long a pod gets to remove what its agents left on existing volumes, and to end.
const GRACE_SECONDS: u32 = 10;
/// No pod lives longer, whatever happens to everything else.
const LONGEST_SECONDS: u64 = 24 * 60 * 60;

/// A pod of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its number in the run, which its objects are named by.
    pub(crate) number: usize,
    /// Its name in messages: `arm fast`.
    pub(crate) told_as: String,
    /// The volume that is mounted in each of its containers.
    pub(crate) volume: Option<Volume>,
    /// The required node.
    pub(crate) node: Option<String>,
    /// Another pod of the run that it must be kept apart from.
    pub(crate) apart: Option<Apart>,
    /// Whether its network is the node's own.
    pub(crate) is_on_host_network: bool,
    /// How it examines storage, if that is its only purpose: existing volumes are mounted
    /// read-only.
    pub(crate) sight: Option<Sight>,
    /// The recording that it makes of another pod on its node, if that is its only purpose.
    pub(crate) recording: Option<Recording>,
    /// One or more; agents are started in any of them.
    pub(crate) containers: Vec<Container>,
}

impl Member {
    /// The pod of an arm, with one container, or one that writes and one that reads.
    pub(crate) fn of_arm(number: usize, arm: &str, place: &ArmPlace, options: &PodOptions) -> Self {
        let PodOptions { amounts, driver, .. } = options;
        Self {
            number,
            told_as: format!("arm {arm}"),
            volume: Some(place.volume.clone()),
            node: place.node.clone(),
            apart: None,
            is_on_host_network: false,
            sight: None,
            recording: None,
            containers: match driver {
                None => vec![Container::only(amounts)],
                Some(driver) => {
                    vec![Container::new("driver", driver), Container::new("searcher", amounts)]
                }
            },
        }
    }
}

impl Member {
    /// Whether its volume existed before and is only examined.
    fn is_kept_as_it_is(&self) -> bool {
        self.sight.is_some() && self.volume.as_ref().is_some_and(Volume::is_theirs)
    }

    /// Whether its volume is a device, without a file system.
    fn has_device(&self) -> bool {
        let is_raw = self.sight.is_some_and(|sight| sight.is_raw);
        is_raw || matches!(self.volume, Some(Volume::Block(_)))
    }
}

/// What two pods must not share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Apart {
    /// The number of the other pod.
    pub(crate) from: usize,
    /// The label of nodes whose value they must not share, where both nodes have one.
    pub(crate) topology: &'static str,
}

/// A container of a pod, which waits for agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    pub(crate) name: String,
    pub(crate) amounts: Amounts,
}

impl Container {
    /// The only one of a pod.
    pub(crate) fn only(amounts: &Amounts) -> Self {
        Self::new(CONTAINER, amounts)
    }

    fn new(name: &str, amounts: &Amounts) -> Self {
        Self { name: name.to_owned(), amounts: amounts.clone() }
    }
}

impl Run {
    /// The main program of each container only waits. Agents are started in the container, and it
    /// ends when there was none for a little longer than pods may take to start. It needs no
    /// signal, because an agent ends with the connection to its client.
    pub(crate) fn pod(&self, member: &Member, options: &PodOptions, owner: &Lease) -> Pod {
        let Member { number, volume, is_on_host_network, .. } = member;
        let volumes = volume.iter().map(|volume| {
            let volume = self.volume(*number, volume, options.size_bytes);
            if member.is_kept_as_it_is() { read_only(volume) } else { volume }
        });
        let secrets: Vec<Value> =
            options.pull_secrets.iter().map(|name| json!({ "name": name })).collect();
        let tolerations: Vec<Value> = options.tolerations.iter().map(toleration).collect();
        let containers = member.containers.iter().map(|one| container(one, member, options));
        let mut pod = json!({
            "metadata": self.metadata(&self.member(*number), owner),
            "spec": {
                "restartPolicy": "Never",
                "activeDeadlineSeconds": LONGEST_SECONDS,
                "terminationGracePeriodSeconds": GRACE_SECONDS,
                "automountServiceAccountToken": false,
                "enableServiceLinks": false,
                "nodeSelector": options.node_selector,
                "imagePullSecrets": secrets,
                "tolerations": tolerations,
                "affinity": self.affinity(member),
                "securityContext": user(options.user, volume.as_ref()),
                "volumes": volumes.collect::<Vec<_>>(),
                "containers": containers.collect::<Vec<_>>(),
            },
        });
        pod["metadata"]["labels"][MEMBER] = json!(number.to_string());
        if *is_on_host_network {
            pod["spec"]["hostNetwork"] = json!(true);
        }
        if member.sight.is_some_and(|sight| sight.is_privileged) {
            privilege(&mut pod["spec"]);
        }
        if let Some(recording) = &member.recording {
            let_record(&mut pod["spec"], *recording);
        }
        options.overrides.applied_to(serde_json::from_value(pod).expect("it is a pod"))
    }

    /// Puts the pod on the requested node. Without one, the pods are on a common node if their
    /// volumes allow it.
    fn affinity(&self, member: &Member) -> Value {
        let Some(Apart { from, topology }) = &member.apart else {
            return self.node_or_company(member);
        };
        let mut affinity = match &member.node {
            Some(_) => self.node_or_company(member),
            None => json!({}),
        };
        affinity["podAntiAffinity"] = json!({
            "requiredDuringSchedulingIgnoredDuringExecution": [{
                "topologyKey": topology,
                "labelSelector": { "matchLabels": { RUN: self.id, MEMBER: from.to_string() } },
            }],
        });
        affinity
    }

    fn node_or_company(&self, member: &Member) -> Value {
        if let Some(node) = &member.node {
            // Not by the label of a host name, which need not be the node's.
            return json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{ "matchFields": [
                    { "key": "metadata.name", "operator": "In", "values": [node] },
                ]}],
            }}});
        }
        json!({ "podAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 100,
            "podAffinityTerm": {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": { "matchLabels": { RUN: self.id } },
            },
        }]}})
    }
}

fn container(container: &Container, member: &Member, options: &PodOptions) -> Value {
    let Container { name, amounts: Amounts { cpu, memory_bytes } } = container;
    let amounts = json!({ "cpu": cpu, "memory": quantity(*memory_bytes) });
    let mut container = json!({
        "name": name,
        "image": options.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["iotax", "agent", "--keep", format!("{}s", keep(member, options).as_secs())],
        "env": [{ "name": "IOTAX_STATE_DIR", "value": format!("{STATE}/{name}") }],
        "resources": { "requests": amounts, "limits": amounts },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
    });
    if let Some(volume) = &member.volume {
        if member.has_device() {
            let device = json!({ "name": VOLUME, "devicePath": volume.path() });
            container["volumeDevices"] = json!([device]);
        } else {
            let mut mount = json!({ "name": VOLUME, "mountPath": volume.path() });
            if member.is_kept_as_it_is() {
                mount["readOnly"] = json!(true);
            }
            container["volumeMounts"] = json!([mount]);
        }
    }
    container
}

fn toleration(taint: &Toleration) -> Value {
    let Toleration { key, value, effect } = taint;
    let operator = if value.is_some() { "Equal" } else { "Exists" };
    json!({ "key": key, "operator": operator, "value": value, "effect": effect })
}

/// The user of a pod, and the group of its volume. The group is not set for existing volumes,
/// because the cluster would change the owner of all their files.
fn user(user: Option<u32>, volume: Option<&Volume>) -> Value {
    let mut context = json!({
        "runAsNonRoot": true,
        "seccompProfile": { "type": "RuntimeDefault" },
    });
    if let Some(user) = user {
        context["runAsUser"] = json!(user);
        context["runAsGroup"] = json!(user);
        if !volume.is_some_and(Volume::is_theirs) {
            context["fsGroup"] = json!(user);
            context["fsGroupChangePolicy"] = json!("OnRootMismatch");
        }
    }
    context
}

/// How long a pod waits for its agent. Other pods of the run may take long to start; a recorder is
/// the only pod of its run.
fn keep(member: &Member, options: &PodOptions) -> Duration {
    if member.recording.is_some() { LEASE } else { 2 * options.wait + LEASE }
}

// Pods that only examine storage.

/// Mount point of the node's root directory in a privileged pod.
pub(crate) const NODE_ROOT: &str = "/node";
const ROOT: &str = "root";

/// How a pod examines storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight {
    /// Whether its volume is a device, without a file system.
    pub(crate) is_raw: bool,
    /// Whether it sees its node as root.
    pub(crate) is_privileged: bool,
}

/// A volume that no container can write to. For claims, drivers know this, too, and kubelets do not
/// change the owner and the `SELinux` labels.
fn read_only(mut volume: Value) -> Value {
    volume["persistentVolumeClaim"]["readOnly"] = json!(true);
    volume
}

/// Makes all containers of a pod root on their node. They see its file systems read-only; below the
/// root this needs a kernel and runtime with recursive read-only mounts. Network file systems are
/// reached through the node's network.
///
/// The process namespace of the node is not needed.
fn privilege(spec: &mut Value) {
    spec["hostNetwork"] = json!(true);
    spec["securityContext"] = json!({ "runAsUser": 0, "runAsGroup": 0 });
    push(
        &mut spec["volumes"],
        json!({ "name": ROOT, "hostPath": { "path": "/", "type": "Directory" } }),
    );
    for container in spec["containers"].as_array_mut().into_iter().flatten() {
        container["securityContext"] =
            json!({ "privileged": true, "readOnlyRootFilesystem": true });
        push(
            &mut container["volumeMounts"],
            json!({
                "name": ROOT,
                "mountPath": NODE_ROOT,
                "readOnly": true,
                "recursiveReadOnly": "IfPossible",
            }),
        );
    }
}

// Pods that record other pods.

/// Where a recording is until it is complete.
pub(crate) const RECORDING: &str = "/recording";
const MEMORY: &str = "recording";
/// CPU request of a recorder, which must fit on the node of the pod that it records.
const RECORDER_CPU: &str = "50m";

/// A recording of another pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recording {
    /// Its maximum size.
    pub(crate) bytes: u64,
    /// How long its pod may live.
    pub(crate) longest: Option<Duration>,
}

/// Lets the container of a pod load BPF programs, and see the processes of its node. The recording
/// stays in memory: on a disk, writing it could disturb the recorded pod.
fn let_record(spec: &mut Value, recording: Recording) {
    let Recording { bytes, longest } = recording;
    spec["hostPID"] = json!(true);
    if let Some(longest) = longest {
        spec["activeDeadlineSeconds"] = json!(longest.as_secs().min(LONGEST_SECONDS));
    }
    spec["securityContext"] = json!({ "runAsUser": 0, "runAsGroup": 0 });
    let memory = json!({ "medium": "Memory", "sizeLimit": quantity(bytes) });
    push(&mut spec["volumes"], json!({ "name": MEMORY, "emptyDir": memory }));
    for container in spec["containers"].as_array_mut().into_iter().flatten() {
        container["resources"]["requests"]["cpu"] = json!(RECORDER_CPU);
        container["securityContext"] =
            json!({ "privileged": true, "readOnlyRootFilesystem": true });
        push(&mut container["volumeMounts"], json!({ "name": MEMORY, "mountPath": RECORDING }));
    }
}

fn push(list: &mut Value, item: Value) {
    match list {
        Value::Array(list) => list.push(item),
        other => *other = json!([item]),
    }
}

// Options of the pods of a run.

/// Options of the pods.
#[derive(Debug, Clone)]
pub struct PodOptions {
    /// The image: iotax of the same version as this one.
    pub image: String,
    pub pull_secrets: Vec<String>,
    /// Size of each volume.
    pub size_bytes: u64,
    /// Resources of each container.
    pub amounts: Amounts,
    /// Resources of the container that writes, if a workload is divided between two containers.
    pub driver: Option<Amounts>,
    /// Labels that nodes must have.
    pub node_selector: BTreeMap<String, String>,
    /// Further fields that the user sets.
    pub overrides: PodOverrides,
    /// Whether the run is to have a namespace of its own.
    pub create_namespace: bool,
    /// Taints that the pods tolerate.
    pub tolerations: Vec<Toleration>,
    /// The user that everything runs as; `None` if the cluster chooses, as OpenShift does.
    pub user: Option<u32>,
    /// How long pods may take to start.
    pub wait: Duration,
}

/// Requests and limits of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amounts {
    /// CPUs, in Kubernetes' syntax.
    pub cpu: String,
    pub memory_bytes: u64,
}

/// A taint that pods tolerate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toleration {
    /// Its key; `None` for any.
    pub key: Option<String>,
    /// Its value; `None` for any.
    pub value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`; `None` for any.
    pub effect: Option<String>,
}
