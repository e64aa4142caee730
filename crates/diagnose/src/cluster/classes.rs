//! What a storage class asks of its driver.

use std::collections::BTreeSet;

use iotax_record::cluster::{ClaimSeen, ClassSeen, ClusterSeen};

use super::disks::{is_true, is_zonal, parameter};
use super::why::ClusterWhy;
use crate::machine::{
    Certainty, Component, ComponentKind, Field, Finding, Names, Observation, Value,
};

/// Provisioners whose volumes are directories of a node's own file system.
const ON_NODE: [&str; 6] = [
    "rancher.io/local-path",
    "microk8s.io/hostpath",
    "docker.io/hostpath",
    "k8s.io/minikube-hostpath",
    "hostpath.csi.k8s.io",
    "openebs.io/local",
];
/// Provisioners whose volumes are directories of a server.
const OF_SERVER: [&str; 11] = [
    "file.csi.azure.com",
    "kubernetes.io/azure-file",
    "blob.csi.azure.com",
    "efs.csi.aws.com",
    "nfs.csi.k8s.io",
    "smb.csi.k8s.io",
    "filestore.csi.storage.gke.io",
    "cephfs.csi.ceph.com",
    "nfs-subdir-external-provisioner",
    "nfs-client",
    "csi.juicefs.com",
];
/// Provisioners that encrypt a volume on the node that uses it, if they are asked to; a prefix may
/// stand before them.
const ON_ITS_NODE: [&str; 10] = [
    "driver.longhorn.io",
    "rbd.csi.ceph.com",
    "lvm.driver.harvesterhci.io",
    "driver.harvesterhci.io",
    "lvm.csi.metal-stack.io",
    "linstor.csi.linbit.com",
    "pxd.portworx.com",
    "topolvm.io",
    "topolvm.cybozu.com",
    "local.csi.openebs.io",
];
/// Names of programs that wait for each of their small writes.
const DATABASES: [&str; 13] = [
    "postgres", "mysql", "mariadb", "mongo", "etcd", "redis", "kafka", "cassandra", "elastic",
    "opensearch", "clickhouse", "rabbitmq", "prometheus",
];
/// Claims that a finding names at most.
const NAMED: usize = 3;

pub(super) fn of_classes(seen: &ClusterSeen) -> Vec<Finding> {
    let rules = [immediate, on_node, of_server, encrypts, read_ahead];
    let of_class = |class| rules.iter().filter_map(move |rule| rule(seen, class));
    seen.classes.iter().flat_map(of_class).collect()
}

/// A comparison of a class with another one, or with the node's own disk.
pub(super) fn against(seen: &ClusterSeen, class: &str, workload: &str) -> String {
    let other = seen.classes.iter().find(|other| other.name != class);
    let other =
        other.map_or_else(|| "emptydir".to_owned(), |other| format!("class:{}", other.name));
    format!("iotax kube compare -w {workload} this=class:{class} other={other}")
}

/// Claims of a class.
pub(super) fn claims<'a>(
    seen: &'a ClusterSeen,
    class: &'a ClassSeen,
) -> impl Iterator<Item = &'a ClaimSeen> {
    seen.claims.iter().filter(|claim| claim.class.as_deref() == Some(&class.name))
}

/// A finding about a class, with what makes its volumes.
pub(super) fn of_class(
    cause: &'static str,
    class: &ClassSeen,
    certainty: Certainty,
    why: ClusterWhy,
) -> Finding {
    let about = Component::new(ComponentKind::Class, class.name.as_str());
    let provisioner = field(class, "provisioner", &class.provisioner);
    Finding::new(cause, about, certainty, why).observed(provisioner)
}

pub(super) fn field(class: &ClassSeen, name: impl Into<Field>, value: &str) -> Observation {
    Observation::object("storageclass", &class.name, name, value)
}

/// Volumes of one zone that are made before anybody knows where their pod will be.
fn immediate(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    let zones: BTreeSet<&str> = seen.nodes.iter().filter_map(|node| node.zone.as_deref()).collect();
    let zones: Vec<String> = zones.into_iter().map(str::to_owned).collect();
    let is_of_zone = is_zonal(class) || !class.topologies.is_empty();
    let is_bound = class.binding == "Immediate" && is_of_zone && zones.len() > 1;
    let why = ClusterWhy::Immediate { zones: zones.len() };
    of_class("immediate-binding", class, Certainty::Likely, why)
        .observed(field(class, "volumeBindingMode", &class.binding))
        .observed(Observation::field("nodes", "zones", Value::All(zones)))
        .command(against(seen, &class.name, "randread-4k"))
        .when(is_bound)
}

