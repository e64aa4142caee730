//! Fields of pods that users set: affinity, a runtime or priority class, annotations. Fields that
//! have their own option are not allowed here.

use k8s_openapi::DeepMerge as _;
use k8s_openapi::api::core::v1::{Affinity, Pod};
use serde_json::{Map, Value};

use crate::error::Error;

/// The allowed fields. A run relies on its containers, volumes, name and end, so these are
/// excluded.
const FIELDS: [(&str, &[&str]); 2] = [
    ("metadata", &["annotations", "labels"]),
    (
        "spec",
        &[
            "affinity",
            "dnsConfig",
            "dnsPolicy",
            "hostAliases",
            "overhead",
            "preemptionPolicy",
            "priorityClassName",
            "runtimeClassName",
            "schedulerName",
            "securityContext",
            "serviceAccountName",
            "topologySpreadConstraints",
        ],
    ),
];

/// A part of a pod that is merged into each pod of a run like `kubectl patch` does: maps by key,
/// lists of named objects by name, and other values replace ours.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PodOverrides {
    part: Pod,
    /// `spec.affinity`, and whatever else it has.
    fields: Vec<String>,
}

impl PodOverrides {
    /// Reads it, as YAML or JSON.
    ///
    /// # Errors
    /// If it is not a part of a pod, or sets a field that iotax needs.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unreadable = |why: String| Error::PodOverrides { why };
        let asked: Value =
            serde_saphyr::from_str(text).map_err(|error| unreadable(error.to_string()))?;
        let mut fields = Vec::new();
        let mut names = Vec::new();
        for (group, allowed) in FIELDS {
            names.extend(allowed.iter().map(|field| format!("{group}.{field}")));
        }
        for (group, part) in object(&asked, "this").map_err(unreadable)? {
            let keys = object(part, group).map_err(unreadable)?.keys();
            fields.extend(keys.map(|field| format!("{group}.{field}")));
        }
        if let Some(other) = fields.iter().find(|field| !names.contains(field)) {
            let names = names.join(", ");
            return Err(unreadable(format!(
                "`{other}` cannot be set; the supported settings are {names}"
            )));
        }
        let part: Pod =
            serde_json::from_value(asked.clone()).map_err(|error| unreadable(error.to_string()))?;
        let known = serde_json::to_value(&part).expect("it is JSON");
        if let Some(unknown) = lost(&asked, &known, "") {
            return Err(unreadable(format!("a pod has no field `{unknown}`")));
        }
        Ok(Self { part, fields })
    }

    /// The fields that it sets.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Its field, if any, that would change the owner or the label of all files on a volume.
    pub(crate) fn changing_files(&self) -> Option<&'static str> {
        let context = self.part.spec.as_ref()?.security_context.as_ref()?;
        let fields = [
            ("fsGroup", context.fs_group.is_some()),
            ("seLinuxOptions", context.se_linux_options.is_some()),
        ];
        fields.into_iter().find_map(|(field, is_set)| is_set.then_some(field))
    }

    /// Merges it into the pod. What makes the pod a member of its run, and keeps it on its node and
    /// apart from others, stays.
    pub(super) fn applied_to(&self, ours: Pod) -> Pod {
        let mut pod = ours.clone();
        pod.merge_from(self.part.clone());
        let labels = ours.metadata.labels.unwrap_or_default();
        pod.metadata.labels.get_or_insert_default().extend(labels);
        if let (Some(ours), Some(spec)) = (ours.spec.and_then(|spec| spec.affinity), &mut pod.spec)
        {
            keep_required(spec.affinity.get_or_insert_default(), ours);
        }
        pod
    }
}

/// Our node name replaces other node rules; rules that keep pods apart are combined.
fn keep_required(affinity: &mut Affinity, ours: Affinity) {
    let node = ours.node_affinity;
    if let Some(node) =
        node.and_then(|node| node.required_during_scheduling_ignored_during_execution)
    {
        let place = affinity.node_affinity.get_or_insert_default();
        place.required_during_scheduling_ignored_during_execution = Some(node);
    }
    let apart = ours.pod_anti_affinity;
    if let Some(apart) =
        apart.and_then(|apart| apart.required_during_scheduling_ignored_during_execution)
    {
        let all = affinity.pod_anti_affinity.get_or_insert_default();
        let all = all.required_during_scheduling_ignored_during_execution.get_or_insert_default();
        all.retain(|rule| !apart.contains(rule));
        all.extend(apart);
    }
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| {
        format!(
            "{what} is not a map of fields; specify part of a pod, for example spec: \
             {{priorityClassName: high}}"
        )
    })
}

