//! Caps beside the limits that are known of their targets.

use iotax_catalog::Direction;
use iotax_experiment::documented::{
    Documented, DocumentedLimit, Named, QUANTITIES, Quantity, named,
};
use iotax_experiment::{KnownLimit, Opened, Search};

use crate::found::{Cap, CapKind, CapNote, Caps, PathCap, TargetCaps};
use crate::reason::CapSign;

/// So near to a limit, what could be anything is a throttle.
const IS_IT: f64 = 0.02;

/// Fills in [`Caps::documented`], and calls a throttle what sits on one of the limits.
pub(crate) fn compare(search: &Search, opened: &Opened, caps: &mut Caps) {
    // An unknown name is refused before anything is measured.
    let named = named(&opened.cloud, search.targets.len()).unwrap_or_default();
    let direction = if search.writes { Direction::Write } else { Direction::Read };
    for (at, (asked, found)) in search.targets.iter().zip(&mut caps.targets).enumerate() {
        let target = &asked.arm.target;
        let known = opened.targets.get(at).map_or(&[][..], |target| &target.known);
        if target.is_network() {
            let of_cap = |cap| of_path(&found.name, cap, &named, known);
            caps.documented.extend(found.path.iter_mut().filter_map(of_cap));
            continue;
        }
        let documented = named.limits(at, target, direction);
        caps.notes.extend(named.note(at, target, &found.name).map(CapNote::Role));
        for quantity in QUANTITIES {
            let read_here = known.iter().filter_map(|limit| quantity.read_here(limit));
            let of_catalogue = documented.iter().filter_map(|limit| quantity.documented(limit));
            let limits = read_here.chain(of_catalogue).collect();
            caps.documented.extend(one(found, quantity, limits));
        }
    }
}

fn one(
    found: &mut TargetCaps,
    quantity: Quantity,
    limits: Vec<DocumentedLimit>,
) -> Option<Documented> {
    let cap = match quantity.name {
        "iops" => found.iops.as_mut(),
        _ => found.bw_bytes.as_mut(),
    };
    let unreached = found.unreached.iter().find(|cap| cap.quantity == quantity.name);
    let at_least = unreached.map(|unreached| unreached.at_least);
    let measured = cap.as_ref().map(|cap| cap.cap).or(at_least);
    let row = Documented::of(&found.name, quantity.name, measured, limits)?;
    if let (Some(cap), Some(measured)) = (cap, measured) {
        is_it(cap, &row, measured);
    }
    Some(row)
}

/// A VM's limits count frames, or so it is taken: headers are theirs, too. Shapers do, and those on
/// the way hold all flows together.
fn of_path(
    target: &str,
    path: &mut PathCap,
    named: &Named,
    known: &[KnownLimit],
) -> Option<Documented> {
    let wire = path.wire?;
    let direction = if path.traffic.is_back { Direction::Read } else { Direction::Write };
    let holds = |limit: &&KnownLimit| {
        !path.is_per_flow && limit.direction.is_none_or(|counted| counted.counts(direction))
    };
    let here = known.iter().filter(holds).filter_map(|limit| QUANTITIES[1].read_here(limit));
    let limits = here.chain(named.network(direction, path.is_per_flow)).collect();
    let row = Documented::of(target, path.name(), wire.per_s, limits)?;
    is_it(&mut path.cap, &row, wire.per_s);
    Some(row)
}

/// What is as much as a limit that binds, and could be anything, is that limit.
fn is_it(cap: &mut Cap, row: &Documented, measured: f64) {
    if cap.kind == CapKind::External
        && let Some(limit) = row.binding()
        && (measured / limit.per_s - 1.0).abs() <= IS_IT
    {
        cap.kind = CapKind::Throttle;
        let (by, of) = (limit.by.clone(), limit.of.clone());
        cap.reason = CapSign::Limit { by, of }.into();
    }
}

#[cfg(test)]
mod tests {
    use iotax_catalog::Scope;
    use iotax_experiment::documented::LimitBy;
    use iotax_experiment::{Arm, CloudChoice, OpenedTarget, SearchDraft, SearchTarget, Target};

    use super::*;

