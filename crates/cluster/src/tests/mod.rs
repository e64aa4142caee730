//! Runs against an API server that is a map in memory.

mod look;
mod recorder;
mod server;
mod survey;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use self::server::Server;
use crate::connect::Cluster;
use crate::error::Error;
use crate::job::RIGHTS;
use crate::nodes::nodes;
use crate::objects::{
    Amounts, Apart, Member, PodOptions, PodOverrides, PodSecurity, Run, Toleration,
};
use crate::place::ArmPlace;
use crate::remove::wait;
use crate::session::{Note, Session};
use crate::undo::undo;

/// What a run makes.
const ALL: [&str; 4] = ["pods", "services", "leases", "persistentvolumeclaims"];
const PLACES: [&str; 2] = ["class:fast", "emptydir"];

pub(crate) fn options() -> PodOptions {
    PodOptions {
        image: "iotax:1.2.3".to_owned(),
        pull_secrets: vec!["registry".to_owned()],
        size_bytes: 10 << 30,
        amounts: Amounts { cpu: "500m".to_owned(), memory_bytes: 512 << 20 },
        driver: None,
        node_selector: [("pool".to_owned(), "disks".to_owned())].into(),
        overrides: PodOverrides::default(),
        create_namespace: false,
        tolerations: vec![Toleration {
            key: Some("dedicated".to_owned()),
            value: None,
            effect: Some("NoSchedule".to_owned()),
        }],
        user: Some(65532),
        wait: Duration::from_mins(5),
    }
}

fn silent() -> Note {
    Arc::new(|_| ())
}

fn place(text: &str) -> ArmPlace {
    text.parse().unwrap()
}

fn cluster(server: &Arc<Server>) -> Arc<Cluster> {
    Arc::new(Cluster::of(|| server.client(), "bench"))
}

/// A run with everything that a comparison makes.
fn run(cluster: &Arc<Cluster>) -> Result<Session, Error> {
    let session = Session::begin(cluster, None, silent())?;
    for member in members() {
        session.make(&member, &options())?;
    }
    session.make_service(&members()[0], 7474)?;
    Ok(session)
}

fn members() -> Vec<Member> {
    let arms = ["a", "b"].into_iter().zip(PLACES).enumerate();
    arms.map(|(number, (arm, text))| member(number, arm, text)).collect()
}

fn member(number: usize, arm: &str, text: &str) -> Member {
    Member::of_arm(number, arm, &place(text), &options())
}

fn waited(cluster: &Cluster, run: &Run, patience: Duration) -> Result<Vec<String>, Error> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let note: Note = Arc::new(move |text: &str| telling.lock().unwrap().push(text.to_owned()));
    wait(cluster, run, &members(), patience, &AtomicBool::new(false), &note)?;
    Ok(Arc::into_inner(told).map(|told| told.into_inner().unwrap()).unwrap_or_default())
}

#[test]
fn everything_that_is_made_has_an_owner_and_is_deleted() {
    let server = Server::new();
    // Claims of the user have no label of ours.
    server.put("persistentvolumeclaims", &json!({ "metadata": { "name": "theirs" } }));
    let cluster = cluster(&server);
    let session = run(&cluster).unwrap();
    let lease = &server.objects("leases")[0];
    for resource in ["pods", "services", "persistentvolumeclaims"] {
        for object in server.objects(resource) {
            if object["metadata"]["name"] != "theirs" {
                assert_eq!(
                    object["metadata"]["ownerReferences"][0]["uid"],
                    lease["metadata"]["uid"]
                );
            }
        }
    }
    assert_eq!(ALL.map(|resource| server.count(resource)), [2, 1, 1, 2]);
    session.end().unwrap();
    assert_eq!(ALL.map(|resource| server.count(resource)), [0, 0, 0, 1]);
    assert_eq!(server.objects("persistentvolumeclaims")[0]["metadata"]["name"], "theirs");
}

#[test]
fn a_session_that_is_dropped_leaves_nothing_either() {
    let server = Server::new();
    drop(run(&cluster(&server)).unwrap());
    assert_eq!(ALL.map(|what| server.count(what)), [0; 4]);
}

#[test]
fn all_that_a_run_asks_is_in_the_role_and_nothing_else_is() {
    let server = Server::new();
    let cluster = cluster(&server);
    let session = run(&cluster).unwrap();
    server.set_running();
    waited(&cluster, session.run(), Duration::from_secs(9)).unwrap();
    session.end().unwrap();
    server.forbid("list", "namespaces");
    undo(&cluster, &mut |_| ()).unwrap();
    let allowed: Vec<String> = RIGHTS
        .iter()
        .flat_map(|(_, resource, verbs)| verbs.iter().map(move |verb| format!("{verb} {resource}")))
        .collect();
    // Whether its namespace was made by a run; who may not look has made none.
    let asked = server.asked().into_iter().filter(|asked| asked != "list namespaces");
    for asked in asked {
        assert!(allowed.contains(&asked), "{asked}");
    }
    // Of a session that ends at once nothing is renewed, no pod needs a reason, and no agent
    // starts.
    let unasked = ["patch leases", "list events", "create pods/exec", "get pods/exec"];
    for right in allowed.iter().filter(|right| !unasked.contains(&right.as_str())) {
        assert!(server.asked().contains(right), "{right}");
    }
}

