use iotax_diagnose::{Lack, LayerCoverage, LayerKind};
use iotax_quantity::count;
use iotax_record::Machine;

use super::names::listed;

/// `/mnt/data (ext4)`, `md0 (raid6)`.
pub fn layer(layer: &LayerCoverage) -> String {
    format!("{} ({})", layer.name, layer_kind(&layer.kind))
}

pub fn layer_kind(kind: &LayerKind) -> String {
    match kind {
        LayerKind::Named(name) => name.clone(),
        LayerKind::Raid => "RAID".to_owned(),
        LayerKind::Mapped(targets) if targets.is_empty() => "device mapper".to_owned(),
        LayerKind::Mapped(targets) => format!("device mapper {}", targets.join(" + ")),
        LayerKind::Loop => "loop device".to_owned(),
        LayerKind::Memory => "memory".to_owned(),
        LayerKind::Disk { transport: Some(transport) } => format!("{transport} disk"),
        LayerKind::Disk { transport: None } => "disk".to_owned(),
    }
}

/// A missing fact that rules need.
pub fn lack(lack: Lack) -> String {
    let text = match lack {
        Lack::NfsStatistics => "the mount's statistics (/proc/self/mountstats)",
        Lack::NfsInterface => "the network interface to its server (ip route get)",
        Lack::ReadAhead => "its read-ahead (/sys/class/bdi)",
        Lack::Listener => "which process listens on its port (as root)",
        Lack::ZfsProperties => "the dataset's properties (zfs get)",
        Lack::ZfsVdevs => "its pool's vdevs (zpool status)",
        Lack::ContentsOfDevice => "which file system is on its device (blkid)",
        Lack::MapperTable => "its table (as root: dmsetup table)",
        Lack::RaidState => "its bitmap, stripe cache and rebuild state (/sys/block/mdN/md)",
        Lack::KindOfDisk { example } => {
            return format!("its disk type (--fact disk={example})");
        }
        Lack::VmLimits => "the documented limits of this VM size",
        Lack::WhatItIs => "which storage the hypervisor uses for it",
        Lack::Rotation => "whether it rotates (queue/rotational)",
        Lack::Model => "its model, which shows whether the drive is shingled",
    };
    text.to_owned()
}

/// Largest number of layers that a sentence names.
const MOST: usize = 6;

/// States what was checked if there are no findings.
pub fn nothing_found(machine: &Machine, coverage: &[LayerCoverage]) -> String {
    if !machine.paths.iter().any(|path| path.top.is_some()) {
        return if machine.paths.is_empty() {
            "The record does not contain the layers under the targets.".to_owned()
        } else {
            "Nothing could be inspected.".to_owned()
        };
    }
    let mut checked: Vec<String> = coverage.iter().filter(|one| one.has_rules).map(layer).collect();
    if checked.is_empty() {
        return if coverage.is_empty() {
            "None of the known causes was found.".to_owned()
        } else {
            "iotax checked nothing: it has no rules for these layers.".to_owned()
        };
    }
    let more = checked.len().saturating_sub(MOST);
    checked.truncate(MOST);
    let more = (more > 0).then(|| count(more as u64, "more layer"));
    checked.extend(more);
    format!("None of the known causes was found in {}.", listed(&checked))
}

/// Layers without rules, and facts that rules lacked.
pub fn not_checked(coverage: &[LayerCoverage]) -> Vec<String> {
    let lines = |one: &LayerCoverage| {
        let (name, kind) = (layer(one), layer_kind(&one.kind));
        let none = (!one.has_rules).then(|| format!("{name}: iotax has no rules for {kind}"));
        let missing = one.missing.iter().map(|fact| format!("{name}: {}", lack(*fact)));
        none.into_iter().chain(missing).collect::<Vec<_>>()
    };
    coverage.iter().flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use iotax_record::machine::PathSeen;

    use super::*;

    fn layer(name: &str, has_rules: bool, missing: &[Lack]) -> LayerCoverage {
        let (kind, missing) = (LayerKind::Named(name.to_owned()), missing.to_vec());
        LayerCoverage { name: "/mnt".to_owned(), kind, has_rules, missing }
    }

    #[test]
    fn only_layers_with_rules_are_said_to_have_no_cause() {
        let path = PathSeen { top: Some(0), ..PathSeen::default() };
        let machine = Machine { paths: vec![path], ..Machine::default() };
        let said = |coverage: &[LayerCoverage]| nothing_found(&machine, coverage);
        insta::assert_snapshot!(said(&[layer("ext4", true, &[]), layer("gfs2", false, &[])]), @"None of the known causes was found in /mnt (ext4).");
        insta::assert_snapshot!(said(&[layer("gfs2", false, &[])]), @"iotax checked nothing: it has no rules for these layers.");
        let many = [(); 9].map(|()| layer("ext4", true, &[]));
        assert!(said(&many).ends_with("and 3 more layers."), "{}", said(&many));
        assert_eq!(
            nothing_found(&Machine::default(), &[]),
            "The record does not contain the layers under the targets."
        );
        let lines =
            not_checked(&[layer("gfs2", false, &[]), layer("zfs", true, &[Lack::ZfsVdevs])]);
        assert_eq!(
            lines,
            [
                "/mnt (gfs2): iotax has no rules for gfs2",
                "/mnt (zfs): its pool's vdevs (zpool status)"
            ]
        );
    }
}
