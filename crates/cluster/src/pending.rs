//! Why a pod does not start, from its status and its events.

use std::fmt;

use k8s_openapi::api::core::v1::{ContainerStatus, Event, Pod};

/// Why a pod does not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// What it waits for, or why it ended.
    pub cause: Cause,
    /// The messages of the cluster, one per line.
    pub told: Vec<String>,
    /// Whether waiting will not help.
    pub is_final: bool,
}

/// What a pod waits for, or why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A suitable node with enough room.
    Node,
    /// Its claim is not bound to a volume.
    Claim,
    /// Its volume is not attached or not mounted.
    Mount,
    Image,
    /// The runtime does not accept the pod's requests.
    Runtime,
    Ended,
    /// The cluster reports nothing.
    Unknown,
}

impl Cause {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Node => (
                "no node accepts it",
                "request less CPU or memory (--cpu, --memory), or choose other nodes with \
                 --node-selector",
            ),
            Self::Claim => (
                "there is no volume for its claim",
                "check that the class exists (`kubectl get storageclass`), and that it can create \
                 volumes of this --size on the node",
            ),
            Self::Mount => (
                "its volume cannot be attached or mounted",
                "see the CSI driver's log on the pod's node",
            ),
            Self::Image => (
                "its image cannot be pulled",
                "use --image to name an image that the node can pull, and --pull-secret to name \
                 its secret; without a registry, import the image on the node first",
            ),
            Self::Runtime => (
                "the node's container runtime rejects it",
                "the lines above show what the runtime rejects; --user, --cpu and --memory change \
                 what pods request",
            ),
            Self::Ended => (
                "it has ended",
                "check that the image contains this version of iotax; --memory may also be too low",
            ),
            Self::Unknown => ("the cluster gives no reason", "give it more time with --wait"),
        }
    }
}

impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, advice) = self.cause.words();
        f.write_str(what)?;
        for line in &self.told {
            write!(f, "\n  {line}")?;
        }
        write!(f, "\n{advice}")
    }
}

/// Reasons of a waiting container that are about its image, and whether waiting does not help. The
/// kubelet backs off after a second attempt.
const IMAGE: [(&str, bool); 6] = [
    ("ErrImageNeverPull", true),
    ("ErrImagePull", false),
    ("ImageInspectError", true),
    ("ImagePullBackOff", true),
    ("InvalidImageName", true),
    ("RegistryUnavailable", false),
];
/// Reasons about requests to the runtime.
const RUNTIME: [&str; 4] =
    ["CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError"];
/// Reasons of events, of the pod or of its claim.
const EVENTS: [(&str, Cause); 8] = [
    ("ProvisioningFailed", Cause::Claim),
    ("FailedBinding", Cause::Claim),
    ("FailedMount", Cause::Mount),
    ("FailedAttachVolume", Cause::Mount),
    ("FailedMapVolume", Cause::Mount),
    ("FailedCreatePodSandBox", Cause::Runtime),
    ("FailedScheduling", Cause::Node),
    ("Failed", Cause::Runtime),
];

/// Whether its container runs.
pub(crate) fn is_running(pod: &Pod) -> bool {
    container(pod).is_some_and(|container| {
        container.state.as_ref().is_some_and(|state| state.running.is_some())
    })
}

/// Why a pod does not run, if the cluster reports it. `events` are those of the pod and of its
/// claim.
pub(crate) fn pending(pod: &Pod, events: &[Event]) -> Option<Pending> {
    let of_container = ended(pod).or_else(|| waiting(pod));
    let mut found = of_container.or_else(|| unscheduled(pod)).or_else(|| of_events(events))?;
    // The reason for a missing volume is in the events of the claim, not of the pod.
    if found.cause == Cause::Node && events.iter().any(|event| cause(event) == Some(Cause::Claim)) {
        found.cause = Cause::Claim;
    }
    for line in warnings(events) {
        let is_said = found.told.iter().any(|told| line.ends_with(told) || told.ends_with(&line));
        if !is_said {
            found.told.push(line);
        }
    }
    Some(found)
}

