//! Limits that are known, and what is measured beside them.

use iotax_experiment::DiskRole;
use iotax_experiment::documented::{Documented, DocumentedLimit, RoleNote, Standing};
use iotax_quantity::{percent, times};

/// `disk limit of P10`
pub fn name(limit: &DocumentedLimit) -> String {
    format!("{} limit of {}", limit.by, limit.of)
}

/// `P10: a page, as of 2026-01-01`: where it was read.
pub fn source(limit: &DocumentedLimit) -> String {
    match &limit.source {
        Some(source) => format!("{}: {}, as of {}", limit.of, source.text, source.as_of),
        None => format!("{}: {READ_HERE}", limit.of),
    }
}

/// The source of what was not documented but read.
pub const READ_HERE: &str = "this machine";

/// `a and b together`: what the row is of.
pub fn targets(row: &Documented) -> String {
    match row.targets.as_slice() {
        [one] => one.clone(),
        several => format!("{} together", several.join(" and ")),
    }
}

/// What a measured cap is, beside the limits.
pub fn standing(row: &Documented) -> String {
    let (Some(measured), Some(standing)) = (row.measured, row.standing()) else {
        return "not measured, so not held against the limits.".to_owned();
    };
    let named = |at: usize| name(&row.limits[at]);
    let share = |at: usize| share(measured / row.limits[at].per_s);
    match standing {
        Standing::Binds(at) => match (row.limits[at].per_s / measured - 1.0).abs() {
            off if off < 0.005 => format!("the {} binds, to the point.", named(at)),
            off => format!("the {} binds ({} off).", named(at), self::share(off)),
        },
        Standing::AtBurst(at) => {
            format!("this is the burst rate of the {}; --burst shows what lasts.", named(at))
        }
        Standing::Below(at) => format!(
            "{} of the {}, the least that is known: something that is not known here binds \
             before it.",
            share(at),
            named(at)
        ),
        Standing::Above(at) => format!(
            "{} the {}, the least that is known: a burst, a cache, or another VM or disk than \
             named.",
            share(at),
            named(at)
        ),
    }
}

fn share(share: f64) -> String {
    if share < 2.0 { percent(share) } else { times(share) }
}

/// What is to be known of a target that is no data disk.
pub fn role(note: &RoleNote) -> String {
    let RoleNote { target, role, has_limits } = note;
    let on_host = |disk: &str| {
        let compared = if *has_limits {
            "it is compared with the VM's limits of local storage, not with those of attached disks"
        } else {
            "the VM's limits of attached disks do not hold for it, and none of local storage are \
             documented"
        };
        format!("{target} lies on {disk}, which is on the host: {compared}.")
    };
    match role {
        DiskRole::Data => format!("{target} lies on a data disk."),
        DiskRole::Os => format!(
            "{target} lies on the VM's OS disk, which shares the VM's limits with the data disks; \
             its own are not known: --disk names its kind."
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
        the disk limit of X binds, to the point.
        the disk limit of X binds (2.9 % off).
        this is the burst rate of the disk limit of X; --burst shows what lasts.
        the VM cached limit of X binds (2.2 % off).
        60 % of the disk limit of X, the least that is known: something that is not known here binds before it.
        18x the disk limit of X, the least that is known: a burst, a cache, or another VM or disk than named.
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
        /srv lies on the VM's OS disk, which shares the VM's limits with the data disks; its own are not known: --disk names its kind.
        /srv lies on the VM's ephemeral OS disk, which is on the host: it is compared with the VM's limits of local storage, not with those of attached disks.
        /srv lies on a temporary disk, which is on the host: the VM's limits of attached disks do not hold for it, and none of local storage are documented.
        ");
    }

    fn role_note(of: DiskRole, has_limits: bool) -> String {
        role(&RoleNote { target: "/srv".to_owned(), role: of, has_limits })
    }
}
