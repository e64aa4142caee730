//! Pods that record other pods.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::server::Server;
use super::{ALL, cluster, options, silent};
use crate::job::RIGHTS;
use crate::objects::{PodOptions, Run};
use crate::recorder::{RecordRequest, Subject, member, on_every_node, record};
use crate::session::Session;
use crate::undo::undo;

const ID: &str = "4f2f51b0ea1ddaec1145dc0582cf8641d93a485f00112233445566778899aabb";

/// A container in a pod's status.
fn container(name: &str, state: &Value) -> Value {
    json!({
        "name": name, "image": "x", "imageID": "", "ready": true, "restartCount": 0,
        "containerID": format!("containerd://{ID}"), "state": state,
    })
}

fn running(name: &str) -> Value {
    container(name, &json!({ "running": {} }))
}

fn pod(name: &str, phase: &str, containers: &[Value]) -> Value {
    json!({
        "metadata": { "name": name, "namespace": "bench" },
        "spec": { "nodeName": "n1", "containers": [] },
        "status": { "phase": phase, "containerStatuses": containers },
    })
}

/// A cluster with a pod to record.
fn server() -> Arc<Server> {
    let server = Server::new();
    server.put("pods", &pod("db-0", "Running", &[running("db")]));
    server
}

/// What a request leads to that gets no recording.
fn failed(server: &Arc<Server>, pod: &str, container: Option<&str>, place: Option<&str>) -> String {
    let stop = Arc::new(AtomicBool::new(false));
    stopped(server, pod, container, place, &stop)
}

fn stopped(
    server: &Arc<Server>,
    pod: &str,
    container: Option<&str>,
    recorder_namespace: Option<&str>,
    stop: &Arc<AtomicBool>,
) -> String {
    let mut file = Vec::new();
    let mut request = RecordRequest {
        pod,
        container,
        recorder_namespace,
        time: None,
        bytes: 64 << 20,
        words: &[],
        options: &options(),
        stop,
        note: silent(),
        tell: &mut |_| (),
        file: &mut file,
    };
    let error = record(&cluster(server), &mut request).unwrap_err().to_string();
    assert_eq!(file, b"");
    error
}

/// Lets the pods of runs start until it is dropped.
struct Kubelet(Arc<AtomicBool>, Option<thread::JoinHandle<()>>);

impl Kubelet {
    fn of(server: &Arc<Server>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (is_over, server) = (Arc::clone(&over), Arc::clone(server));
        let work = thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                server.set_running();
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self(over, Some(work))
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap();
    }
}

/// Only the pod that is recorded is left.
fn assert_nothing_left(server: &Server) {
    assert_eq!(ALL.map(|what| server.count(what)), [1, 0, 0, 0]);
    assert_eq!(server.objects("pods")[0]["metadata"]["name"], "db-0");
}

#[test]
fn a_recorder_sees_the_processes_of_its_node_and_keeps_the_recording_in_memory() {
    let run = Run { id: "0123456789".to_owned() };
    let mut lease = run.lease(jiff::Timestamp::UNIX_EPOCH);
    lease.metadata.uid = Some("4711".to_owned());
    let subject = Subject { node: "n1".to_owned(), id: ID.to_owned() };
    let options = on_every_node(&options());
    let pod = |time| run.pod(&member(&subject, time, 64 << 20, &options), &options, &lease);
    insta::assert_yaml_snapshot!(pod(Some(Duration::from_mins(2))));
    // It ends by itself in any case.
    for time in [None, Some(Duration::from_hours(100))] {
        assert_eq!(pod(time).spec.unwrap().active_deadline_seconds, Some(24 * 60 * 60));
    }
}

