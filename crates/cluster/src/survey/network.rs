//! The network between pods, by the usual names of network plugins.

use std::collections::BTreeMap;

use iotax_record::cluster::{PluginSeen, PluginSetting, PodNetwork};
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{ConfigMap, Node};

use super::Objects;

/// A network plugin, by the usual name of its daemon set.
struct KnownPlugin {
    daemon_set: &'static str,
    name: &'static str,
    /// Its settings of encryption and packet size.
    settings: fn(&Objects) -> Vec<PluginSetting>,
}

const PLUGINS: [KnownPlugin; 14] = [
    KnownPlugin { daemon_set: "cilium", name: "Cilium", settings: of_cilium },
    KnownPlugin { daemon_set: "anetd", name: "Cilium (GKE Dataplane V2)", settings: of_cilium },
    KnownPlugin { daemon_set: "calico-node", name: "Calico", settings: of_calico },
    KnownPlugin { daemon_set: "canal", name: "Canal", settings: of_canal },
    KnownPlugin { daemon_set: "kube-flannel-ds", name: "Flannel", settings: of_flannel },
    KnownPlugin { daemon_set: "kube-flannel", name: "Flannel", settings: of_flannel },
    KnownPlugin { daemon_set: "aws-node", name: "Amazon VPC CNI", settings: none },
    KnownPlugin { daemon_set: "azure-cns", name: "Azure CNI", settings: none },
    KnownPlugin { daemon_set: "antrea-agent", name: "Antrea", settings: of_antrea },
    KnownPlugin { daemon_set: "kube-router", name: "kube-router", settings: none },
    KnownPlugin { daemon_set: "weave-net", name: "Weave Net", settings: none },
    KnownPlugin { daemon_set: "kindnet", name: "kindnet", settings: none },
    KnownPlugin { daemon_set: "ovnkube-node", name: "OVN-Kubernetes", settings: none },
    KnownPlugin { daemon_set: "kube-ovn-cni", name: "Kube-OVN", settings: none },
];

/// Flannel inside another program (k3s) has no daemon set, but annotates each node with this.
const FLANNEL: &str = "flannel.alpha.coreos.com/backend-type";
/// Calico annotates each node that encrypts with its key.
const CALICO_KEY: &str = "projectcalico.org/WireguardPublicKey";

pub(super) fn network(objects: &Objects) -> PodNetwork {
    let of_set = |set| plugin(set, objects);
    let mut plugins: Vec<PluginSeen> = objects.sets.iter().filter_map(of_set).collect();
    if plugins.is_empty()
        && let Some(backend) = objects.nodes.iter().find_map(|node| noted(node, FLANNEL))
    {
        let by = format!("node annotation, {FLANNEL}: {backend}");
        plugins.push(described("Flannel", by, None, of_flannel(objects)));
    }
    PodNetwork { plugins, proxy_mode: proxy_mode(&objects.maps) }
}

fn plugin(set: &DaemonSet, objects: &Objects) -> Option<PluginSeen> {
    let name = set.metadata.name.as_deref()?;
    let known = PLUGINS.iter().find(|known| known.daemon_set == name)?;
    let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
    let containers = set.spec.iter().filter_map(|spec| spec.template.spec.as_ref());
    let containers = containers.flat_map(|spec| &spec.containers);
    let mut variables = containers.flat_map(|container| container.env.iter().flatten());
    let mtu = variables.find(|variable| variable.name == "AWS_VPC_ENI_MTU");
    let mtu = mtu.and_then(|variable| variable.value.as_deref()?.parse().ok());
    let by = format!("daemonset {namespace}/{name}");
    Some(described(known.name, by, mtu, (known.settings)(objects)))
}

fn described(name: &str, by: String, mtu: Option<u32>, settings: Vec<PluginSetting>) -> PluginSeen {
    PluginSeen {
        name: name.to_owned(),
        by,
        encryption: settings.iter().find_map(encryption),
        mtu: mtu.or_else(|| settings.iter().find_map(self::mtu)),
        settings,
    }
}

fn set(objects: &Objects, map: &str, keys: &[&str]) -> Vec<PluginSetting> {
    let data = data(&objects.maps, map);
    let known = keys.iter().filter_map(|key| Some((*key, data.get(*key)?)));
    known.map(|(key, value)| setting(map, key, value)).collect()
}

fn notes(objects: &Objects, key: &str) -> Option<PluginSetting> {
    let value = objects.nodes.iter().find_map(|node| noted(node, key))?;
    Some(setting("node annotation", key, value))
}

/// No known settings.
fn none(_: &Objects) -> Vec<PluginSetting> {
    Vec::new()
}

fn of_cilium(objects: &Objects) -> Vec<PluginSetting> {
    set(objects, "cilium-config", &["enable-wireguard", "enable-ipsec", "mtu"])
}

fn of_calico(objects: &Objects) -> Vec<PluginSetting> {
    let key = notes(objects, CALICO_KEY).into_iter();
    key.chain(set(objects, "calico-config", &["veth_mtu"])).collect()
}

fn of_canal(objects: &Objects) -> Vec<PluginSetting> {
    set(objects, "canal-config", &["veth_mtu"])
}

fn of_flannel(objects: &Objects) -> Vec<PluginSetting> {
    let of_map = in_json(&objects.maps, "kube-flannel-cfg", "net-conf.json", "Type");
    of_map.into_iter().chain(notes(objects, FLANNEL)).collect()
}

fn of_antrea(objects: &Objects) -> Vec<PluginSetting> {
    let line = in_lines(&objects.maps, "antrea-config", "antrea-agent.conf");
    ["trafficEncryptionMode", "defaultMTU"].into_iter().filter_map(line).collect()
}

fn setting(place: &str, key: &str, value: &str) -> PluginSetting {
    let [place, key, value] = [place, key, value].map(str::to_owned);
    PluginSetting { place, key, value }
}

/// The encryption that a setting turns on.
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
