use iotax_record::Site;

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;

/// Arms on different storage: placement alone may explain a difference (with one volume per arm
/// and a spread of 5 % between volumes, 58 % false verdicts in simulation).
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let Some(base) = evidence.site(0) else { return Vec::new() };
    let others = evidence.names.iter().enumerate().skip(1);
    others
        .filter_map(|(arm, name)| Some((name, evidence.site(arm)?)))
        .filter(|(_, site)| differs(base, site))
        .map(|(name, site)| Warning {
            check: Check::DifferentStorage,
            arm: Some(name.clone()),
            message: format!(
                "{} lies on {}, {name} on {}: the difference is between these two things, not \
                 between the settings",
                evidence.names[0],
                place(base),
                place(site)
            ),
            advice: "Put all arms on the same volume, or swap the volumes and measure again: what \
                     follows the volume is the volume's."
                .to_owned(),
            trials: 0,
        })
        .collect()
}

/// Two places on one device are the same storage, and so is memory everywhere.
fn differs(a: &Site, b: &Site) -> bool {
    let in_memory = |site: &Site| site.kind == "vdisk" && site.file_system.is_none();
    match (&a.device, &b.device) {
        (Some(a), Some(b)) => a != b,
        _ => a.storage_id != b.storage_id && !(in_memory(a) && in_memory(b)),
    }
}

fn place(site: &Site) -> String {
    let device = site.device.as_deref();
    match (device, site.file_system.as_deref()) {
        (Some(device), Some(system)) => format!("{device} ({system})"),
        (Some(device), None) => device.to_owned(),
        (None, Some(system)) => format!("{} ({system})", site.target),
        (None, None) if site.kind == "vdisk" => "memory".to_owned(),
        (None, None) => site.target.clone(),
    }
}
