//! What volumes in use are, in the words of the catalogue.

use iotax_catalog::vm;
use iotax_experiment::CloudChoice;
use iotax_record::cluster::ClusterSeen;

use super::disks::{caching_word, disk_name};

/// A volume that was made: its class, its size, and the node that it is used from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeInUse {
    /// Its class, if it has one.
    pub class: Option<String>,
    /// What was asked for.
    pub bytes: u64,
    pub node: Option<String>,
}

/// The disks of these volumes, if all are known, and the VM size of their nodes, if it is one.
pub fn choice_of(seen: &ClusterSeen, volumes: &[VolumeInUse]) -> CloudChoice {
    let disk = |placed: &VolumeInUse| {
        let class = seen.class(placed.class.as_deref()?)?;
        let name = disk_name(class, placed.bytes)?;
        Some(match caching_word(class) {
            Some(word) if name.contains(':') => format!("{name},caching={word}"),
            Some(word) => format!("{name}:caching={word}"),
            None => name,
        })
    };
    let disks: Option<Vec<String>> = volumes.iter().map(disk).collect();
    let size = |placed: &VolumeInUse| seen.node(placed.node.as_deref()?)?.instance_type.clone();
    let sizes: Option<Vec<String>> = volumes.iter().map(size).collect();
    let one = sizes.and_then(|mut sizes| {
        sizes.dedup();
        sizes.pop().filter(|size| sizes.is_empty() && vm(size).is_ok())
    });
    CloudChoice { vm: one, disks: disks.unwrap_or_default(), ..CloudChoice::default() }
}

#[cfg(test)]
mod tests {
    use iotax_record::cluster::{ClassSeen, NodeSeen};

    use super::*;

    fn chosen(nodes: [(&str, &str); 2], provisioner: &str, kind: (&str, &str)) -> CloudChoice {
        let class = ClassSeen {
            name: "c".to_owned(),
            provisioner: provisioner.to_owned(),
            parameters: [(kind.0.to_owned(), kind.1.to_owned())].into(),
            ..ClassSeen::default()
        };
        let node = |(name, size): (&str, &str)| NodeSeen {
            name: name.to_owned(),
            instance_type: Some(size.to_owned()),
            ..NodeSeen::default()
        };
        let seen = ClusterSeen {
            classes: vec![class],
            nodes: nodes.map(node).to_vec(),
            ..ClusterSeen::default()
        };
        let placed = nodes.map(|(name, _)| VolumeInUse {
            class: Some("c".to_owned()),
            bytes: 100 << 30,
            node: Some(name.to_owned()),
        });
        choice_of(&seen, &placed)
    }

    #[test]
    fn volumes_are_named_with_their_vm_if_that_is_one() {
        let same =
            chosen([("a", "m5.large"), ("b", "m5.large")], "ebs.csi.aws.com", ("type", "gp2"));
        assert_eq!(same.disks, ["gp2:size=100G", "gp2:size=100G"]);
        assert_eq!(same.vm.as_deref(), Some("m5.large"));
        let apart =
            chosen([("a", "m5.large"), ("b", "c5.large")], "ebs.csi.aws.com", ("type", "gp3"));
        assert_eq!((apart.vm, apart.disks.len()), (None, 2));
        let azure = "disk.csi.azure.com";
        let sku = ("skuName", "Premium_LRS");
        let cached = chosen([("a", "Standard_D2s_v3"), ("b", "Standard_D2s_v3")], azure, sku);
        assert_eq!(cached.disks, ["P10:caching=readonly", "P10:caching=readonly"]);
        let none = chosen([("a", "k3s"), ("b", "k3s")], "rancher.io/local-path", ("x", "y"));
        assert_eq!(none, CloudChoice::default());
    }
}
