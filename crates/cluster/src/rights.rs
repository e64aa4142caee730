//! What a run must be allowed to do.

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

/// YAML of a service account with no more rights than a run needs, in one namespace.
pub fn manifest(namespace: &str) -> String {
    let rules: Vec<String> = RIGHTS
        .iter()
        .map(|(group, resource, verbs)| {
            format!(
                "  - apiGroups: [\"{group}\"]\n    resources: [{resource}]\n    verbs: [{}]\n",
                verbs.join(", ")
            )
        })
        .collect();
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
        rules.concat()
    )
}