/// For a pod that did not start in time without a known reason: all warnings.
pub(crate) fn unexplained(events: &[Event]) -> Pending {
    let told = events.iter().filter_map(line).collect();
    Pending { cause: Cause::Unknown, told, is_final: true }
}

fn container(pod: &Pod) -> Option<&ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()
}

fn ended(pod: &Pod) -> Option<Pending> {
    let status = pod.status.as_ref()?;
    let phase = status.phase.as_deref().unwrap_or_default();
    let end = container(pod).and_then(|container| container.state.as_ref()?.terminated.as_ref());
    if !matches!(phase, "Failed" | "Succeeded") && end.is_none() {
        return None;
    }
    let of_pod = in_words(status.reason.as_deref(), status.message.as_deref());
    let of_container = end.map(|end| {
        let reason = end.reason.as_deref().unwrap_or("Ended");
        let reason = format!("{reason} (exit code {})", end.exit_code);
        in_words(Some(&reason), end.message.as_deref()).unwrap_or(reason)
    });
    let told = of_pod.into_iter().chain(of_container).collect();
    Some(Pending { cause: Cause::Ended, told, is_final: true })
}

fn waiting(pod: &Pod) -> Option<Pending> {
    let waiting = container(pod)?.state.as_ref()?.waiting.as_ref()?;
    let reason = waiting.reason.as_deref()?;
    let (cause, is_final) = match IMAGE.iter().find(|(known, _)| *known == reason) {
        Some((_, is_final)) => (Cause::Image, *is_final),
        None if RUNTIME.contains(&reason) => (Cause::Runtime, true),
        None => return None,
    };
    let told = in_words(Some(reason), waiting.message.as_deref()).into_iter().collect();
    Some(Pending { cause, told, is_final })
}

fn unscheduled(pod: &Pod) -> Option<Pending> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let condition = conditions.iter().find(|condition| {
        condition.type_ == "PodScheduled"
            && condition.status == "False"
            && condition.reason.as_deref() == Some("Unschedulable")
    })?;
    let message = condition.message.as_deref().unwrap_or("Unschedulable");
    let is_about_volumes = ["persistentvolumeclaim", "PersistentVolumeClaim", "persistent volume"];
    let is_claim = is_about_volumes.iter().any(|words| message.contains(words));
    let cause = if is_claim { Cause::Claim } else { Cause::Node };
    Some(Pending { cause, told: vec![one_line(message)], is_final: false })
}

fn of_events(events: &[Event]) -> Option<Pending> {
    let cause = events.iter().rev().find_map(cause)?;
    Some(Pending { cause, told: Vec::new(), is_final: false })
}

fn cause(event: &Event) -> Option<Cause> {
    let reason = event.reason.as_deref().filter(|_| event.type_.as_deref() == Some("Warning"))?;
    EVENTS.iter().find(|(known, _)| *known == reason).map(|(_, cause)| *cause)
}

/// Warnings, each text once.
fn warnings(events: &[Event]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for event in events.iter().filter(|event| event.type_.as_deref() == Some("Warning")) {
        lines.extend(line(event).filter(|line| !lines.contains(line)));
    }
    lines
}

fn line(event: &Event) -> Option<String> {
    in_words(event.reason.as_deref(), event.message.as_deref())
}

