//! Known limits, and how measured caps compare with them.

use iotax_experiment::DiskRole;
use iotax_experiment::documented::{Documented, DocumentedLimit, RoleNote, Standing};
use iotax_quantity::{percent, times};

/// `disk limit of P10`
pub fn name(limit: &DocumentedLimit) -> String {
    format!("{} limit of {}", limit.by, limit.of)
}

/// The source of a limit: `P10: a page, as of 2026-01-01`.
pub fn source(limit: &DocumentedLimit) -> String {
    match &limit.source {
        Some(source) => format!("{}: {}, as of {}", limit.of, source.text, source.as_of),
        None => format!("{}: {READ_HERE}", limit.of),
    }
}

/// The source of a limit that was read from this machine.
pub const READ_HERE: &str = "this machine";

/// The targets of a row: `a and b together`.
pub fn targets(row: &Documented) -> String {
    match row.targets.as_slice() {
        [one] => one.clone(),
        several => format!("{} together", several.join(" and ")),
    }
}

/// How a measured cap compares with the limits.
pub fn standing(row: &Documented) -> String {
    let (Some(measured), Some(standing)) = (row.measured, row.standing()) else {
        return "not measured, so not compared with the limits.".to_owned();
    };
    let named = |at: usize| name(&row.limits[at]);
    let share_of = |at: usize| share_of(measured / row.limits[at].per_s);
    match standing {
        Standing::Binds(at) => match (row.limits[at].per_s / measured - 1.0).abs() {
            off if off < 0.005 => format!("exactly at the {}.", named(at)),
            off => format!("at the {} ({} off).", named(at), percent(off)),
        },
        Standing::AtBurst(at) => {
            format!("at the burst rate of the {}; --burst measures the sustained rate.", named(at))
        }
        Standing::Below(at) => format!(
            "{} the {}, the lowest known limit: a lower, unknown limit applies.",
            share_of(at),
            named(at)
        ),
        Standing::Above(at) => format!(
            "{} the {}, the lowest known limit: the rate comes from a burst or a cache, or the \
             wrong VM or disk was named.",
            share_of(at),
            named(at)
        ),
    }
}

/// `60 % of`, `18x`
fn share_of(share: f64) -> String {
    if share < 2.0 { format!("{} of", percent(share)) } else { times(share) }
}

/// A note about the disk that a target is on.
pub fn role(note: &RoleNote) -> String {
    let RoleNote { target, role, has_limits } = note;
    let on_host = |disk: &str| {
        let compared = if *has_limits {
            "iotax compares the disk with the VM's limits for local storage, not with those for \
             attached disks"
        } else {
            "the VM's limits for attached disks do not apply, and no limits for local storage are \
             documented"
        };
        format!("{target} is on {disk}, which is local to the host: {compared}.")
    };
    match role {
        DiskRole::Data => format!("{target} is on a data disk."),
        DiskRole::Os => format!(
            "{target} is on the VM's OS disk, which shares the VM's limits with the data disks. \
             The disk's own limits are unknown; specify the disk type with --disk."
        ),
        DiskRole::EphemeralOs => on_host("the VM's ephemeral OS disk"),
        DiskRole::Temporary => on_host("a temporary disk"),
    }
}

#[cfg(test)]
mod tests {
    use iotax_catalog::Scope;
    use iotax_experiment::documented::LimitBy;

    use super::*;

    #[test]
    fn a_cap_is_told_beside_the_limit_that_is_nearest() {
        let limit = |scope, per_s, burst_per_s| DocumentedLimit {
            by: LimitBy::Documented(scope),
            of: "X".to_owned(),
            per_s,
            burst_per_s,
            source: None,
        };
        let limits =
            vec![limit(Scope::Disk, 500.0, Some(3_500.0)), limit(Scope::VmCached, 4_000.0, None)];
        let said = [498.0, 515.0, 3_480.0, 4_090.0, 300.0, 9_000.0]
            .map(|x| standing(&Documented::of("a", "iops", x, limits.clone()).unwrap()));
        insta::assert_snapshot!(said.join("\n"), @"
        exactly at the disk limit of X.
        at the disk limit of X (2.9 % off).
        at the burst rate of the disk limit of X; --burst measures the sustained rate.
        at the VM cached limit of X (2.2 % off).
        60 % of the disk limit of X, the lowest known limit: a lower, unknown limit applies.
        18x the disk limit of X, the lowest known limit: the rate comes from a burst or a cache, or the wrong VM or disk was named.
        ");
    }

    #[test]
    fn what_is_no_data_disk_is_told() {
        let notes = [
            role_note(DiskRole::Os, true),
            role_note(DiskRole::EphemeralOs, true),
            role_note(DiskRole::Temporary, false),
        ];
        insta::assert_snapshot!(notes.join("\n"), @"
        /srv is on the VM's OS disk, which shares the VM's limits with the data disks. The disk's own limits are unknown; specify the disk type with --disk.
        /srv is on the VM's ephemeral OS disk, which is local to the host: iotax compares the disk with the VM's limits for local storage, not with those for attached disks.
        /srv is on a temporary disk, which is local to the host: the VM's limits for attached disks do not apply, and no limits for local storage are documented.
        ");
    }

    fn role_note(of: DiskRole, has_limits: bool) -> String {
        role(&RoleNote { target: "/srv".to_owned(), role: of, has_limits })
    }
}