#[test]
fn a_pod_that_cannot_be_recorded_says_why() {
    let server = server();
    let two = [running("app"), running("proxy")];
    server.put("pods", &pod("web-1", "Running", &two));
    server.put("pods", &pod("web-2", "Pending", &[]));
    let waits = container("app", &json!({ "waiting": { "reason": "CrashLoopBackOff" } }));
    server.put("pods", &pod("web-3", "Running", &[waits]));
    let ended = container("app", &json!({ "terminated": { "exitCode": 3 } }));
    server.put("pods", &pod("web-4", "Running", &[ended, running("proxy")]));
    let why = |pod, container| failed(&server, pod, container, None);
    insta::assert_snapshot!(why("db", None), @"there is no pod db in namespace bench; similar names: db-0");
    insta::assert_snapshot!(why("nginx", None), @"there is no pod nginx in namespace bench; choose another namespace with --namespace");
    insta::assert_snapshot!(why("web-1", None), @"pod web-1 has several containers; choose the one to record: --container app, --container proxy");
    insta::assert_snapshot!(why("web-1", Some("ap")), @"pod web-1 has no container ap; it has: app, proxy");
    insta::assert_snapshot!(why("web-2", None), @"pod web-2 is not running (phase Pending), so it cannot be recorded; see `kubectl describe pod web-2`");
    insta::assert_snapshot!(why("web-3", None), @"container app of pod web-3 is not running: CrashLoopBackOff");
    insta::assert_snapshot!(why("web-4", Some("app")), @"container app of pod web-4 is not running: it ended with exit code 3");
    assert_eq!(ALL.map(|what| server.count(what)), [5, 0, 0, 0]);
    assert!(server.asked().iter().all(|asked| asked == "list pods"), "{:?}", server.asked());
}

#[test]
fn a_namespace_that_refuses_the_recorder_is_named_with_what_helps() {
    let server = server();
    server.refuse(
        "create",
        "pods",
        "pods \"x\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces \
         (hostPID=true), privileged (container \"iotax\" must not set \
         securityContext.privileged=true)",
    );
    insta::assert_snapshot!(failed(&server, "db-0", None, Some("probes")), @r#"
    recording needs a privileged pod on the node, and the cluster does not allow it in namespace probes: pods "x" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true), privileged (container "iotax" must not set securityContext.privileged=true)
    choose a namespace that allows privileged pods with --recorder-namespace, create one for this recording with --create-namespace, or allow them in this one: `kubectl label namespace probes --overwrite pod-security.kubernetes.io/enforce=privileged`. On OpenShift, the pod needs a service account that can use the security context constraint `privileged` (--pod-overrides)
    "#);
    assert_nothing_left(&server);
    server.refuse("create", "pods", "pods \"x\" is forbidden: exceeded quota: small");
    let said = failed(&server, "db-0", None, None);
    assert!(said.contains("exceeded quota") && said.contains("--cpu"), "{said}");
    assert_nothing_left(&server);
}

/// No program can be started there: exec is not known to it.
#[test]
fn a_recorder_that_fails_is_removed_and_needs_no_right_outside_the_role() {
    let server = server();
    let kubelet = Kubelet::of(&server);
    for place in [None, Some("probes")] {
        let said = failed(&server, "db-0", Some("db"), place);
        assert!(said.contains("pods/exec"), "{said}");
        assert_nothing_left(&server);
    }
    drop(kubelet);
    let allowed: Vec<String> = RIGHTS
        .iter()
        .flat_map(|(_, resource, verbs)| verbs.iter().map(move |verb| format!("{verb} {resource}")))
        .collect();
    for asked in server.asked().iter().filter(|asked| !asked.starts_with("get pods")) {
        assert!(allowed.contains(asked), "{asked}");
    }
}

#[test]
fn who_stops_while_a_recorder_starts_leaves_nothing() {
    let server = server();
    let stop = Arc::new(AtomicBool::new(true));
    let said = stopped(&server, "db-0", None, None, &stop);
    assert_eq!(said, "stopped while pods were starting");
    assert_nothing_left(&server);
}

#[test]
fn undo_removes_the_recorder_of_a_killed_process() {
    let server = server();
    let subject = Subject { node: "n1".to_owned(), id: ID.to_owned() };
    let session = Session::begin(&cluster(&server), None, silent()).unwrap();
    let options = PodOptions { image: "x".to_owned(), ..options() };
    session.make(&member(&subject, None, 1, &options), &options).unwrap();
    let id = session.run().id.clone();
    std::mem::forget(session);
    let undone = undo(&cluster(&server), &mut |_| ()).unwrap();
    let removed: Vec<String> = undone.removed.iter().map(|what| what.replace(&id, "RUN")).collect();
    assert_eq!(removed, ["Pod iotax-RUN-0", "Lease iotax-RUN"]);
    assert_nothing_left(&server);
}
