//! A run inside the cluster, as YAML.

use serde_json::json;

use crate::survey::READS;

/// Where its results are in its pod.
const RESULTS: &str = "/results";
/// As the user of other pods.
const USER: u32 = 65532;
/// How long the job and its output are kept after its end.
const KEPT_SECONDS: u32 = 24 * 60 * 60;

/// Options of a job.
#[derive(Debug, Clone)]
pub struct JobOptions {
    pub namespace: String,
    /// The image: iotax.
    pub image: String,
    pub pull_secrets: Vec<String>,
    /// A claim for its results; with `None`, only its output is kept.
    pub results: Option<String>,
    /// The arguments after `iotax kube`.
    pub words: Vec<String>,
}

/// YAML of the job, with the account of [`manifest`](crate::manifest).
pub fn job(options: &JobOptions) -> String {
    let JobOptions { namespace, image, pull_secrets, results, words } = options;
    let mut args = vec!["kube".to_owned()];
    args.extend(words.iter().cloned());
    let given = |option: &str| {
        words.iter().any(|word| word.split_once('=').map_or(&**word, |(name, _)| name) == option)
    };
    for (option, value) in [("--namespace", namespace.as_str()), ("--image", image)] {
        if !given(option) {
            args.extend([option.to_owned(), value.to_owned()]);
        }
    }
    if !given("--out") {
        args.extend(["--out".to_owned(), format!("{RESULTS}/iotax")]);
    }
    let secrets: Vec<_> = pull_secrets.iter().map(|name| json!({ "name": name })).collect();
    let volume = match results {
        Some(claim) => format!("persistentVolumeClaim: {{claimName: {}}}", json!(claim)),
        None => "emptyDir: {}".to_owned(),
    };
    // What is JSON is YAML, too.
    let (args, image, secrets) = (json!(args), json!(image), json!(secrets));
    format!(
        "---
apiVersion: batch/v1
kind: Job
metadata:
  name: {ACCOUNT}
  namespace: {namespace}
spec:
  backoffLimit: 0
  ttlSecondsAfterFinished: {KEPT_SECONDS}
  template:
    metadata:
      labels:
        sidecar.istio.io/inject: \"false\"
    spec:
      serviceAccountName: {ACCOUNT}
      restartPolicy: Never
      imagePullSecrets: {secrets}
      securityContext:
        runAsNonRoot: true
        runAsUser: {USER}
        runAsGroup: {USER}
        fsGroup: {USER}
        seccompProfile: {{type: RuntimeDefault}}
      volumes:
        - {{name: results, {volume}}}
      containers:
        - name: iotax
          image: {image}
          imagePullPolicy: IfNotPresent
          args: {args}
          resources:
            requests: {{cpu: 100m, memory: 128Mi}}
            limits: {{cpu: \"1\", memory: 512Mi}}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {{drop: [ALL]}}
          volumeMounts:
            - {{name: results, mountPath: {RESULTS}}}
"
    )
}

// The rights that a run needs, and those for a look at a cluster.

/// API group, resource, verbs. An exec over a websocket is a `get` to older API servers and a
/// `create` to newer ones.
pub(crate) const RIGHTS: [(&str, &str, &[&str]); 6] = [
    ("coordination.k8s.io", "leases", &["create", "delete", "list", "patch"]),
    ("", "persistentvolumeclaims", &["create", "delete", "list"]),
    ("", "pods", &["create", "delete", "list"]),
    ("", "services", &["create", "delete", "list"]),
    ("", "pods/exec", &["create", "get"]),
    ("", "events", &["list"]),
];

/// The account of the manifest.
pub(crate) const ACCOUNT: &str = "iotax";

/// The role for reading the whole cluster.
const READER: &str = "iotax-reader";

fn rules(rights: &[(&str, &str, &[&str])]) -> String {
    let rule = |(group, resource, verbs): &(&str, &str, &[&str])| {
        format!(
            "  - apiGroups: [\"{group}\"]\n    resources: [{resource}]\n    verbs: [{}]\n",
            verbs.join(", ")
        )
    };
    rights.iter().map(rule).collect()
}

/// YAML of a role for reading the whole cluster, for the account of [`manifest`]. It cannot change
/// anything or read secrets.
pub fn reader_manifest(namespace: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\n\
         kind: ClusterRole\n\
         metadata:\n  name: {READER}\n\
         rules:\n{}\
         ---\n\
         apiVersion: rbac.authorization.k8s.io/v1\n\
         kind: ClusterRoleBinding\n\
         metadata:\n  name: {READER}\n\
         roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: {READER}\n\
         subjects:\n  - kind: ServiceAccount\n    name: {ACCOUNT}\n    namespace: {namespace}\n",
        rules(&READS)
    )
}

/// YAML of a service account with exactly the rights that a run needs, in one namespace.
pub fn manifest(namespace: &str) -> String {
    let metadata = format!("metadata:\n  name: {ACCOUNT}\n  namespace: {namespace}\n");
    format!(
        "apiVersion: v1\n\
         kind: ServiceAccount\n\
         {metadata}\
         ---\n\
         apiVersion: rbac.authorization.k8s.io/v1\n\
         kind: Role\n\
         {metadata}\
         rules:\n{}\
         ---\n\
         apiVersion: rbac.authorization.k8s.io/v1\n\
         kind: RoleBinding\n\
         {metadata}\
         roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: {ACCOUNT}\n\
         subjects:\n  - kind: ServiceAccount\n    name: {ACCOUNT}\n    namespace: {namespace}\n",
        rules(&RIGHTS)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_one_command_with_its_results_on_a_claim() {
        let words = ["compare", "-w", "randread-4k", "a=class:fast", "b=class:slow"];
        let options = JobOptions {
            namespace: "bench".to_owned(),
            image: "registry/iotax:1".to_owned(),
            pull_secrets: vec!["registry".to_owned()],
            results: Some("results".to_owned()),
            words: words.map(str::to_owned).to_vec(),
        };
        insta::assert_snapshot!(job(&options));
        let words =
            ["run", "a", "--class=b", "--out=/tmp/c", "--image=d"].map(str::to_owned).to_vec();
        let told = job(&JobOptions { results: None, words, ..options });
        assert!(told.contains("- {name: results, emptyDir: {}}"), "{told}");
        assert!(!told.contains("/results/iotax") && !told.contains("\"--image\""), "{told}");
    }
}