    fn search(vm: Option<&str>, disk: Option<&str>, known: Vec<KnownLimit>) -> (Search, Opened) {
        let target =
            SearchTarget { arm: Arm::new("a", Target::Path("/a".into())), span_bytes: 1 << 30 };
        let cloud = CloudChoice {
            vm: vm.map(str::to_owned),
            disks: disk.into_iter().map(str::to_owned).collect(),
            ..CloudChoice::default()
        };
        let search = SearchDraft {
            targets: vec![target],
            writes: false,
            quick: true,
            max_time_ns: None,
            burst: None,
            cloud: cloud.clone(),
            fail_if: Vec::new(),
            undecided: None,
            seed: 1,
        }
        .resolve()
        .unwrap();
        let found = OpenedTarget { smallest_io_bytes: None, known };
        (search, Opened { cloud, targets: vec![found] })
    }

    fn cgroup(of: &str, iops: f64) -> KnownLimit {
        let (by, of) = (LimitBy::Cgroup, of.to_owned());
        KnownLimit { by, of, direction: None, iops: Some(iops), bw_bytes: None }
    }

    /// The limit that holds a target which reaches `iops`, and what is said to set its cap.
    fn concluded(
        iops: f64,
        (search, opened): &(Search, Opened),
    ) -> (Vec<(LimitBy, String)>, CapKind, CapSign) {
        let mut caps = Caps::of(search);
        caps.targets[0].iops = Some(Cap {
            cap: iops,
            lo: iops,
            hi: iops,
            measurements: 3,
            block_bytes: 4096,
            queue_depth: 64,
            kind: CapKind::External,
            reason: CapSign::SizesUnmeasured.into(),
            burst: None,
        });
        compare(search, opened, &mut caps);
        let binding = caps.documented.iter().filter_map(Documented::binding);
        let binding = binding.map(|limit| (limit.by.clone(), limit.of.clone())).collect();
        let cap = caps.targets[0].iops.take().unwrap();
        (binding, cap.kind, cap.reason.sign)
    }

    fn held(by: LimitBy, of: &str) -> (Vec<(LimitBy, String)>, CapKind, CapSign) {
        let of = of.to_owned();
        (vec![(by.clone(), of.clone())], CapKind::Throttle, CapSign::Limit { by, of })
    }

    #[test]
    fn what_is_known_of_a_target_is_told_without_a_measured_cap() {
        let (search, opened) = search(None, Some("P10"), vec![cgroup("/box", 300.0)]);
        let mut caps = Caps::of(&search);
        compare(&search, &opened, &mut caps);
        let row = |row: &Documented| {
            assert_eq!((row.measured, row.standing()), (None, None));
            (row.quantity.clone(), row.limits.len())
        };
        let rows: Vec<_> = caps.documented.iter().map(row).collect();
        assert_eq!(rows, [("iops".to_owned(), 2), ("bw_bytes".to_owned(), 1)]);
    }

    #[test]
    fn a_limit_of_this_machine_binds_like_a_documented_one() {
        let known = vec![cgroup("/box", 300.0), cgroup("/", 9_000.0)];
        let by_group = concluded(299.0, &search(None, None, known.clone()));
        assert_eq!(by_group, held(LimitBy::Cgroup, "/box"));
        let by_disk = concluded(499.0, &search(None, Some("P10"), known));
        assert_eq!(by_disk, held(LimitBy::Documented(Scope::Disk), "P10"));
        let unlimited = concluded(300.0, &search(None, None, Vec::new()));
        assert_eq!(unlimited, (Vec::new(), CapKind::External, CapSign::SizesUnmeasured));
    }

    #[test]
    fn a_vm_without_named_disks_is_compared_by_its_own_limits() {
        let azure = concluded(3_198.0, &search(Some("Standard_DS1_v2"), None, Vec::new()));
        assert_eq!(azure, held(LimitBy::Documented(Scope::VmUncached), "Standard_DS1_v2"));
        let google = concluded(15_000.0, &search(Some("n2-standard-8"), None, Vec::new()));
        let of = "n2-standard-8 for pd-balanced";
        assert_eq!(google, held(LimitBy::Documented(Scope::Instance), of));
    }
}
