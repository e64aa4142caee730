use iotax_experiment::Subject;
use iotax_record::{NamedSite, Site};

use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Targets of one trial on one device share its caps: what they do together is not what each of them
/// does alone.
pub(super) fn check_targets(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let arms = evidence.names.iter().enumerate();
    let sites = arms.filter_map(|(arm, name)| Some((name, &evidence.site(arm)?.targets)));
    let of_arm = |(arm, targets): (&String, &Vec<NamedSite>)| {
        let mut found = Vec::new();
        for (at, a) in targets.iter().enumerate() {
            for b in &targets[at + 1..] {
                if a.site.device.is_some() && !differs(&a.site, &b.site) {
                    let targets = [a.name.clone(), b.name.clone()];
                    let kind = DoubtKind::SharedStorage { targets };
                    found.push(Doubt::about(Subject::Arm(arm.clone()), kind, 0));
                }
            }
        }
        found
    };
    sites.flat_map(of_arm).collect()
}

/// Arms on different storage: placement alone may explain a difference (with one volume per arm
/// and a spread of 5 % between volumes, 58 % false verdicts in simulation).
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let Some(base) = evidence.site(0) else { return Vec::new() };
    let others = evidence.names.iter().enumerate().skip(1);
    others
        .filter(|(arm, _)| evidence.site(*arm).is_some_and(|site| differs(base, site)))
        .map(|(_, name)| Doubt::about(Subject::Arm(name.clone()), DoubtKind::DifferentStorage, 0))
        .collect()
}

/// Two places on one device are the same storage, and so is memory everywhere.
fn differs(a: &Site, b: &Site) -> bool {
    if !a.targets.is_empty() && a.targets.len() == b.targets.len() {
        let mut pairs = a.targets.iter().zip(&b.targets);
        return pairs.any(|(a, b)| differs(&a.site, &b.site));
    }
    let in_memory = |site: &Site| site.kind == "vdisk" && site.file_system.is_none();
    match (&a.device, &b.device) {
        (Some(a), Some(b)) => a != b,
        _ => a.storage_id != b.storage_id && !(in_memory(a) && in_memory(b)),
    }
}
