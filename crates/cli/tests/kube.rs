//! What `iotax kube` says where there is no cluster; one that is there is in `tests/k8s`.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use support::Desk;

/// What a comparison says that never gets to a cluster.
fn compared(args: &[&str]) -> String {
    said_of(&["kube", "compare", "-w", "randread-4k", "--out", "out"], args)
}

fn said_of(command: &[&str], args: &[&str]) -> String {
    let desk = Desk::new();
    let mut command = desk.command(command);
    command.args(args).env("KUBECONFIG", "none").env_remove("KUBERNETES_SERVICE_HOST");
    let output = command.output().unwrap();
    assert_eq!(desk.names(), Vec::<String>::new(), "nothing is written");
    let said = String::from_utf8(output.stderr).unwrap();
    format!("{said}[exit {}]", output.status.code().unwrap())
}

#[test]
fn targets_that_no_cluster_has_are_refused() {
    insta::assert_snapshot!(compared(&["a=class:fast", "b=/mnt"]), @"
    error: arm b: `/mnt` is not a cluster target; use one of these, with @NODE at the end to choose the pod's node:
      class:NAME      a new volume of a storage class
      block:NAME      the same, but without a file system
      ephemeral:NAME  a new volume that is deleted with its pod
      emptydir        a directory on the node's disk
      pvc:NAME        an existing claim (requires --write-to)
      hostpath:/PATH  a directory on the node (requires --write-to)
    [exit 2]
    ");
    insta::assert_snapshot!(compared(&["a=class:fast", "b=mem(size=64M)"]), @"
    error: arm b: `mem(size=64M)` is not a cluster target; use one of these, with @NODE at the end to choose the pod's node:
      class:NAME      a new volume of a storage class
      block:NAME      the same, but without a file system
      ephemeral:NAME  a new volume that is deleted with its pod
      emptydir        a directory on the node's disk
      pvc:NAME        an existing claim (requires --write-to)
      hostpath:/PATH  a directory on the node (requires --write-to)
    [exit 2]
    ");
}

#[test]
fn options_that_make_no_sense_in_a_cluster_are_refused() {
    insta::assert_snapshot!(compared(&["a=emptydir", "b=emptydir", "--agent", "true"]), @"
    error: --agent and --destroy do not apply in a cluster, where iotax starts its own agents and creates volumes; leave out these options
    [exit 2]
    ");
    insta::assert_snapshot!(compared(&["a=emptydir", "b=emptydir", "--user", "0"]), @"
    error: --user 0: use `cluster`, or the numeric ID of a user other than root
    [exit 2]
    ");
    insta::assert_snapshot!(compared(&["a=emptydir", "b=emptydir", "--toleration", "a:b"]), @"
    error: --toleration a:b: specify KEY or KEY=VALUE, optionally followed by :EFFECT (one of NoSchedule, PreferNoSchedule, NoExecute); `all` tolerates all taints
    [exit 2]
    ");
    insta::assert_snapshot!(compared(&["a=emptydir", "b=emptydir", "--node-selector", "n1"]), @"
    error: --node-selector n1: specify KEY=VALUE, as in kubernetes.io/hostname=NODE
    [exit 2]
    ");
}

#[test]
fn levels_of_a_matrix_are_classes() {
    let said = compared(&["--matrix", "class=fast,Slow", "class:{class}"]);
    insta::assert_snapshot!(said, @"
    error: arm Slow: `class:Slow` is not a cluster target; use one of these, with @NODE at the end to choose the pod's node:
      class:NAME      a new volume of a storage class
      block:NAME      the same, but without a file system
      ephemeral:NAME  a new volume that is deleted with its pod
      emptydir        a directory on the node's disk
      pvc:NAME        an existing claim (requires --write-to)
      hostpath:/PATH  a directory on the node (requires --write-to)
    [exit 2]
    ");
}

#[test]
fn without_a_cluster_it_is_said_where_one_is_looked_for() {
    let said = compared(&["a=class:fast", "b=emptydir"]);
    assert!(said.starts_with("error: no cluster is configured: "), "{said}");
    assert!(said.ends_with("in a pod with a service account\n[exit 3]"), "{said}");
}

#[test]
fn the_help_fits_and_names_no_option_of_elsewhere() {
    let said = Desk::new().run(&["kube", "compare", "--help"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{said}");
    for hidden in ["--agent", "--destroy", "--pair", "--dir "] {
        assert!(!said.out.contains(hidden), "{hidden}: {said}");
    }
}

#[test]
fn two_containers_are_for_a_driver_and_a_searcher() {
    insta::assert_snapshot!(compared(&["a=class:fast", "b=emptydir", "--containers", "two"]), @"
    error: randread-4k: two containers need both jobs that write and jobs that only read, but this workload has only one kind; leave out --containers two
    [exit 2]
    ");
    insta::assert_snapshot!(compared(&["a=class:fast", "b=emptydir", "--driver-cpu", "2"]), @"
    error: --driver-cpu needs two containers; add --containers two
    [exit 2]
    ");
}

#[test]
fn the_image_of_this_program_is_written() {
    let desk = Desk::new();
    let saved = desk.run(&["kube", "image", "--save", "a.tar", "--format", "json"]);
    assert_eq!(saved.code, 0, "{saved}");
    let told: serde_json::Value = serde_json::from_str(&saved.out).unwrap();
    assert_eq!(told["bytes"], std::fs::metadata(desk.path().join("a.tar")).unwrap().len());
    let twice = desk.run(&["kube", "image", "--save", "c.tar", "--program", "a.tar"]);
    insta::assert_snapshot!(twice.err, @"error: --program a.tar: cannot be used: the file is not a 64-bit Linux executable");
    assert!(!desk.path().join("c.tar").exists());
}

#[test]
fn kubectl_finds_a_plugin_in_a_program_of_that_name() {
    let desk = Desk::new();
    let plugin = desk.path().join("kubectl-iotax");
    std::os::unix::fs::symlink(assert_cmd::cargo::cargo_bin!("iotax"), &plugin).unwrap();
    let said = std::process::Command::new(&plugin).arg("--help").output().unwrap();
    insta::assert_snapshot!(String::from_utf8(said.stdout).unwrap());
    let said = std::process::Command::new(&plugin).args(["fleet", "--help"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("Usage: kubectl iotax fleet [OPTIONS] <--class"), "{said}");
    assert!(!said.contains("iotax kube"), "{said}");
    let manifest = |program: &std::path::Path, words: &[&str]| {
        std::process::Command::new(program).args(words).output().unwrap().stdout
    };
    let itself = assert_cmd::cargo::cargo_bin!("iotax").to_owned();
    assert_eq!(manifest(&plugin, &["manifest"]), manifest(&itself, &["kube", "manifest"]));
}

#[test]
fn paths_that_no_cluster_has_are_refused() {
    let net = |args: &[&str]| said_of(&["kube", "net", "--out", "out"], args);
    insta::assert_snapshot!(net(&["--paths", "pod,ingress"]), @"
    error: option --paths: `ingress` is not a cluster path; use one of these:
      node       from node to node, on the host network
      pod        from pod to pod on another node
      same-node  from pod to pod on one node
      service    from pod to Service (ClusterIP)
      dns        from pod to Service, reached by name
    [exit 2]
    ");
    insta::assert_snapshot!(net(&["--agent", "true"]), @"
    error: --agent and --destroy do not apply in a cluster, where iotax starts its own agents and creates volumes; leave out these options
    [exit 2]
    ");
    let said = net(&[]);
    assert!(said.starts_with("error: no cluster is configured: "), "{said}");
}

#[test]
fn the_help_of_paths_fits_and_names_no_option_of_elsewhere() {
    let said = Desk::new().run(&["kube", "net", "--help"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{said}");
    for hidden in ["--agent", "--destroy", "--size", "--dir ", "--precondition"] {
        assert!(!said.out.contains(hidden), "{hidden}: {said}");
    }
}

#[test]
fn a_job_is_for_what_measures() {
    let desk = Desk::new();
    let said = desk.run(&["kube", "manifest", "--", "doctor"]);
    insta::assert_snapshot!(said.err, @"error: a job can only run compare, fleet, run, net or limits; specify one of these after --");
    assert_eq!(said.code, 2);
}

#[test]
fn a_recording_of_a_pod_needs_a_cluster_and_valid_limits() {
    let capture = |args: &[&str]| said_of(&["kube", "capture", "db-0", "-n", "shop"], args);
    let said = capture(&["-o", "app.iotx", "-c", "db"]);
    assert!(said.starts_with("error: no cluster is configured: "), "{said}");
    insta::assert_snapshot!(capture(&["--for", "0s"]), @"
    error: option --for: the time must be longer than 0
    [exit 2]
    ");
    insta::assert_snapshot!(capture(&["--max-size", "much"]), @"
    error: option --max-size: `much` is not a size: it does not start with a digit
    specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
    [exit 2]
    ");
    let said = capture(&["--create-namespace", "--recorder-namespace", "probes"]);
    assert!(said.contains("cannot be used with") && said.ends_with("[exit 2]"), "{said}");
}

#[test]
fn the_help_of_capture_fits() {
    let said = Desk::new().run(&["kube", "capture", "--help"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{said}");
    assert!(said.out.contains("-n, --namespace") && !said.out.contains("--to-client"), "{said}");
}
