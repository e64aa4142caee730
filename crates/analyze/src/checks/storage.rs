use iotax_record::Site;

use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Targets of one trial on one device share its caps: what they do together is not what each of
/// them does alone.
pub(super) fn check_targets(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let mut found = Vec::new();
    for arm in 0..evidence.names.len() {
        let targets = evidence.site(arm).map_or(&[][..], |site| &site.targets);
        for (at, a) in targets.iter().enumerate() {
            for b in &targets[at + 1..] {
                if a.site.device.is_some() && !differs(&a.site, &b.site) {
                    let targets = [a.name.clone(), b.name.clone()];
                    let kind = DoubtKind::SharedStorage { targets };
                    found.push(Doubt::about(evidence.subject(arm), kind, 0));
                }
            }
        }
    }
    found
}

/// Arms on different storage: placement alone may explain a difference (with one volume per arm
/// and a spread of 5 % between volumes, 58 % false verdicts in simulation).
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let Some(base) = evidence.site(0) else { return Vec::new() };
    (1..evidence.names.len())
        .filter(|arm| evidence.site(*arm).is_some_and(|site| differs(base, site)))
        .map(|arm| Doubt::about(evidence.subject(arm), DoubtKind::DifferentStorage, 0))
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
