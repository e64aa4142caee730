use iotax_diagnose::why::cluster::{ClusterWhy, Lowered, MountCost};
use iotax_diagnose::{Component, ComponentKind, LoweredRate};
use iotax_quantity::{count, size};

use super::limit::{disk_limits, for_how_long, lowered};
use super::names::{listed, names};

pub(super) fn why(why: &ClusterWhy, about: &[Component]) -> String {
    let of = names(about);
    match why {
        ClusterWhy::Immediate { zones } => format!(
            "A volume of {of} is created in one of {zones} zones before its pod is assigned to a \
             node. The pod must then run in that zone, or wait."
        ),
        ClusterWhy::OnNode => format!(
            "Volumes of {of} are directories on their node. They share the node's disk with \
             images, logs and other volumes, and nothing limits their size or rate."
        ),
        ClusterWhy::OfServer { databases } => format!(
            "Volumes of {of} are directories on a file server: each open, stat and sync is a round \
             trip. {}.",
            waiting(databases)
        ),
        ClusterWhy::Encrypts => format!(
            "Each I/O to a volume of {of} passes through dm-crypt, which runs on the CPUs of the \
             node that uses the volume."
        ),
        ClusterWhy::SmallReadAhead => format!(
            "The driver sets a read-ahead of 8 KiB on disks of {of}, so buffered sequential reads \
             are small."
        ),
        ClusterWhy::NoDefault { waiting: 0 } => {
            "A claim without a class stays pending, or gets a volume that an administrator created."
                .to_owned()
        }
        ClusterWhy::NoDefault { waiting } => format!(
            "Because there is no default class, no volume will be created for {} without a class and \
             without a volume.",
            count(*waiting as u64, "claim")
        ),
        ClusterWhy::SeveralDefaults { newest, classes } => format!(
            "Claims without a class get volumes of {newest}, the newest of the default classes \
             ({}).",
            listed(classes)
        ),
        ClusterWhy::Limit { gib, disk } => {
            format!(
                "A {} volume of {of} is limited to {}, whatever storage is below it.",
                size(gib << 30),
                disk_limits(disk)
            )
        }
        ClusterWhy::Burst { gib, burst } => {
            let lasts = for_how_long(burst.lasts_s);
            format!(
                "A {} volume of {of} bursts for {lasts}, then drops to the rate for its size. A \
                 short benchmark measures only the burst.",
                size(gib << 30)
            )
        }
        ClusterWhy::Mounted { option, costs } => {
            let is_class = about.iter().any(|one| one.kind == ComponentKind::Class);
            let volumes =
                if is_class { format!("Volumes of {of} are") } else { format!("{of} is") };
            let costs = match costs {
                MountCost::Sync => "every write waits for the disk",
                MountCost::Discard => "deletes send discards immediately",
                MountCost::AccessTime => "each read also updates the access time",
                MountCost::Attributes => "each file access causes a request to the server",
            };
            format!("{volumes} mounted with {option}: {costs}.")
        }
        ClusterWhy::Encrypted { plugin, by } => format!(
            "{plugin} uses {by} to encrypt traffic between pods on different nodes. This slows \
             storage served by pods, but not cloud disks."
        ),
        ClusterWhy::Trouble { conditions } => format!(
            "{of} reports {}. Its pods compete with the kubelet's cleanup, and may be evicted.",
            listed(conditions)
        ),
        ClusterWhy::Cordoned => format!(
            "{of} accepts no new pods. When its pods terminate, they are replaced on other nodes, \
             and volumes that exist only on this node stay behind."
        ),
        ClusterWhy::FullOfVolumes { driver } => format!(
            "{of} has reached its volume limit for {driver}. The next pod that needs such a volume \
             goes to another node, or waits."
        ),
        ClusterWhy::VmBelowVolumes { vm, claims, lowered: rates } => {
            let (volumes, together) = match claims.len() {
                1 => ("volume", ""),
                _ => ("volumes", " together"),
            };
            let each = |of: fn(&Lowered) -> &LoweredRate| {
                let texts = rates.iter().map(|one| lowered(one.counted, one.direction, of(one)));
                listed(&texts.collect::<Vec<_>>())
            };
            format!(
                "The VM is the limit, not the {volumes}: {} could reach {}{together}, but {vm} \
                 allows {}.",
                listed(claims),
                each(|one| &one.own),
                each(|one| &one.left)
            )
        }
    }
}

fn waiting(databases: &[String]) -> String {
    match databases.len() {
        0 => "Programs that sync small writes, such as databases, wait for each write".to_owned(),
        1 => format!(
            "Judging by its name, {} belongs to a program that waits for each write",
            databases[0]
        ),
        _ => format!(
            "Judging by their names, {} belong to programs that wait for each write",
            listed(databases)
        ),
    }
}