/// The first field that is in one and not in the other.
fn lost(asked: &Value, known: &Value, path: &str) -> Option<String> {
    match (asked, known) {
        (Value::Object(asked), Value::Object(known)) => asked.iter().find_map(|(field, value)| {
            let path = if path.is_empty() { field.clone() } else { format!("{path}.{field}") };
            match known.get(field) {
                Some(known) => lost(value, known, &path),
                None => Some(path),
            }
        }),
        (Value::Array(asked), Value::Array(known)) => {
            asked.iter().zip(known).find_map(|(asked, known)| lost(asked, known, path))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn applied(text: &str, ours: Value) -> Value {
        let pod = serde_json::from_value(ours).unwrap();
        let pod = PodOverrides::parse(text).unwrap().applied_to(pod);
        serde_json::to_value(pod).unwrap()
    }

    #[test]
    fn what_is_asked_for_is_added_and_the_run_keeps_what_it_needs() {
        let node = json!({ "nodeSelectorTerms": [{ "matchFields": [
            { "key": "metadata.name", "operator": "In", "values": ["n1"] },
        ]}]});
        let apart = json!([{ "topologyKey": "kubernetes.io/hostname" }]);
        let pod = applied(
            "
metadata:
  labels: {iotax/run: theirs, team: db}
spec:
  runtimeClassName: gvisor
  securityContext: {runAsGroup: 7}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: pool, operator: In, values: [disks]}]
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: rack
",
            json!({
                "metadata": { "name": "a", "labels": { "iotax/run": "1" } },
                "spec": {
                    "containers": [{ "name": "iotax" }],
                    "securityContext": { "runAsUser": 5, "runAsGroup": 5 },
                    "affinity": {
                        "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": node },
                        "podAntiAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": apart
                        },
                    },
                },
            }),
        );
        assert_eq!(pod["metadata"]["labels"], json!({ "iotax/run": "1", "team": "db" }));
        let spec = &pod["spec"];
        assert_eq!(spec["runtimeClassName"], "gvisor");
        assert_eq!(spec["securityContext"], json!({ "runAsUser": 5, "runAsGroup": 7 }));
        assert_eq!(spec["containers"], json!([{ "name": "iotax" }]));
        let rule = |kind: &str| {
            spec["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"].clone()
        };
        assert_eq!(rule("nodeAffinity"), node);
        let both = json!([{ "topologyKey": "rack" }, { "topologyKey": "kubernetes.io/hostname" }]);
        assert_eq!(rule("podAntiAffinity"), both);
    }

    #[test]
    fn what_is_no_part_of_a_pod_or_is_not_theirs_is_refused() {
        let refused = |text: &str| PodOverrides::parse(text).unwrap_err().to_string();
        for text in ["", "a", "[1]", "spec: 1", "spec: {affinity: 7}", "{", "spec: {hostPID: true}"]
        {
            refused(text);
        }
        insta::assert_snapshot!(refused("spec: {containers: []}"), @"these settings cannot be added to pods: `spec.containers` cannot be set; the supported settings are metadata.annotations, metadata.labels, spec.affinity, spec.dnsConfig, spec.dnsPolicy, spec.hostAliases, spec.overhead, spec.preemptionPolicy, spec.priorityClassName, spec.runtimeClassName, spec.schedulerName, spec.securityContext, spec.serviceAccountName, spec.topologySpreadConstraints");
        insta::assert_snapshot!(refused("spec: {affinity: {nodeAfinity: {}}}"), @"these settings cannot be added to pods: a pod has no field `spec.affinity.nodeAfinity`");
        insta::assert_snapshot!(refused("spec"), @"these settings cannot be added to pods: this is not a map of fields; specify part of a pod, for example spec: {priorityClassName: high}");
    }

    #[test]
    fn what_changes_files_is_known() {
        let of = |text: &str| PodOverrides::parse(text).unwrap().changing_files();
        assert_eq!(of("spec: {securityContext: {fsGroup: 7}}"), Some("fsGroup"));
        assert_eq!(
            of("spec: {securityContext: {seLinuxOptions: {level: a}}}"),
            Some("seLinuxOptions")
        );
        assert_eq!(of("spec: {securityContext: {supplementalGroups: [7]}}"), None);
        assert_eq!(PodOverrides::default().changing_files(), None);
    }

    #[test]
    fn all_that_may_be_said_is_of_a_pod() {
        for (group, fields) in FIELDS {
            for field in fields {
                let right = ["null", "{}", "[]", "text"].iter().find(|value| {
                    PodOverrides::parse(&format!("{group}: {{{field}: {value}}}")).is_ok()
                });
                assert!(right.is_some(), "{group}.{field}");
            }
        }
    }

    #[test]
    fn a_text_that_unfolds_to_more_than_there_is_memory_for_is_refused() {
        let rows = (1..40).map(|at| {
            let four = vec![format!("*a{}", at - 1); 4].join(", ");
            format!("  a{at}: &a{at} [{four}]\n")
        });
        let text = format!("spec:\n  a0: &a0 [x]\n{}", rows.collect::<String>());
        assert!(PodOverrides::parse(&text).is_err());
    }

    proptest::proptest! {
        #[test]
        fn whatever_anybody_writes_is_read_or_refused(text in "(metadata|spec|affinity|[ \\n:{}\\[\\],&*!|>-]|[a-z0-9]){0,60}") {
            let _ = PodOverrides::parse(&text);
        }
    }
}
