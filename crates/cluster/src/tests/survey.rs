//! What is seen of a cluster, with more rights and with fewer.

use std::sync::Arc;

use serde_json::json;

use super::cluster;
use super::server::Server;
use crate::survey::{READS, survey, survey_of_file};

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
            "storageclasses: not allowed to list storageclasses",
            "volumeattachments: not allowed to list volumeattachments",
            "nodes: not allowed to list nodes",
            "settings of the pod network: not allowed to get configmaps in kube-system, \
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

#[test]
fn a_class_of_attributes_is_read_in_any_version_that_is_served() {
    let class = json!({
        "metadata": { "name": "fast" }, "driverName": "d", "parameters": { "iops": "9" },
    });
    for version in ["v1", "v1beta1", "v1alpha1"] {
        let server = server();
        server.put("volumeattributesclasses", &class);
        server.serve_only("volumeattributesclasses", version);
        let seen = survey(&cluster(&server), None).unwrap();
        assert!(seen.unseen.is_empty(), "{version}: {:?}", seen.unseen);
        assert_eq!((seen.attributes.len(), seen.attributes[0].driver.as_str()), (1, "d"));
    }
    let server = server();
    server.serve_only("volumeattributesclasses", "v2");
    let told = |server: &Arc<Server>| survey(&cluster(server), None).unwrap().unseen;
    assert_eq!(told(&server).len(), 1, "{:?}", told(&server));
    assert_eq!(told(&server)[0].how, "this cluster has no volumeattributesclasses");
    let server = self::server();
    server.forbid("list", "volumeattributesclasses");
    assert_eq!(told(&server).len(), 1, "{:?}", told(&server));
    assert_eq!(told(&server)[0].how, "not allowed to list volumeattributesclasses");
}

/// A list with these objects beside a class that is well.
fn dump(objects: &[serde_json::Value]) -> String {
    let class = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": "fast" },
        "provisioner": "x",
    });
    let items: Vec<_> = std::iter::once(&class).chain(objects).collect();
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

#[test]
fn objects_of_any_version_are_read_from_a_file() {
    let kinds = [
        ("StorageClass", "storage.k8s.io/v1beta1", json!({ "provisioner": "p" })),
        ("VolumeAttributesClass", "storage.k8s.io/v1beta1", json!({ "driverName": "d" })),
        ("VolumeAttributesClass", "storage.k8s.io/v1alpha1", json!({ "driverName": "d" })),
        ("CSIDriver", "storage.k8s.io/v1beta1", json!({ "spec": {} })),
        ("CSINode", "storage.k8s.io/v1beta1", json!({ "spec": { "drivers": [] } })),
        ("DaemonSet", "extensions/v1beta1", json!({})),
        ("DaemonSet", "apps/v1beta2", json!({})),
        ("VolumeSnapshotClass", "snapshot.storage.k8s.io/v1beta1", json!({ "driver": 7 })),
        ("VolumeSnapshot", "snapshot.storage.k8s.io/v1", json!({ "spec": "x" })),
        ("Widget", "example.com/v9", json!({})),
    ];
    for (kind, version, mut fields) in kinds {
        fields["kind"] = kind.into();
        fields["apiVersion"] = version.into();
        fields["metadata"] = json!({ "name": "n" });
        let seen = survey_of_file(&dump(&[fields])).unwrap();
        let broken = seen.unseen.iter().filter(|one| one.how.contains("could not be read"));
        assert_eq!(broken.count(), 0, "{kind} {version}: {:?}", seen.unseen);
        assert!(seen.class("fast").is_some());
    }
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_read() {
    let broken = [
        json!({ "kind": "StorageClass", "metadata": { "name": "slow" } }),
        json!({ "kind": "VolumeAttributesClass", "metadata": { "name": "v" }, "driverName": 7 }),
        json!({ "kind": "Node", "metadata": { "name": "n" }, "spec": { "taints": "none" } }),
        json!({ "kind": "PersistentVolume", "metadata": [] }),
        json!({ "metadata": { "name": "of no kind" } }),
        json!("text"),
    ];
    for one in &broken {
        let seen = survey_of_file(&dump(std::slice::from_ref(one))).unwrap();
        assert!(seen.class("fast").is_some(), "{one}");
    }
    let named = |text: &str| {
        let seen = survey_of_file(text).unwrap();
        let told = seen.unseen.iter().map(|one| format!("{}: {}", one.what, one.how));
        let told: Vec<_> = told.filter(|told| told.contains("could not")).collect();
        told.join("\n")
    };
    insta::assert_snapshot!(named(&dump(&broken)), @r#"
    VolumeAttributesClass v: could not be read: invalid type: integer `7`, expected a string
    Node n: could not be read: invalid type: string "none", expected a sequence
    PersistentVolume without a name: could not be read: invalid type: sequence, expected ObjectMeta
    of no kind: could not be read: an object has no `kind`
    without a name: could not be read: an object has no `kind`
    "#);
    // A second file that was cut off while it was written.
    insta::assert_snapshot!(named(&format!("{}\n{{\"kind\": \"Li", dump(&[]))), @"the rest: could not be read: EOF while parsing a string at line 2 column 12");
    let many: Vec<_> = (0..20).map(|_| broken[1].clone()).collect();
    assert!(named(&dump(&many)).ends_with("12 more objects: could not be read"));
    assert!(survey_of_file(&broken[1].to_string()).is_err(), "nothing of it is read");
    assert!(survey_of_file("kind: List").is_err());
}