fn on_node(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    let this = &class.name;
    of_class("volume-on-node-disk", class, Certainty::Likely, ClusterWhy::OnNode)
        .observed_all(used(seen, class))
        .command(format!("iotax kube compare -w randread-4k this=class:{this} node=emptydir"))
        .when(ON_NODE.contains(&class.provisioner.as_str()))
}

fn of_server(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    let provisioner = class.provisioner.as_str();
    // Some bear the name of whoever installed them.
    let (_, last) = provisioner.rsplit_once('/').unwrap_or(("", provisioner));
    let is_it = provisioner.ends_with(".cephfs.csi.ceph.com")
        || OF_SERVER.contains(&provisioner)
        || OF_SERVER.contains(&last);
    let is_database = |name: &str| DATABASES.iter().any(|program| name.contains(program));
    let is_named = |claim: &&ClaimSeen| {
        is_database(&claim.name) || claim.pods.iter().any(|pod| is_database(&pod.name))
    };
    let databases = claims(seen, class).filter(is_named).take(NAMED).map(ClaimSeen::full_name);
    let databases: Vec<String> = databases.collect();
    let certainty = if databases.is_empty() { Certainty::ToBeTested } else { Certainty::Likely };
    let (this, disk) = (&class.name, seen.classes.iter().find(|other| is_zonal(other)));
    let command = match disk {
        Some(ClassSeen { name, .. }) => {
            format!("iotax kube compare -w etcd-wal this=class:{this} disk=class:{name}")
        }
        None => against(seen, this, "etcd-wal"),
    };
    of_class("network-file-system-class", class, certainty, ClusterWhy::OfServer { databases })
        .observed_all(used(seen, class))
        .command(command)
        .when(is_it)
}

/// Drivers that encrypt each volume on its node, and the parameter that asks for it.
fn encrypts(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    let provisioner = class.provisioner.as_str();
    let is_luks = ON_ITS_NODE.contains(&provisioner)
        || ON_ITS_NODE.iter().any(|known| provisioner.ends_with(&format!(".{known}")));
    let asks = |(key, value): &(&String, &String)| {
        // `linstor.csi.linbit.com/encryption` is what others call `encryption`.
        let name = key.rsplit('/').next().unwrap_or(key).to_ascii_lowercase();
        let is_asked = name.ends_with("luks-encrypted")
            || is_luks && ["encrypted", "encryption", "secure"].contains(&name.as_str());
        is_asked && is_true(value)
    };
    let (key, value) = class.parameters.iter().find(asks)?;
    let plain = seen.classes.iter().find(|other| {
        other.provisioner == class.provisioner && !other.parameters.contains_key(key)
    });
    let this = &class.name;
    let command = match plain {
        Some(ClassSeen { name, .. }) => {
            format!("iotax kube compare -w randread-4k plain=class:{name} encrypted=class:{this}")
        }
        None => against(seen, this, "randread-4k"),
    };
    of_class("driver-encrypts", class, Certainty::Likely, ClusterWhy::Encrypts)
        .observed(field(class, Field::Parameter(key.clone()), value))
        .command(command)
        .into()
}

/// The profile of Azure's driver that makes read-ahead small.
fn read_ahead(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    let profile = parameter(class, &["perfProfile"])?;
    of_class("azuredisk-read-ahead", class, Certainty::Likely, ClusterWhy::SmallReadAhead)
        .observed(field(class, Field::Parameter("perfProfile".to_owned()), profile))
        .command(against(seen, &class.name, "randread-4k"))
        .when(profile.eq_ignore_ascii_case("basic"))
}

/// How many claims there are of a class, if any.
fn used(seen: &ClusterSeen, class: &ClassSeen) -> Option<Observation> {
    let names: Vec<String> = claims(seen, class).map(ClaimSeen::full_name).collect();
    let has_some = !names.is_empty();
    let names = Value::Names(Names::of(names, NAMED));
    has_some.then(|| Observation::field("claims", Field::OfThisClass, names))
}