#[test]
fn undo_leaves_out_namespaces_in_which_it_may_not_look() {
    let server = Server::new();
    let theirs = run_of_its_own(&server).unwrap();
    server.forbid_in(theirs.cluster().namespace(), "list", "leases");
    let cluster = cluster(&server);
    let ours = Session::begin(&cluster, None, silent()).unwrap();
    let lease = ours.run().name();
    std::mem::forget(ours);
    let undone = undo(&cluster, &mut |_| ()).unwrap();
    assert_eq!(undone.removed, [format!("Lease {lease}")]);
    assert_eq!(undone.problems, Vec::<String>::new());
    assert_eq!(server.count("namespaces"), 1);
    std::mem::forget(theirs);
}

/// Begins a run in a namespace of its own.
fn run_of_its_own(server: &Arc<Server>) -> Result<Session, Error> {
    server.put("serviceaccounts", &json!({ "metadata": { "name": "default" } }));
    Session::begin(&cluster(server), Some(PodSecurity::Restricted), silent())
}

#[test]
fn a_namespace_that_a_run_makes_goes_with_it() {
    let server = Server::new();
    let session = run_of_its_own(&server).unwrap();
    let name = session.run().name();
    let made = &server.objects("namespaces")[0]["metadata"];
    assert_eq!(made["name"], name);
    assert_eq!(made["labels"]["pod-security.kubernetes.io/enforce"], "restricted");
    assert_eq!(session.cluster().namespace(), name);
    session.end().unwrap();
    assert_eq!(server.count("namespaces"), 0);
}

#[test]
fn undo_removes_namespaces_of_dead_runs_and_none_of_anybody_else() {
    let server = Server::new();
    server.put("namespaces", &json!({ "metadata": { "name": "bench", "uid": "1" } }));
    let dead = run_of_its_own(&server).unwrap();
    let (lease, namespace) = (dead.run().name(), dead.run().name());
    std::mem::forget(dead);
    let live = run_of_its_own(&server).unwrap();
    let renew = live.run().name();
    let undone = undo(&cluster(&server), &mut |_| server.renew(&renew)).unwrap();
    assert_eq!(undone.removed, [format!("Lease {lease}"), format!("Namespace {namespace}")]);
    assert_eq!(undone.live, [live.run().id.clone()]);
    assert_eq!(undone.problems, Vec::<String>::new());
    assert_eq!(server.count("namespaces"), 2);
    // One that has no lease yet is waited for.
    server.remove_all("leases");
    let mut waited = Duration::ZERO;
    let undone = undo(&cluster(&server), &mut |time| waited = time).unwrap();
    assert_eq!(waited, Duration::from_mins(1));
    assert_eq!(undone.removed, [format!("Namespace {renew}")]);
    // Another one that came to have its name is somebody's.
    server.put("namespaces", &json!({ "metadata": { "name": renew, "uid": "2" } }));
    live.end().unwrap();
    assert_eq!(server.count("namespaces"), 2);
}

