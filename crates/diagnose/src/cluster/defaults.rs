//! Which class claims get that name none.

use iotax_quantity::list;
use iotax_record::cluster::{ClassSeen, ClusterSeen};

use super::found::{Found, Of};
use crate::machine::{Certainty, Finding, Observation};

const ANNOTATION: &str = "annotation is-default-class";

pub(super) fn find(seen: &ClusterSeen) -> Found {
    if !seen.knows_classes || seen.classes.is_empty() {
        return Vec::new();
    }
    let defaults = seen.defaults();
    let finding = match defaults.as_slice() {
        [] => none(seen),
        [_] => return Vec::new(),
        several => too_many(several),
    };
    vec![(Of::Cluster, finding)]
}

fn none(seen: &ClusterSeen) -> Finding {
    let waiting: Vec<_> = seen
        .claims
        .iter()
        .filter(|claim| claim.class.is_none() && claim.volume.is_none())
        .collect();
    let names: Vec<_> = seen.classes.iter().map(|class| class.name.as_str()).collect();
    let (certainty, why) = if waiting.is_empty() {
        let why = "A claim that names no class stays pending, or gets a volume that somebody made.";
        (Certainty::ToBeTested, why.to_owned())
    } else {
        let count = iotax_quantity::count(waiting.len() as u64, "claim");
        (
            Certainty::Snapshot,
            format!("{count} without a class and without a volume: no volume is made."),
        )
    };
    let value = format!("on none of {}", list(&names));
    let mut finding = Finding::new("no-default-class", "cluster", certainty, why)
        .observed(Observation::field("storageclasses", ANNOTATION, value));
    let of_claim = |claim: &&iotax_record::cluster::ClaimSeen| {
        Observation::field(format!("claim {}", claim.full_name()), "status", claim.phase.clone())
    };
    finding.seen.extend(waiting.iter().take(3).map(of_claim));
    finding
}

fn too_many(several: &[&ClassSeen]) -> Finding {
    let newest = several.iter().max_by(|a, b| a.created.cmp(&b.created).then(b.name.cmp(&a.name)));
    let names: Vec<_> = several.iter().map(|class| class.name.as_str()).collect();
    let newest = newest.map(|class| class.name.as_str()).unwrap_or_default();
    let why = format!(
        "Claims that name no class get volumes of {newest}, the newest of {}, not of what was the \
         default before.",
        list(&names)
    );
    let arms: Vec<_> = several
        .iter()
        .enumerate()
        .map(|(at, class)| format!("c{}=class:{}", at + 1, class.name))
        .collect();
    let mut finding = Finding::new("several-default-classes", "cluster", Certainty::Snapshot, why)
        .command(format!("iotax kube compare -w randread-4k {}", arms.join(" ")));
    finding.seen.extend(several.iter().map(|class| {
        let made = if class.created.is_empty() {
            String::new()
        } else {
            format!(", made {}", class.created)
        };
        Observation::field(
            format!("storageclass {}", class.name),
            ANNOTATION,
            format!("true{made}"),
        )
    }));
    finding
}
