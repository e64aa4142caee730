use iotax_diagnose::why::cluster::{ClusterWhy, Lowered, MountCost};
use iotax_diagnose::{Component, ComponentKind, LoweredRate};
use iotax_quantity::{count, size};

use super::limit::{disk_limits, for_how_long, lowered};
use super::names::{listed, names};

pub(super) fn why(why: &ClusterWhy, about: &[Component]) -> String {
    let of = names(about);
    match why {
        ClusterWhy::Immediate { zones } => format!(
            "A volume of {of} is made in one of {zones} zones before its pod has a node: the pod \
             has to follow it there, or waits."
        ),
        ClusterWhy::OnNode => format!(
            "Volumes of {of} are directories of their node: they share its disk with images, logs \
             and each other, and nothing holds them to their size or to a rate."
        ),
        ClusterWhy::OfServer { databases } => format!(
            "Volumes of {of} are directories of a file server: each open, stat and sync is a round \
             trip; {}.",
            waiting(databases)
        ),
        ClusterWhy::Encrypts => format!(
            "Each I/O to a volume of {of} passes dm-crypt on the node that uses it, on that node's \
             CPUs."
        ),
        ClusterWhy::SmallReadAhead => format!(
            "The driver sets a read-ahead of 8 KiB on disks of {of}: buffered sequential reads are \
             small."
        ),
        ClusterWhy::NoDefault { waiting: 0 } => {
            "A claim that names no class stays pending, or gets a volume that somebody made."
                .to_owned()
        }
        ClusterWhy::NoDefault { waiting } => format!(
            "{} without a class and without a volume: no volume is made.",
            count(*waiting as u64, "claim")
        ),
        ClusterWhy::SeveralDefaults { newest, classes } => format!(
            "Claims that name no class get volumes of {newest}, the newest of {}, not of what was \
             the default before.",
            listed(classes)
        ),
        ClusterWhy::Limit { gib, disk } => {
            format!(
                "A volume of {} of {of} has {}, whatever is below.",
                size(gib << 30),
                disk_limits(disk)
            )
        }
        ClusterWhy::Burst { gib, burst } => {
            let lasts = for_how_long(burst.lasts_s);
            format!(
                "A volume of {} of {of} has its burst for {lasts}, then what its size gives it: a \
                 short benchmark measures the burst.",
                size(gib << 30)
            )
        }
        ClusterWhy::Mounted { option, costs } => {
            let is_class = about.iter().any(|one| one.kind == ComponentKind::Class);
            let volumes =
                if is_class { format!("Volumes of {of} are") } else { format!("{of} is") };
            let costs = match costs {
                MountCost::Sync => "every write waits for the disk",
                MountCost::Discard => "deletes send discards at once",
                MountCost::AccessTime => "each read writes a time",
                MountCost::Attributes => "each look at a file asks the server",
            };
            format!("{volumes} mounted with {option}: {costs}.")
        }
        ClusterWhy::Encrypted { plugin, by } => format!(
            "{plugin} encrypts what goes from pod to pod on another node with {by}: storage that \
             is served by pods pays for it, disks of the cloud do not."
        ),
        ClusterWhy::Trouble { conditions } => format!(
            "{of} says {}: what runs there competes with what the kubelet does about it, and may \
             be ended.",
            listed(conditions)
        ),
        ClusterWhy::Cordoned => format!(
            "New pods are kept off {of}: its pods go elsewhere when they end, and volumes that \
             only it has stay behind."
        ),
        ClusterWhy::FullOfVolumes { driver } => format!(
            "{of} has all the volumes of {driver} that it may have: the next pod that needs one \
             goes elsewhere, or waits."
        ),
        ClusterWhy::VmBelowVolumes { vm, claims, lowered: rates } => {
            let (volumes, together) = match claims.len() {
                1 => ("volume is", ""),
                _ => ("volumes are", " together"),
            };
            let each = |of: fn(&Lowered) -> &LoweredRate| {
                let texts = rates.iter().map(|one| lowered(one.counted, one.direction, of(one)));
                listed(&texts.collect::<Vec<_>>())
            };
            format!(
                "The {volumes} not what limits here: {} may do {}{together}, {vm} leaves {}.",
                listed(claims),
                each(|one| &one.own),
                each(|one| &one.left)
            )
        }
    }
}

fn waiting(databases: &[String]) -> String {
    match databases.len() {
        0 => "programs that sync small writes, such as databases, wait for it".to_owned(),
        1 => format!("{} is named like programs that wait for it", databases[0]),
        _ => format!("{} are named like programs that wait for it", listed(databases)),
    }
}
