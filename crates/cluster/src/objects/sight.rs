//! Pods that only look.

use serde_json::{Value, json};

/// Where the root directory of its node is in a pod that is privileged.
pub(crate) const NODE_ROOT: &str = "/node";
const ROOT: &str = "root";

/// How a pod looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight {
    /// Whether its volume is a device, without a file system.
    pub(crate) is_raw: bool,
    /// Whether it sees its node as root.
    pub(crate) is_privileged: bool,
}

/// A volume that no container can write to. Of claims, drivers are told so, too, and kubelets leave
/// their owner and their `SELinux` labels as they are.
pub(super) fn read_only(mut volume: Value) -> Value {
    volume["persistentVolumeClaim"]["readOnly"] = json!(true);
    volume
}

/// All containers of a pod are root on their node, whose file systems they see, and cannot write to
/// where the node's kernel and runtime know how to forbid it in those below the root, too. Network file
/// systems are reached by the node's own network.
///
/// The process IDs of the node are not needed: a container that is the first process of its own ends
/// by itself when nobody needs it any more.
pub(super) fn privilege(spec: &mut Value) {
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

fn push(list: &mut Value, item: Value) {
    match list {
        Value::Array(list) => list.push(item),
        other => *other = json!([item]),
    }
}
