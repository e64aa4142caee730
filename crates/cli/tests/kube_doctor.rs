//! What `iotax kube doctor` says of clusters whose objects are in files: like those of three
//! clouds, and one of two machines under a desk.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use serde_json::Value;
use support::Desk;

/// What is printed about the objects of a cluster.
fn told(cluster: &str, args: &[&str]) -> String {
    let said =
        Desk::new().run(&[&["kube", "doctor", "--objects", &objects(cluster)], args].concat());
    assert_eq!(said.code, 0, "{said}");
    said.out
}

fn objects(cluster: &str) -> String {
    format!("{}/tests/fixtures/clusters/{cluster}.json", env!("CARGO_MANIFEST_DIR"))
}

const CLUSTERS: [&str; 6] = ["eks", "aks", "gke", "k3s", "azure-provisioned", "azure-attributes"];

#[test]
fn each_cluster_is_told_with_what_hurts_on_it() {
    for cluster in CLUSTERS {
        insta::assert_snapshot!(cluster, told(cluster, &[]));
    }
}

/// What a class, or a class of attributes, provisions is what the catalogue is asked about.
#[test]
fn provisioned_disks_are_known_to_the_catalogue() {
    let provisioned = told("azure-provisioned", &[]);
    assert!(provisioned.contains("premium-v2:size=100G,iops=4000,bw=500M"), "{provisioned}");
    let changed = told("azure-attributes", &[]);
    assert!(changed.contains("premium-v2:size=256G,iops=16000,bw=1000M"), "{changed}");
    assert!(changed.contains("16,000 IOPS, 1,000 MB/s"), "{changed}");
}

#[test]
fn all_is_told_in_full_where_that_is_asked_for() {
    insta::assert_snapshot!("gke_in_full", told("gke", &["--all"]));
}

#[test]
fn only_what_is_asked_about_is_told() {
    insta::assert_snapshot!("a_claim", told("aks", &["pvc:db/index"]));
    let of_class = told("eks", &["class:efs"]);
    assert!(of_class.contains("directories on a file server (class efs)"), "{of_class}");
    assert!(!of_class.contains("class gp2"), "{of_class}");
    let of_node = told("aks", &["node:aks-pool-1"]);
    assert!(of_node.contains("does not accept new pods (node aks-pool-1)"), "{of_node}");
    assert!(!of_node.contains("aks-pool-0"), "{of_node}");
}

#[test]
fn texts_fit_a_terminal_but_for_commands() {
    for cluster in CLUSTERS {
        let is_command = |line: &&str| line.contains("iotax kube ");
        let text = told(cluster, &["--all"]);
        let long = text.lines().filter(|line| !is_command(line) && line.chars().count() > 80);
        assert_eq!(long.collect::<Vec<_>>(), Vec::<&str>::new());
    }
}

/// As far as to a cluster, which is not there.
#[test]
fn every_command_that_is_printed_is_understood() {
    let mut tried = 0;
    for cluster in CLUSTERS {
        let printed: Value = serde_json::from_str(&told(cluster, &["--format", "json"])).unwrap();
        let findings = printed["findings"].as_array().unwrap();
        assert!(!findings.is_empty(), "{cluster}");
        for finding in findings {
            assert_ne!(finding["sources"], Value::Null, "{finding}");
            for command in finding["commands"].as_array().unwrap() {
                let words = shlex::split(command.as_str().unwrap()).unwrap();
                assert_eq!(words[0], "iotax");
                let desk = Desk::new();
                let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                let mut command = desk.command(&words);
                command.env("KUBECONFIG", "none").env_remove("KUBERNETES_SERVICE_HOST");
                let output = command.output().unwrap();
                let said = String::from_utf8(output.stderr).unwrap();
                assert!(said.contains("error: no cluster is configured"), "{words:?}: {said}");
                tried += 1;
            }
        }
    }
    assert!(tried > 12, "{tried}");
}

#[test]
fn the_help_fits_and_says_what_a_probe_does_to_a_claim() {
    let said = Desk::new().run(&["kube", "doctor", "--help"]);
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{said}");
    insta::assert_snapshot!("help", said);
}

/// Nothing is made by mistake, and least of all a privileged pod.
#[test]
fn a_probe_is_asked_for_with_what_it_is_to_look_at() {
    let refused = |args: &[&str]| Desk::new().run(&[&["kube", "doctor"], args].concat()).err;
    let privileged = refused(&["class:fast", "--privileged"]);
    assert!(privileged.contains("--probe"), "{privileged}");
    let user = refused(&["class:fast", "--probe", "--privileged", "--user", "7"]);
    assert!(user.contains("'--privileged' cannot be used with '--user <UID>'"), "{user}");
    let nothing = refused(&["--probe"]);
    assert!(nothing.contains("[SUBJECT]") || nothing.contains("<SUBJECT>"), "{nothing}");
}

#[test]
fn what_is_not_there_or_cannot_be_read_is_said() {
    let refused = |args: &[&str]| Desk::new().run(args).to_string();
    let eks = objects("eks");
    let of = |subject| refused(&["kube", "doctor", "--objects", &eks, subject]);
    insta::assert_snapshot!(of("class:gp4"), @"
    error: storage class gp4 does not exist
    [exit 2]
    ");
    insta::assert_snapshot!(of("pvc:orders"), @"
    error: claim default/orders does not exist, or you do not have permission to see it
    [exit 2]
    ");
    insta::assert_snapshot!(of("node:"), @"
    error: `node:` does not name a claim, class or node; specify pvc:[NAMESPACE/]CLAIM, class:CLASS or node:NODE
    [exit 2]
    ");
    insta::assert_snapshot!(of("gp2"), @"
    error: `gp2` does not name a claim, class or node; specify pvc:[NAMESPACE/]CLAIM, class:CLASS or node:NODE
    [exit 2]
    ");
    let desk = Desk::new();
    std::fs::write(desk.path().join("a.json"), "{\"a\": 1}").unwrap();
    insta::assert_snapshot!(desk.run(&["kube", "doctor", "--objects", "a.json"]), @"
    error: a.json: this is not the output of `kubectl get -o json`: an object has no `kind`
    [exit 2]
    ");
    std::fs::write(desk.path().join("b.json"), "{\"kind\": \"List\", \"items\": []}").unwrap();
    insta::assert_snapshot!(desk.run(&["kube", "doctor", "--objects", "b.json"]), @"
    Nothing could be inspected.

    Not visible
      - storage classes, nodes, persistent volumes, claims, driver limits on
        nodes, network plugin: not in this file; iotax kube doctor --help shows the
        commands that print these objects
    [exit 3]
    ");
}
