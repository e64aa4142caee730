//! Pods that look at claims that are there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use iotax_run::Error;
use serde_json::json;

use super::server::Server;
use super::{ALL, options, silent};
use crate::connect::Cluster;
use crate::job::RIGHTS;
use crate::look::{LookRequest, Looked, View, look, member};
use crate::objects::{PodOptions, Run};

fn claim(is_raw: bool) -> View {
    View {
        place: "pvc:bench/data@n1".parse().unwrap(),
        told_as: "claim bench/data".to_owned(),
        is_raw,
    }
}

fn asked(server: &Arc<Server>, views: &[View], is_privileged: bool) -> Result<Vec<Looked>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let options = PodOptions { wait: Duration::from_mins(5), ..options() };
    let (options, stop) = (&options, &stop);
    let request = LookRequest { views, is_privileged, options, stop, note: silent() };
    look(Cluster::of(|| server.client(), "bench"), &request)
}

fn spec(view: &View, is_privileged: bool) -> serde_json::Value {
    let (run, options) = (Run { id: "0123456789".to_owned() }, options());
    let stop = Arc::new(AtomicBool::new(false));
    let views = std::slice::from_ref(view);
    let (stop, note) = (&stop, silent());
    let request = LookRequest { views, is_privileged, options: &options, stop, note };
    let lease = run.lease(jiff::Timestamp::UNIX_EPOCH);
    let member = member(0, view, &request);
    assert!(run.claim(0, member.volume.as_ref().unwrap(), 1, &lease).is_some() != is_theirs(view));
    serde_json::to_value(run.pod(&member, &options, &lease).spec.unwrap()).unwrap()
}

fn is_theirs(view: &View) -> bool {
    view.place.volume.is_theirs()
}

/// Neither the volume, nor its mount, nor the kubelet, which would change owners and labels, may
/// write.
#[test]
fn a_claim_that_is_there_is_mounted_read_only_by_a_restricted_pod() {
    let spec = spec(&claim(false), false);
    assert_eq!(
        spec["volumes"],
        json!([{
            "name": "volume",
            "persistentVolumeClaim": { "claimName": "data", "readOnly": true },
        }])
    );
    let container = &spec["containers"][0];
    let mounts = json!([{ "name": "volume", "mountPath": "/volumes/pvc-data", "readOnly": true }]);
    assert_eq!(container["volumeMounts"], mounts);
    assert_eq!(
        spec["securityContext"],
        json!({
            "runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532,
            "seccompProfile": { "type": "RuntimeDefault" },
        })
    );
    assert_eq!(container["securityContext"]["capabilities"], json!({ "drop": ["ALL"] }));
    let node = &spec["affinity"]["nodeAffinity"];
    assert!(node.to_string().contains(r#""values":["n1"]"#), "{node}");
}

#[test]
fn a_claim_of_a_device_is_one_that_cannot_be_written_to() {
    let spec = spec(&claim(true), false);
    assert_eq!(spec["volumes"][0]["persistentVolumeClaim"]["readOnly"], true);
    let container = &spec["containers"][0];
    let devices = json!([{ "name": "volume", "devicePath": "/volumes/pvc-data" }]);
    assert_eq!(container["volumeDevices"], devices);
    assert_eq!(container["volumeMounts"], json!(null));
}

#[test]
fn a_new_volume_may_be_owned_by_whoever_looks() {
    let spec = spec(&View::of_class("fast"), false);
    assert_eq!(spec["volumes"][0]["persistentVolumeClaim"].get("readOnly"), None);
    assert_eq!(spec["securityContext"]["fsGroup"], 65532);
}

#[test]
fn only_who_is_asked_to_sees_a_node_as_root_and_cannot_write_there() {
    for view in [claim(false), claim(true), View::of_class("fast")] {
        let spec = spec(&view, true);
        assert_eq!(spec["hostNetwork"], true);
        assert_eq!(spec["securityContext"], json!({ "runAsUser": 0, "runAsGroup": 0 }));
        assert_eq!(
            spec["containers"][0]["securityContext"],
            json!({ "privileged": true, "readOnlyRootFilesystem": true })
        );
        let mounts = spec["containers"][0]["volumeMounts"].as_array().unwrap();
        let root = json!({
            "name": "root", "mountPath": "/node", "readOnly": true,
            "recursiveReadOnly": "IfPossible",
        });
        assert_eq!(mounts.last(), Some(&root));
        let theirs = mounts.iter().filter(|_| is_theirs(&view));
        assert!(theirs.into_iter().all(|mount| mount["readOnly"] == true), "{mounts:?}");
        // Else nobody would notice that the pod is needed no more.
        assert_eq!(spec.get("hostPID"), None);
    }
}

#[test]
fn a_namespace_that_refuses_privileged_pods_says_so_and_what_helps() {
    let server = Server::new();
    server.refuse(
        "create",
        "pods",
        "pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": privileged \
         (container \"iotax\" must not set securityContext.privileged=true)",
    );
    server.put("persistentvolumeclaims", &json!({ "metadata": { "name": "data" } }));
    let error = asked(&server, &[claim(false)], true).unwrap_err();
    insta::assert_snapshot!(error, @r#"
    the cluster refuses to create pods: pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged (container "iotax" must not set securityContext.privileged=true)
    to allow privileged pods, set the namespace label pod-security.kubernetes.io/enforce=privileged.
    A new volume of a class can be examined in any namespace (--namespace), a claim only in its own. Without --privileged, no label is needed, but iotax sees less
    "#);
    assert_eq!(ALL.map(|what| server.count(what)), [0, 0, 0, 1]);
}

/// No agent can be started there: exec is not known to it.
#[test]
fn a_look_that_comes_to_nothing_leaves_the_claim_and_nothing_else() {
    let server = Server::new();
    server.put("persistentvolumeclaims", &json!({ "metadata": { "name": "data" } }));
    let (over, running) = (Arc::new(AtomicBool::new(false)), Arc::clone(&server));
    let is_over = Arc::clone(&over);
    let kubelet = thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            running.set_running();
            thread::sleep(Duration::from_millis(5));
        }
    });
    let error = asked(&server, &[claim(false), View::of_class("fast")], false).unwrap_err();
    over.store(true, Ordering::Relaxed);
    kubelet.join().unwrap();
    assert!(error.to_string().contains("pods/exec"), "{error}");
    assert_eq!(ALL.map(|what| server.count(what)), [0, 0, 0, 1]);
    assert_eq!(server.objects("persistentvolumeclaims")[0]["metadata"]["name"], "data");
    let allowed: Vec<String> = RIGHTS
        .iter()
        .flat_map(|(_, resource, verbs)| verbs.iter().map(move |verb| format!("{verb} {resource}")))
        .collect();
    for asked in server.asked().iter().filter(|asked| !asked.starts_with("get pods")) {
        assert!(allowed.contains(asked), "{asked}");
    }
}
