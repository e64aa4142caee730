//! The nodes of a cluster, and which of them accept a pod.

use k8s_openapi::api::core::v1::{Node, Taint};
use kube::api::ListParams;

use crate::connect::Cluster;
use crate::error::{Call, Error};
use crate::objects::Toleration;

/// A node, and why no pod goes to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetNode {
    pub name: String,
    /// `None` if it accepts pods.
    pub refuses: Option<String>,
}

/// The nodes with all labels of `selector`, in Kubernetes' syntax, sorted by name.
///
/// # Errors
/// If they cannot be listed, which needs a cluster-wide right that few users have.
pub fn nodes(
    cluster: &Cluster,
    selector: Option<&str>,
    tolerations: &[Toleration],
) -> Result<Vec<FleetNode>, Error> {
    let which = selector.map_or_else(ListParams::default, |s| ListParams::default().labels(s));
    let nodes = cluster.api_of_all::<Node>();
    let listed = cluster.ask(Call::new("list", "nodes"), nodes.list(&which));
    let listed = listed.map_err(|error| match error {
        Error::Forbidden { message, .. } => Error::NodesForbidden { message },
        other => other,
    })?;
    let mut seen: Vec<FleetNode> = listed.into_iter().map(|node| look(node, tolerations)).collect();
    seen.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(seen)
}

fn look(node: Node, tolerations: &[Toleration]) -> FleetNode {
    let refuses = refuses(&node, tolerations);
    FleetNode { name: node.metadata.name.unwrap_or_default(), refuses }
}

fn refuses(node: &Node, tolerations: &[Toleration]) -> Option<String> {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    let ready = conditions.into_iter().flatten().find(|condition| condition.type_ == "Ready");
    if ready.is_none_or(|ready| ready.status != "True") {
        return Some("it is not ready".to_owned());
    }
    let spec = node.spec.as_ref()?;
    if spec.unschedulable == Some(true) {
        return Some("it is cordoned".to_owned());
    }
    let keeps_off = |taint: &&Taint| {
        ["NoSchedule", "NoExecute"].contains(&taint.effect.as_str())
            && !tolerations.iter().any(|toleration| bears(toleration, taint))
    };
    let taint = spec.taints.iter().flatten().find(keeps_off)?;
    Some(format!("its taint {} keeps pods away (tolerate it with --toleration {0})", taint.key))
}

fn bears(toleration: &Toleration, taint: &Taint) -> bool {
    let is = |asked: &Option<String>, has: Option<&str>| {
        asked.as_deref().is_none_or(|asked| Some(asked) == has)
    };
    is(&toleration.key, Some(&taint.key))
        && is(&toleration.value, taint.value.as_deref())
        && is(&toleration.effect, Some(&taint.effect))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(status: &str, spec: &serde_json::Value) -> Node {
        serde_json::from_value(json!({
            "metadata": { "name": "n1" },
            "spec": spec,
            "status": { "conditions": [{ "type": "Ready", "status": status }] },
        }))
        .unwrap()
    }

    #[test]
    fn nodes_that_take_no_pod_say_why() {
        let why = |status, spec| refuses(&node(status, &spec), &[]).unwrap_or_default();
        assert_eq!(why("True", json!({})), "");
        assert_eq!(why("Unknown", json!({})), "it is not ready");
        assert_eq!(why("True", json!({ "unschedulable": true })), "it is cordoned");
        let tainted =
            |effect| json!({ "taints": [{ "key": "disks", "value": "a", "effect": effect }] });
        assert_eq!(
            why("True", tainted("NoSchedule")),
            "its taint disks keeps pods away (tolerate it with --toleration disks)"
        );
        assert_eq!(why("True", tainted("PreferNoSchedule")), "");
    }

    #[test]
    fn taints_are_borne_as_they_are_tolerated() {
        let spec = json!({ "taints": [{ "key": "disks", "value": "a", "effect": "NoExecute" }] });
        let takes = |key: Option<&str>, value: Option<&str>, effect: Option<&str>| {
            let own = |text: Option<&str>| text.map(str::to_owned);
            let toleration = Toleration { key: own(key), value: own(value), effect: own(effect) };
            refuses(&node("True", &spec), &[toleration]).is_none()
        };
        assert!(takes(None, None, None) && takes(Some("disks"), Some("a"), Some("NoExecute")));
        assert!(!takes(Some("disks"), Some("b"), None) && !takes(Some("other"), None, None));
        assert!(!takes(Some("disks"), None, Some("NoSchedule")));
    }
}