fn in_words(reason: Option<&str>, message: Option<&str>) -> Option<String> {
    let parts = [reason, message].into_iter().flatten().filter(|part| !part.is_empty());
    let said = parts.map(one_line).collect::<Vec<_>>().join(": ");
    (!said.is_empty()).then_some(said)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn found(status: &Value, events: &Value) -> Option<Pending> {
        let pod = json!({ "metadata": { "name": "p" }, "status": status });
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let events: Vec<Event> = serde_json::from_value(events.clone()).unwrap();
        pending(&pod, &events)
    }

    fn event(kind: &str, reason: &str, message: &str) -> Value {
        json!({
            "metadata": { "name": "e" },
            "involvedObject": {},
            "type": kind,
            "reason": reason,
            "message": message,
        })
    }

    fn waits(reason: &str, message: &str) -> Value {
        json!({ "phase": "Pending", "containerStatuses": [{
            "name": "iotax", "image": "x", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "waiting": { "reason": reason, "message": message } },
        }]})
    }

    fn unscheduled(message: &str) -> Value {
        json!({ "phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": message,
        }]})
    }

    #[test]
    fn a_pod_that_is_being_made_has_no_reason() {
        assert_eq!(found(&json!({ "phase": "Pending" }), &json!([])), None);
        assert_eq!(found(&waits("ContainerCreating", ""), &json!([])), None);
        let scheduled = json!([event("Normal", "Scheduled", "assigned to n1")]);
        assert_eq!(found(&waits("ContainerCreating", ""), &scheduled), None);
    }

    #[test]
    fn no_room_is_told_as_the_scheduler_tells_it_and_once() {
        let message = "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate";
        let events = json!([event("Warning", "FailedScheduling", message)]);
        let found = found(&unscheduled(message), &events).unwrap();
        assert!(!found.is_final);
        insta::assert_snapshot!(found, @"
        no node accepts it
          0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate
        request less CPU or memory (--cpu, --memory), or choose other nodes with --node-selector
        ");
    }

    #[test]
    fn a_class_that_is_not_there_is_told_by_the_claim() {
        let events = json!([event(
            "Warning",
            "ProvisioningFailed",
            "storageclass.storage.k8s.io \"fsat\" not found"
        )]);
        let found = found(
            &unscheduled(
                "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
            ),
            &events,
        );
        insta::assert_snapshot!(found.unwrap(), @r#"
        there is no volume for its claim
          0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.
          ProvisioningFailed: storageclass.storage.k8s.io "fsat" not found
        check that the class exists (`kubectl get storageclass`), and that it can create volumes of this --size on the node
        "#);
    }

    #[test]
    fn an_image_that_is_pulled_in_vain_ends_the_wait_at_the_second_attempt() {
        let first = found(&waits("ErrImagePull", "not\nfound"), &json!([])).unwrap();
        assert_eq!((first.cause, first.is_final), (Cause::Image, false));
        assert_eq!(first.told, ["ErrImagePull: not found"]);
        let events = json!([event("Warning", "Failed", "Failed to pull image \"x\": not found")]);
        let second = found(&waits("ImagePullBackOff", "Back-off pulling image"), &events).unwrap();
        assert!(second.is_final);
        insta::assert_snapshot!(second, @r#"
        its image cannot be pulled
          ImagePullBackOff: Back-off pulling image
          Failed: Failed to pull image "x": not found
        use --image to name an image that the node can pull, and --pull-secret to name its secret; without a registry, import the image on the node first
        "#);
    }

    #[test]
    fn a_volume_that_cannot_be_mounted_is_told_by_events() {
        let events = json!([event("Warning", "FailedMount", "MountVolume.SetUp failed")]);
        let found = found(&waits("ContainerCreating", ""), &events).unwrap();
        assert_eq!((found.cause, found.is_final), (Cause::Mount, false));
        assert_eq!(found.told, ["FailedMount: MountVolume.SetUp failed"]);
    }

    #[test]
    fn a_pod_that_has_ended_says_how() {
        let mut status = waits("", "");
        status["phase"] = json!("Failed");
        status["containerStatuses"][0]["state"] =
            json!({ "terminated": { "exitCode": 2, "reason": "Error" } });
        let found = found(&status, &json!([])).unwrap();
        assert!(found.is_final);
        insta::assert_snapshot!(found, @"
        it has ended
          Error (exit code 2)
        check that the image contains this version of iotax; --memory may also be too low
        ");
    }

    #[test]
    fn what_nothing_explains_comes_with_all_that_was_told() {
        let events = json!([event("Normal", "WaitForFirstConsumer", "waiting for first consumer")]);
        let events: Vec<Event> = serde_json::from_value(events).unwrap();
        insta::assert_snapshot!(unexplained(&events), @"
        the cluster gives no reason
          WaitForFirstConsumer: waiting for first consumer
        give it more time with --wait
        ");
    }
}
