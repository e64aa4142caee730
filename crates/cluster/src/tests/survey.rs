//! What is seen of a cluster, with more rights and with fewer.

use std::sync::Arc;

use serde_json::json;

use super::cluster;
use super::server::Server;
use crate::survey::{READS, survey};

fn server() -> Arc<Server> {
    let server = Server::new();
    server.put("storageclasses", &json!({ "metadata": { "name": "fast" }, "provisioner": "x" }));
    server.put("nodes", &json!({ "metadata": { "name": "n1" } }));
    server.put(
        "persistentvolumeclaims",
        &json!({
            "metadata": { "name": "data", "namespace": "bench" },
            "spec": { "storageClassName": "fast", "volumeName": "v",
                      "resources": { "requests": { "storage": "10Gi" } } },
            "status": { "phase": "Bound" },
        }),
    );
    server.put(
        "persistentvolumes",
        &json!({
            "metadata": { "name": "v" },
            "spec": { "storageClassName": "fast", "capacity": { "storage": "10Gi" },
                      "local": { "path": "/disks/v" } },
        }),
    );
    server.put("pods", &json!({
        "metadata": { "name": "user", "namespace": "bench" },
        "spec": { "nodeName": "n1", "containers": [],
                  "volumes": [{ "name": "v", "persistentVolumeClaim": { "claimName": "data" } }] },
    }));
    server
}

#[test]
fn a_claim_is_followed_to_its_volume_and_its_node() {
    let seen = survey(&cluster(&server()), None).unwrap();
    assert!(seen.unseen.is_empty(), "{:?}", seen.unseen);
    let claim = &seen.claims[0];
    assert_eq!((claim.full_name().as_str(), claim.bytes), ("bench/data", Some(10 << 30)));
    let volume = seen.volume(claim.volume.as_deref().unwrap()).unwrap();
    assert_eq!((volume.source.as_str(), volume.handle.as_str()), ("local", "/disks/v"));
    let nodes: Vec<_> = seen.nodes_of(claim).iter().map(|node| node.name.clone()).collect();
    assert_eq!(nodes, ["n1"]);
    assert_eq!(seen.namespace, None);
}

#[test]
fn what_may_not_be_listed_is_told_and_the_rest_is_seen() {
    let server = server();
    for resource in ["storageclasses", "nodes", "volumeattachments"] {
        server.forbid("list", resource);
    }
    server.forbid("get", "configmaps");
    let seen = survey(&cluster(&server), Some("bench")).unwrap();
    let told: Vec<_> = seen.unseen.iter().map(|one| format!("{}: {}", one.what, one.how)).collect();
    assert_eq!(
        told,
        [
            "storageclasses: may not list storageclasses",
            "volumeattachments: may not list volumeattachments",
            "nodes: may not list nodes",
            "settings of the network between pods: may not get configmaps in kube-system, \
             kube-flannel",
        ]
    );
    assert!(!seen.knows_classes && seen.nodes.is_empty());
    assert_eq!((seen.claims.len(), seen.volumes.len()), (1, 1));
    assert_eq!(seen.namespace.as_deref(), Some("bench"));
}

#[test]
fn a_look_only_reads_and_asks_for_no_more_than_the_printed_role_allows() {
    let server = server();
    survey(&cluster(&server), None).unwrap();
    let allowed: Vec<String> = READS
        .iter()
        .flat_map(|(_, resource, verbs)| verbs.iter().map(move |verb| format!("{verb} {resource}")))
        .collect();
    let asked = server.asked();
    for one in &asked {
        assert!(allowed.contains(one), "{one}");
    }
    for right in &allowed {
        assert!(asked.contains(right), "{right}");
    }
    insta::assert_snapshot!(crate::reader_manifest("bench"));
}
