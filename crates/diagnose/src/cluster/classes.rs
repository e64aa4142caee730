//! What a storage class asks of its driver.

use std::collections::BTreeSet;

use iotax_quantity::list;
use iotax_record::cluster::{ClaimSeen, ClassSeen, ClusterSeen};

use super::disks::{is_true, is_zonal, parameter};
use super::found::{Found, Of};
use crate::machine::{Certainty, Finding, Observation};

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
    "postgres",
    "mysql",
    "mariadb",
    "mongo",
    "etcd",
    "redis",
    "kafka",
    "cassandra",
    "elastic",
    "opensearch",
    "clickhouse",
    "rabbitmq",
    "prometheus",
];
/// Claims that a finding names at most.
const NAMED: usize = 3;

pub(super) fn find(seen: &ClusterSeen) -> Found {
    let rules = [immediate, on_node, of_server, encrypts, read_ahead];
    let of_class = |class| rules.iter().filter_map(move |rule| rule(seen, class));
    let found = seen
        .classes
        .iter()
        .flat_map(|class| of_class(class).map(|finding| (Of::Class(class.name.clone()), finding)));
    found.collect()
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
    cause: &str,
    class: &ClassSeen,
    certainty: Certainty,
    why: String,
) -> Finding {
    let about = format!("class {}", class.name);
    Finding::new(cause, about, certainty, why).observed(field(
        class,
        "provisioner",
        &class.provisioner,
    ))
}

pub(super) fn field(class: &ClassSeen, name: &str, value: &str) -> Observation {
    Observation::field(format!("storageclass {}", class.name), name, value)
}

/// Volumes of one zone that are made before anybody knows where their pod will be.
fn immediate(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    let zones: BTreeSet<&str> = seen.nodes.iter().filter_map(|node| node.zone.as_deref()).collect();
    let is_bound =
        class.binding == "Immediate" && (is_zonal(class) || !class.topologies.is_empty());
    if !is_bound || zones.len() < 2 {
        return None;
    }
    let zones: Vec<_> = zones.into_iter().collect();
    let why = format!(
        "A volume of {} is made in one of {} zones before its pod has a node: the pod has to follow it \
         there, or waits.",
        class.name,
        zones.len()
    );
    let finding = of_class("immediate-binding", class, Certainty::Likely, why)
        .observed(field(class, "volumeBindingMode", &class.binding))
        .observed(Observation::field("nodes", "zones", list(&zones)))
        .command(against(seen, &class.name, "randread-4k"));
    Some(finding)
}

fn on_node(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    ON_NODE.contains(&class.provisioner.as_str()).then_some(())?;
    let why = format!(
        "Volumes of {} are directories of their node: they share its disk with images, logs and each \
         other, and nothing holds them to their size or to a rate.",
        class.name
    );
    let command =
        format!("iotax kube compare -w randread-4k this=class:{} node=emptydir", class.name);
    let finding = of_class("volume-on-node-disk", class, Certainty::Likely, why)
        .command(command)
        .observed_if(used(seen, class));
    Some(finding)
}

fn of_server(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    let provisioner = class.provisioner.as_str();
    // Some bear the name of whoever installed them.
    let (_, last) = provisioner.rsplit_once('/').unwrap_or(("", provisioner));
    let is_ceph = provisioner.ends_with(".cephfs.csi.ceph.com");
    if !is_ceph && !OF_SERVER.contains(&provisioner) && !OF_SERVER.contains(&last) {
        return None;
    }
    let is_database = |name: &str| DATABASES.iter().any(|program| name.contains(program));
    let databases: Vec<String> = claims(seen, class)
        .filter(|claim| {
            is_database(&claim.name) || claim.pods.iter().any(|pod| is_database(&pod.name))
        })
        .map(ClaimSeen::full_name)
        .collect();
    let named: Vec<&str> = databases.iter().take(NAMED).map(String::as_str).collect();
    let are = if named.len() == 1 { "is" } else { "are" };
    let (certainty, rest) = if named.is_empty() {
        (
            Certainty::ToBeTested,
            "programs that sync small writes, such as databases, wait for it".to_owned(),
        )
    } else {
        (Certainty::Likely, format!("{} {are} named like programs that wait for it", list(&named)))
    };
    let why = format!(
        "Volumes of {} are directories of a file server: each open, stat and sync is a round trip; \
         {rest}.",
        class.name
    );
    let disk = seen.classes.iter().find(|other| is_zonal(other));
    let command = disk.map_or_else(
        || against(seen, &class.name, "etcd-wal"),
        |disk| {
            format!(
                "iotax kube compare -w etcd-wal this=class:{} disk=class:{}",
                class.name, disk.name
            )
        },
    );
    let finding = of_class("network-file-system-class", class, certainty, why)
        .observed_if(used(seen, class))
        .command(command);
    Some(finding)
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
    let why = format!(
        "Each I/O to a volume of {} passes dm-crypt on the node that uses it, on that node's CPUs.",
        class.name
    );
    let command = match plain {
        Some(plain) => format!(
            "iotax kube compare -w randread-4k plain=class:{} encrypted=class:{}",
            plain.name, class.name
        ),
        None => against(seen, &class.name, "randread-4k"),
    };
    let finding = of_class("driver-encrypts", class, Certainty::Likely, why)
        .observed(field(class, &format!("parameters, {key}"), value))
        .command(command);
    Some(finding)
}

/// The profile of Azure's driver that makes read-ahead small.
fn read_ahead(seen: &ClusterSeen, class: &ClassSeen) -> Option<Finding> {
    let profile = parameter(class, &["perfProfile"])?;
    if !profile.eq_ignore_ascii_case("basic") {
        return None;
    }
    let why = format!(
        "The driver sets a read-ahead of 8 KiB on disks of {}: buffered sequential reads are small.",
        class.name
    );
    let finding = of_class("azuredisk-read-ahead", class, Certainty::Likely, why)
        .observed(field(class, "parameters, perfProfile", profile))
        .command(against(seen, &class.name, "randread-4k"));
    Some(finding)
}

/// How many claims there are of a class, if any.
fn used(seen: &ClusterSeen, class: &ClassSeen) -> Option<Observation> {
    let names: Vec<String> = claims(seen, class).map(ClaimSeen::full_name).collect();
    let (first, rest) = names.split_at(names.len().min(NAMED));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let value = format!("{}{more}", first.join(", "));
    (!names.is_empty()).then(|| Observation::field("claims", "of this class", value))
}
