//! What a run must be allowed to do, and a look at a cluster.

use crate::survey::READS;

/// API group, resource, verbs. An exec over a websocket is a `get` to older API servers and a `create`
/// to newer ones.
pub(crate) const RIGHTS: [(&str, &str, &[&str]); 6] = [
    ("coordination.k8s.io", "leases", &["create", "delete", "list", "patch"]),
    ("", "persistentvolumeclaims", &["create", "delete", "list"]),
    ("", "pods", &["create", "delete", "list"]),
    ("", "services", &["create", "delete", "list"]),
    ("", "pods/exec", &["create", "get"]),
    ("", "events", &["list"]),
];

/// The account that the manifest makes.
pub(crate) const ACCOUNT: &str = "iotax";

/// The role for looking at all of a cluster.
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

/// YAML of a role for looking at all of a cluster, for the account of [`manifest`]: nothing in it
/// changes anything, and no secret can be read with it.
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

/// YAML of a service account with no more rights than a run needs, in one namespace.
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