#[test]
fn a_namespace_that_cannot_be_used_is_removed_again_and_one_that_cannot_be_made_is_told() {
    let server = Server::new();
    server.forbid("create", "leases");
    assert!(run_of_its_own(&server).is_err());
    assert_eq!(server.count("namespaces"), 0);
    server.forbid("create", "namespaces");
    insta::assert_snapshot!(run_of_its_own(&server).err().unwrap(), @r#"
    not allowed to create namespaces, which requires a cluster-wide permission: namespaces is forbidden: User "eve" cannot create resource "namespaces" in API group "" in the namespace "bench"
    leave out --create-namespace, and name an existing namespace with --namespace
    "#);
}

#[test]
fn a_right_that_is_missing_is_named_and_what_was_made_is_removed() {
    let server = Server::new();
    server.forbid("create", "persistentvolumeclaims");
    let error = run(&cluster(&server)).err().unwrap();
    insta::assert_snapshot!(error, @r#"
    not allowed to create persistentvolumeclaims in namespace bench: persistentvolumeclaims is forbidden: User "eve" cannot create resource "persistentvolumeclaims" in API group "" in the namespace "bench"
    `iotax kube manifest --namespace bench` prints a role with all required permissions
    "#);
    assert_eq!(server.count("leases"), 0);
}

#[test]
fn a_quota_is_no_missing_right() {
    let server = Server::new();
    server.refuse(
        "create",
        "pods",
        "pods \"x\" is forbidden: exceeded quota: small, limited: cpu=1",
    );
    let error = run(&cluster(&server)).err().unwrap();
    insta::assert_snapshot!(error, @r#"
    the cluster refuses to create pods: pods "x" is forbidden: exceeded quota: small, limited: cpu=1
    request less with --size, --cpu and --memory, or ask for a higher quota
    "#);
    assert_eq!(ALL.map(|what| server.count(what)), [0; 4]);
}

#[test]
fn what_cannot_be_deleted_is_told_with_the_way_to_remove_it() {
    let server = Server::new();
    let session = run(&cluster(&server)).unwrap();
    server.forbid("delete", "pods");
    let run = session.run().id.clone();
    let error = session.end().unwrap_err().to_string().replace(&run, "RUN");
    assert!(
        error.starts_with(
            "run RUN left resources behind in namespace bench: not allowed to delete pods"
        ),
        "{error}"
    );
    assert!(error.ends_with("`iotax undo --cluster --namespace bench` removes them"), "{error}");
}

#[test]
fn what_a_cluster_does_not_answer_is_asked_again_in_the_end() {
    let server = Server::new();
    let session = run(&cluster(&server)).unwrap();
    server.overload(3);
    session.end().unwrap();
    assert_eq!(ALL.map(|what| server.count(what)), [0; 4]);
    server.overload(1);
    let error = run(&cluster(&server)).err().unwrap();
    insta::assert_snapshot!(error, @"the cluster does not respond (create leases): apiserver is shutting down");
}

#[test]
fn a_pod_that_cannot_start_ends_the_wait_with_its_reason() {
    let server = Server::new();
    let cluster = cluster(&server);
    let session = run(&cluster).unwrap();
    server.set_status(&json!({ "phase": "Pending", "containerStatuses": [{
        "name": "iotax", "image": "x", "imageID": "", "ready": false, "restartCount": 0,
        "state": { "waiting": { "reason": "ErrImageNeverPull", "message": "not present" } },
    }]}));
    let error = waited(&cluster, session.run(), Duration::from_mins(5)).unwrap_err();
    let error = error.to_string().replace(&session.run().id, "RUN");
    insta::assert_snapshot!(error, @"
    arm a: pod iotax-RUN-0 does not start: its image cannot be pulled
      ErrImageNeverPull: not present
    use --image to name an image that the node can pull, and --pull-secret to name its secret; without a registry, import the image on the node first
    ");
}

#[test]
fn a_pod_that_was_removed_is_not_waited_for() {
    let server = Server::new();
    let cluster = cluster(&server);
    let session = run(&cluster).unwrap();
    server.remove_all("pods");
    let error = waited(&cluster, session.run(), Duration::from_mins(5)).unwrap_err();
    let error = error.to_string().replace(&session.run().id, "RUN");
    insta::assert_snapshot!(error, @"arm a: pod iotax-RUN-0 is gone; the cluster or another user removed it");
}

#[test]
fn who_stops_a_run_does_not_wait() {
    let server = Server::new();
    let cluster = cluster(&server);
    let session = run(&cluster).unwrap();
    let stop = AtomicBool::new(false);
    stop.store(true, Ordering::Relaxed);
    let patience = Duration::from_mins(5);
    let waited = wait(&cluster, session.run(), &members(), patience, &stop, &silent());
    assert!(matches!(waited, Err(Error::Interrupted)), "{waited:?}");
}

#[test]
fn undo_removes_what_a_dead_run_left_and_leaves_live_ones_alone() {
    let server = Server::new();
    server.put("persistentvolumeclaims", &json!({ "metadata": { "name": "theirs" } }));
    let cluster = cluster(&server);
    let dead = run(&cluster).unwrap();
    let id = dead.run().id.clone();
    std::mem::forget(dead);
    let live = run(&cluster).unwrap();
    let renew = live.run().name();
    let undone = undo(&cluster, &mut |time| {
        assert!(time >= Duration::from_secs(20), "{time:?}");
        server.renew(&renew);
    })
    .unwrap();
    assert_eq!(undone.live, [live.run().id.clone()]);
    assert_eq!(undone.problems, Vec::<String>::new());
    let removed: Vec<String> = undone.removed.iter().map(|what| what.replace(&id, "RUN")).collect();
    assert_eq!(
        removed,
        [
            "Pod iotax-RUN-0",
            "Pod iotax-RUN-1",
            "Service iotax-RUN-0",
            "PersistentVolumeClaim iotax-RUN-0",
            "Lease iotax-RUN"
        ]
    );
    assert_eq!(ALL.map(|resource| server.count(resource)), [2, 1, 1, 2]);
}

#[test]
fn a_pod_is_restricted_limited_and_owned() {
    let run = Run { id: "0123456789".to_owned() };
    let mut lease = run.lease(jiff::Timestamp::UNIX_EPOCH);
    lease.metadata.uid = Some("4711".to_owned());
    let claimed = member(0, "a", "class:fast");
    insta::assert_yaml_snapshot!(run.pod(&claimed, &options(), &lease));
    let claim = |member: &Member| {
        run.claim(member.number, member.volume.as_ref().unwrap(), 10 << 30, &lease)
    };
    insta::assert_yaml_snapshot!(claim(&claimed).unwrap());
    let on_node = member(1, "b", "emptydir");
    assert!(claim(&on_node).is_none());
    let pod = run.pod(&on_node, &PodOptions { user: None, ..options() }, &lease);
    let spec = pod.spec.unwrap();
    insta::assert_yaml_snapshot!((spec.volumes, spec.security_context));
}

#[test]
fn an_ephemeral_volume_is_made_with_its_pod_on_the_node_that_was_asked_for() {
    let run = Run { id: "0123456789".to_owned() };
    let lease = run.lease(jiff::Timestamp::UNIX_EPOCH);
    let member = member(0, "a", "ephemeral:fast@n1");
    let volume = member.volume.as_ref().unwrap();
    assert!(run.claim(0, volume, 1, &lease).is_none());
    assert_eq!(run.claim_of(0, volume).as_deref(), Some("iotax-0123456789-0-volume"));
    let spec = run.pod(&member, &options(), &lease).spec.unwrap();
    insta::assert_yaml_snapshot!((spec.volumes, spec.affinity, spec.tolerations));
}

#[test]
fn a_service_is_for_one_pod_and_two_pods_may_be_kept_apart() {
    let run = Run { id: "0123456789".to_owned() };
    let lease = run.lease(jiff::Timestamp::UNIX_EPOCH);
    let mut far = member(1, "a", "emptydir");
    insta::assert_yaml_snapshot!(run.service(&far, 7474, &lease).spec);
    far.apart = Some(Apart { from: 0, topology: "topology.kubernetes.io/zone" });
    let pod = run.pod(&far, &options(), &lease);
    // What the Service selects is on the pod.
    let selected = run.service(&far, 7474, &lease).spec.unwrap().selector.unwrap();
    let labels = pod.metadata.labels.unwrap();
    assert!(selected.iter().all(|(key, value)| labels.get(key) == Some(value)));
    insta::assert_yaml_snapshot!(pod.spec.unwrap().affinity);
    far.node = Some("n2".to_owned());
    let affinity = run.pod(&far, &options(), &lease).spec.unwrap().affinity.unwrap();
    assert!(affinity.node_affinity.is_some() && affinity.pod_anti_affinity.is_some());
}

#[test]
fn the_hosts_network_is_forbidden_only_where_other_pods_are_allowed() {
    let server = Server::new();
    let cluster = cluster(&server);
    let asked = || crate::host_network_refused(&cluster, &options()).unwrap();
    assert_eq!(asked(), None);
    server.refuse_host_network("violates PodSecurity \"restricted:latest\": host namespaces");
    assert!(asked().unwrap().starts_with("violates PodSecurity"));
    // Nothing was made.
    assert_eq!(server.count("pods"), 0);
    server.refuse("create", "pods", "exceeded quota: small");
    assert_eq!(asked(), None);
}

#[test]
fn the_manifest_is_one_account_with_these_rights() {
    insta::assert_snapshot!(crate::manifest("bench"));
}

#[test]
fn nodes_are_listed_by_labels_and_a_right_that_is_missing_is_told() {
    let server = Server::new();
    for (name, pool, ready) in [("n2", "a", "True"), ("n1", "a", "False"), ("n3", "b", "True")] {
        server.put(
            "nodes",
            &json!({
                "metadata": { "name": name, "labels": { "pool": pool } },
                "status": { "conditions": [{ "type": "Ready", "status": ready }] },
            }),
        );
    }
    let cluster = cluster(&server);
    let seen = |selector| {
        let seen = nodes(&cluster, selector, &[]).unwrap().into_iter();
        seen.map(|node| (node.name, node.refuses.is_none())).collect::<Vec<_>>()
    };
    let names = |list: &[(&str, bool)]| {
        list.iter().map(|(name, takes)| ((*name).to_owned(), *takes)).collect::<Vec<_>>()
    };
    assert_eq!(seen(None), names(&[("n1", false), ("n2", true), ("n3", true)]));
    assert_eq!(seen(Some("pool=b")), names(&[("n3", true)]));
    server.forbid("list", "nodes");
    let said = nodes(&cluster, None, &[]).unwrap_err().to_string();
    assert!(said.contains("--nodes a,b") && said.contains("cannot list"), "{said}");
}
