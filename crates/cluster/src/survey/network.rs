//! What makes the network between pods, by the names that network plugins have everywhere.

use std::collections::BTreeMap;

use iotax_record::cluster::{PluginSeen, PluginSetting, PodNetwork};
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{ConfigMap, Node};

use super::objects::Objects;

/// Names of daemon sets, and whose they are.
const PLUGINS: [(&str, &str); 14] = [
    ("cilium", "Cilium"),
    ("anetd", "Cilium (GKE Dataplane V2)"),
    ("calico-node", "Calico"),
    ("canal", "Canal"),
    ("kube-flannel-ds", "Flannel"),
    ("kube-flannel", "Flannel"),
    ("aws-node", "Amazon VPC CNI"),
    ("azure-cns", "Azure CNI"),
    ("antrea-agent", "Antrea"),
    ("kube-router", "kube-router"),
    ("weave-net", "Weave Net"),
    ("kindnet", "kindnet"),
    ("ovnkube-node", "OVN-Kubernetes"),
    ("kube-ovn-cni", "Kube-OVN"),
];
/// Flannel inside another program (k3s) has no daemon set, and notes this of each node.
const FLANNEL: &str = "flannel.alpha.coreos.com/backend-type";
/// Calico notes a key of each node that encrypts.
const CALICO_KEY: &str = "projectcalico.org/WireguardPublicKey";

pub(super) fn network(objects: &Objects) -> PodNetwork {
    let mut plugins: Vec<PluginSeen> = objects.sets.iter().filter_map(plugin).collect();
    if plugins.is_empty()
        && let Some(backend) = objects.nodes.iter().find_map(|node| noted(node, FLANNEL))
    {
        let by = format!("what nodes note, {FLANNEL}: {backend}");
        plugins.push(PluginSeen { name: "Flannel".to_owned(), by, ..PluginSeen::default() });
    }
    for plugin in &mut plugins {
        plugin.settings = settings(plugin, objects);
        plugin.encryption = plugin.settings.iter().find_map(encryption);
        plugin.mtu = plugin.mtu.or_else(|| plugin.settings.iter().find_map(mtu));
    }
    PodNetwork { plugins, proxy_mode: proxy_mode(&objects.maps) }
}

fn plugin(set: &DaemonSet) -> Option<PluginSeen> {
    let name = set.metadata.name.as_deref()?;
    let (_, whose) = PLUGINS.iter().find(|(known, _)| *known == name)?;
    let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
    let containers = set.spec.iter().filter_map(|spec| spec.template.spec.as_ref());
    let containers = containers.flat_map(|spec| &spec.containers);
    let mut variables = containers.flat_map(|container| container.env.iter().flatten());
    let mtu = variables.find(|variable| variable.name == "AWS_VPC_ENI_MTU");
    Some(PluginSeen {
        name: (*whose).to_owned(),
        by: format!("daemonset {namespace}/{name}"),
        mtu: mtu.and_then(|variable| variable.value.as_deref()?.parse().ok()),
        ..PluginSeen::default()
    })
}

/// What is set of encryption and of the size of packets.
fn settings(plugin: &PluginSeen, objects: &Objects) -> Vec<PluginSetting> {
    let set = |map: &str, keys: &[&str]| -> Vec<PluginSetting> {
        let data = data(&objects.maps, map);
        let known = keys.iter().filter_map(|key| Some((*key, data.get(*key)?)));
        known.map(|(key, value)| setting(map, key, value)).collect()
    };
    let notes = |key: &'static str| {
        let value = objects.nodes.iter().find_map(|node| noted(node, key));
        value.map(|value| setting("what nodes note", key, value))
    };
    match plugin.name.as_str() {
        "Cilium" | "Cilium (GKE Dataplane V2)" => {
            set("cilium-config", &["enable-wireguard", "enable-ipsec", "mtu"])
        }
        "Calico" => {
            let key = notes(CALICO_KEY).into_iter();
            key.chain(set("calico-config", &["veth_mtu"])).collect()
        }
        "Canal" => set("canal-config", &["veth_mtu"]),
        "Flannel" => {
            let of_map = in_json(&objects.maps, "kube-flannel-cfg", "net-conf.json", "Type");
            of_map.into_iter().chain(notes(FLANNEL)).collect()
        }
        "Antrea" => {
            let line = in_lines(&objects.maps, "antrea-config", "antrea-agent.conf");
            ["trafficEncryptionMode", "defaultMTU"].iter().filter_map(|key| line(key)).collect()
        }
        _ => Vec::new(),
    }
}

fn setting(place: &str, key: &str, value: &str) -> PluginSetting {
    let [place, key, value] = [place, key, value].map(str::to_owned);
    PluginSetting { place, key, value }
}

/// What a setting encrypts with.
fn encryption(PluginSetting { key, value, .. }: &PluginSetting) -> Option<String> {
    let is_on = |name: &str| key == name && value == "true";
    let by = match () {
        () if is_on("enable-wireguard") || key == CALICO_KEY => "WireGuard",
        () if is_on("enable-ipsec") => "IPsec",
        () if value.eq_ignore_ascii_case("wireguard") => "WireGuard",
        () if value.eq_ignore_ascii_case("ipsec") => "IPsec",
        () => return None,
    };
    Some(by.to_owned())
}

fn mtu(PluginSetting { key, value, .. }: &PluginSetting) -> Option<u32> {
    // 0 leaves it to the plugin.
    let is_mtu = ["mtu", "veth_mtu", "defaultMTU"].contains(&key.as_str());
    value.parse().ok().filter(|mtu| is_mtu && *mtu > 0)
}

fn noted<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

fn data<'a>(maps: &'a [ConfigMap], name: &str) -> BTreeMap<&'a str, &'a str> {
    let named = maps.iter().filter(|map| map.metadata.name.as_deref() == Some(name));
    let data = named.flat_map(|map| map.data.iter().flatten());
    data.map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

/// The backend of Flannel in a file in JSON.
fn in_json(maps: &[ConfigMap], map: &str, file: &str, key: &str) -> Option<PluginSetting> {
    let data = data(maps, map);
    let parsed: serde_json::Value = serde_json::from_str(data.get(file)?).ok()?;
    Some(setting(map, key, parsed["Backend"][key].as_str()?))
}

/// A line `KEY: VALUE` in a file.
fn in_lines<'a>(
    maps: &'a [ConfigMap],
    map: &'a str,
    file: &'a str,
) -> impl Fn(&str) -> Option<PluginSetting> + 'a {
    let text = data(maps, map).get(file).copied().unwrap_or_default();
    move |key| {
        let value =
            text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(':'))?;
        let value = value.trim().trim_matches('"');
        (!value.is_empty()).then(|| setting(map, key, value))
    }
}

/// `iptables`, `ipvs`, `nftables`; an empty one is the default of its version.
fn proxy_mode(maps: &[ConfigMap]) -> Option<String> {
    let mode = in_lines(maps, "kube-proxy", "config.conf");
    mode("mode").map(|setting| setting.value)
}
